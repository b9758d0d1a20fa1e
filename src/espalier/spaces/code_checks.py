"""Checks of saved features before anything is made from them: a hostile file must not reach the compiled core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.corpus.soundness import Require

# The arrays of fragments as codes, and their number types.
PARTIAL_ARRAYS: dict[str, type[object]] = {"start": np.int64, "code": np.int32}
SUBSET_ARRAYS: dict[str, type[object]] = {"production_start": np.int64, "production_part": np.int32, **PARTIAL_ARRAYS}


class CodeChecks:
    """Every invariant of fragments as codes on which the compiled core relies; ``require`` raises if one is broken."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], labels: Sequence[object], require: Require) -> None:
        self._arrays, self._n_labels, self.require = arrays, len(labels), require
        require(all(isinstance(label, str) for label in labels), "it has no list of labels")
        require(len(set(labels)) == len(labels), "a label is listed twice")

    def arrays(self, kinds: Mapping[str, type[object]]) -> None:
        """Check that arrays are vectors of the right type, cut into parts."""
        for name, kind in kinds.items():
            array = self._arrays[name]
            self.require(array.ndim == 1 and array.dtype == kind, f"{name!r} must be a vector of {kind.__name__}")
        for starts, entries in (("production_start", "production_part"), ("start", "code")):
            if starts in kinds:
                start, size = self._arrays[starts], len(self._arrays[entries])
                # Compare, do not subtract: differences of large numbers wrap around.
                whole = len(start) > 0 and start[0] == 0 and start[-1] == size and (start[1:] > start[:-1]).all()
                self.require(whole, f"{starts!r} does not cut {entries!r} into parts")

    def symbols(self) -> None:
        """Check that codes are listed labels."""
        code = self._arrays["code"]
        self.require(((code >= 0) & (code < self._n_labels)).all(), "an n-gram names a symbol that is not listed")

    def subset(self) -> None:
        """Check that productions have listed labels, and that fragments decide on each of their nodes once."""
        part, start = self._arrays["production_part"].astype(np.int64), self._arrays["production_start"]
        is_head = np.zeros(len(part), bool)
        is_head[start[:-1]] = True
        alone = np.repeat(np.diff(start) == 1, np.diff(start))
        label = np.where(is_head, np.where(part < 0, -1 - part, part), part // 2)
        listed = (label >= 0) & (label < self._n_labels)
        self.require(listed.all(), "a production names a label that is not listed")
        self.require(((part < 0) == (is_head & alone)).all(), "a production has no children, or a negative number")
        code, begin = self._arrays["code"].astype(np.int64), self._arrays["start"]
        n_productions = len(start) - 1
        in_range = (code >= -1) & (code < n_productions)
        self.require(in_range.all(), "a fragment names a production that is not listed")
        keys = {tuple(part[a:b].tolist()) for a, b in pairwise(start.tolist())}
        self.require(len(keys) == n_productions, "a production is listed twice")
        if not len(code):
            return
        # How many nodes still need a decision: 0 after the last, more before.
        is_inner = ~is_head & (part % 2 == 0)
        n_inner = np.add.reduceat(is_inner, start[:-1], dtype=np.int64)
        open_nodes = np.cumsum(np.where(code < 0, -1, n_inner[code] - 1))
        before = np.concatenate([[0], open_nodes[begin[1:-1] - 1]])
        open_nodes = 1 + open_nodes - np.repeat(before, np.diff(begin))
        is_last = np.zeros(len(code), bool)
        is_last[begin[1:] - 1] = True
        whole = ((open_nodes == 0) == is_last).all() and (code[begin[:-1]] >= 0).all()
        self.require(whole, "a fragment is cut off")
        self._expanded(code, part[start[:-1]], n_inner, part[is_inner] // 2)

    def _expanded(self, code: Any, head: Any, n_inner: Any, inner: Any) -> None:
        """Check that every node is expanded by a production of its own label.

        ``head`` and ``n_inner`` are by production; ``inner`` are the labels of inner children, one production after
        the other.
        """
        names = ("production_start", "production_part", "start", "code")
        parent = _core.code_parents(*(self._arrays[name] for name in names))
        below = np.flatnonzero(parent >= 0)
        # Children of one node come from left to right, so a stable sort leaves them in that order.
        below = below[np.argsort(parent[below], kind="stable")]
        parent = parent[below]
        place = np.arange(len(parent)) - np.searchsorted(parent, parent)
        expected = inner[(np.cumsum(n_inner) - n_inner)[code[parent]] + place]
        fit = (code[below] < 0) | (head[code[below]] == expected)
        self.require(fit.all(), "a fragment expands a node by a production of another label")

    def partial(self) -> None:
        """Check that nodes have listed labels, and that each is at most one deeper than the one before."""
        code, begin = self._arrays["code"], self._arrays["start"]
        self.require((begin % 2 == 0).all(), "a fragment is cut off")
        depth, symbol = code[::2].astype(np.int64), code[1::2].astype(np.int64)
        listed = (symbol >= 0) & (symbol < self._n_labels)
        self.require(listed.all(), "a fragment names a label that is not listed")
        is_root = np.zeros(len(depth), bool)
        is_root[begin[:-1] // 2] = True
        grown = (depth >= 1) & (np.diff(depth, prepend=0) <= 1)
        self.require(np.where(is_root, depth == 0, grown).all(), "a fragment is not a tree")
