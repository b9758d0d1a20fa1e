"""Vectorizers on disk: one safetensors file, with kernels as text in a JSON header. No code is ever loaded."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from espalier.corpus.array_files import Arrays, load_arrays, save_arrays
from espalier.errors import InputError
from espalier.fragments.dictionary import FragmentDictionary
from espalier.fragments.partial import PartialDictionary
from espalier.fragments.terms import Term
from espalier.fragments.vectorizer import FragmentVectorizer, TermFeatures
from espalier.kernels.expressions import parse_kernel
from espalier.kernels.partial_tree import PartialTree
from espalier.kernels.tree_plan import TreeKernel

FORMAT = "espalier.fragments"
VERSION = 1
KINDS: dict[str, tuple[type[Any], dict[str, type[Any]]]] = {
    "subset": (
        FragmentDictionary,
        {"production_start": np.int64, "production_part": np.int32, "start": np.int64, "code": np.int32},
    ),
    "partial": (PartialDictionary, {"start": np.int64, "code": np.int32}),
}


def save_vectorizer(vectorizer: FragmentVectorizer, path: str | Path) -> None:
    """Write the fragments of each tree kernel, and how they are counted."""
    arrays: Arrays = {}
    terms = []
    for k, own in enumerate(vectorizer.terms_):
        kind = "partial" if isinstance(own.fragments, PartialDictionary) else "subset"
        for name in KINDS[kind][1]:
            arrays[f"{k}.{name}"] = getattr(own.fragments, name)
        term = own.term
        terms.append(
            {
                "path": term.path,
                "kind": kind,
                "kernel": repr(term.kernel),
                "scale": term.scale,
                "norms": [repr(kernel) for kernel in term.norms],
                "labels": list(own.fragments.labels),
            }
        )
    header = {"format": FORMAT, "version": VERSION, "values": vectorizer.values, "terms": terms}
    save_arrays(path, arrays, header)


def load_vectorizer(path: str | Path) -> FragmentVectorizer:
    """Read a vectorizer; a file that is damaged, foreign or of another version is an error that says so."""
    arrays, header = load_arrays(path, "vectorizer", FORMAT, VERSION)
    try:
        values, terms = header["values"], header["terms"]
        found = [_term(path, arrays, k, entry) for k, entry in enumerate(terms)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is damaged: its header lacks or garbles {error}. Save it again.") from None
    vectorizer = FragmentVectorizer(values=values)
    vectorizer._check()
    vectorizer.terms_ = found
    vectorizer.mined_ = []
    return vectorizer


def _term(path: str | Path, arrays: Arrays, k: int, entry: dict[str, Any]) -> TermFeatures:
    kernel = parse_kernel(entry["kernel"], max_length=None)
    if not isinstance(kernel, TreeKernel):
        raise InputError(f"{path} is damaged: {kernel!r} is no kernel over trees. Save it again.")
    norms = tuple(parse_kernel(text, max_length=None) for text in entry["norms"])
    labels = entry["labels"]
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise InputError(f"{path} is damaged: it has no list of labels. Save it again.")
    kind = "partial" if isinstance(kernel, PartialTree) else "subset"
    dictionary, names = KINDS[kind]
    own = {name: arrays[f"{k}.{name}"] for name in names}
    check = _Checks(path, own, len(labels))
    check.arrays(names)
    check.partial() if kind == "partial" else check.subset()
    fragments = dictionary(labels, **own)
    return TermFeatures(Term(str(entry["path"]), kernel, float(entry["scale"]), norms), fragments, {})


class _Checks:
    """Every invariant that the compiled core trusts: a hostile file must not reach it."""

    def __init__(self, path: str | Path, arrays: Arrays, n_labels: int) -> None:
        self._path, self._arrays, self._n_labels = path, arrays, n_labels

    def _require(self, condition: Any, what: str) -> None:
        if not bool(condition):
            raise InputError(f"{self._path} is damaged: {what}. Save it again.")

    def arrays(self, kinds: dict[str, type[Any]]) -> None:
        """Vectors of the right numbers, cut into parts."""
        for name, kind in kinds.items():
            array = self._arrays[name]
            self._require(array.ndim == 1 and array.dtype == kind, f"{name!r} must be a vector of {kind.__name__}")
        for starts, entries in (("production_start", "production_part"), ("start", "code")):
            if starts in kinds:
                start, size = self._arrays[starts], len(self._arrays[entries])
                whole = len(start) > 0 and start[0] == 0 and start[-1] == size and (np.diff(start) > 0).all()
                self._require(whole, f"{starts!r} does not cut {entries!r} into parts")

    def subset(self) -> None:
        """Productions of listed labels, and fragments that decide on each of their nodes once."""
        part, start = self._arrays["production_part"].astype(np.int64), self._arrays["production_start"]
        is_head = np.zeros(len(part), bool)
        is_head[start[:-1]] = True
        alone = np.repeat(np.diff(start) == 1, np.diff(start))
        label = np.where(is_head, np.where(part < 0, -1 - part, part), part // 2)
        listed = (label >= 0) & (label < self._n_labels)
        self._require(listed.all(), "a production names a label that is not listed")
        self._require(((part < 0) == (is_head & alone)).all(), "a production has no children, or a negative number")
        code, begin = self._arrays["code"].astype(np.int64), self._arrays["start"]
        n_productions = len(start) - 1
        in_range = (code >= -1) & (code < n_productions)
        self._require(in_range.all(), "a fragment names a production that is not listed")
        keys = {tuple(part[a:b].tolist()) for a, b in pairwise(start.tolist())}
        self._require(len(keys) == n_productions, "a production is listed twice")
        if not len(code):
            return
        # How many nodes still need a decision: 0 after the last, more before.
        n_inner = np.add.reduceat(~is_head & (part % 2 == 0), start[:-1], dtype=np.int64)
        open_nodes = np.cumsum(np.where(code < 0, -1, n_inner[code] - 1))
        before = np.concatenate([[0], open_nodes[begin[1:-1] - 1]])
        open_nodes = 1 + open_nodes - np.repeat(before, np.diff(begin))
        is_last = np.zeros(len(code), bool)
        is_last[begin[1:] - 1] = True
        whole = ((open_nodes == 0) == is_last).all() and (code[begin[:-1]] >= 0).all()
        self._require(whole, "a fragment is cut off")

    def partial(self) -> None:
        """Nodes of listed labels, each at most one deeper than the one before, and no word above another node."""
        code, begin = self._arrays["code"], self._arrays["start"]
        self._require((begin % 2 == 0).all(), "a fragment is cut off")
        depth, symbol = code[::2].astype(np.int64), code[1::2].astype(np.int64)
        self._require(
            ((symbol >= 0) & (symbol < 2 * self._n_labels)).all(), "a fragment names a label that is not listed"
        )
        is_root = np.zeros(len(depth), bool)
        is_root[begin[:-1] // 2] = True
        step = np.diff(depth, prepend=0)
        above = np.concatenate([[0], symbol[:-1]])
        grown = (depth >= 1) & (step <= 1) & ~((step == 1) & (above % 2 == 1))
        self._require(np.where(is_root, depth == 0, grown).all(), "a fragment is no tree")
