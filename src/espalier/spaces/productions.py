"""Numbers for labels and productions, so that fragments of subset trees become codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.structures.fragment import Fragment

Integers = NDArray[Any]


class Productions:
    """Labels and productions, numbered as they come."""

    def __init__(self) -> None:
        self.labels: dict[str, int] = {}
        self.productions: dict[tuple[int, ...], int] = {}

    def code(self, fragment: Fragment) -> list[int]:
        """The decisions of a fragment."""
        if fragment.tree.is_leaf:
            if fragment.unexpanded:
                raise InputError(f"A fragment must have a production or be a word; {fragment} is an unexpanded node.")
            return [self.production((-1 - self.label(fragment.tree.label),))]
        nodes = list(fragment.tree)
        n_leaves: dict[int, int] = {}  # below each node, by object
        for node in reversed(nodes):
            n_leaves[id(node)] = sum(n_leaves[id(child)] for child in node.children) if node.children else 1
        unexpanded, leaf = set(fragment.unexpanded), 0
        out: list[int] = []
        for node in nodes:
            if node.is_leaf:
                if leaf in unexpanded:
                    out.append(-1)
                leaf += 1
                continue
            key, below = [self.label(node.label)], leaf
            for child in node.children:
                key.append(2 * self.label(child.label) + (child.is_leaf and below not in unexpanded))
                below += n_leaves[id(child)]
            out.append(self.production(tuple(key)))
        return out

    def production(self, key: tuple[int, ...]) -> int:
        return self.productions.setdefault(key, len(self.productions))

    def arrays(self) -> tuple[list[str], Integers, Integers]:
        """Labels, and productions as arrays."""
        start = np.concatenate([[0], np.cumsum([len(key) for key in self.productions])])
        part = np.array([number for key in self.productions for number in key], np.int32)
        return list(self.labels), start, part

    def label(self, label: str) -> int:
        return self.labels.setdefault(label, len(self.labels))
