"""``FragmentDictionary``: many fragments of subset trees in little space.

A fragment is written as decisions on its inner nodes, each before its children and from left to right: the number of
the production that expands the node, or -1 if it stays unexpanded. Productions are numbered once for all fragments,
labels once for all productions; the compiled core reads the same arrays. A production is its label, then for each child
twice its label, plus 1 for a word; a word that is a fragment by itself is -1 minus its label.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.corpus.forest import as_forest
from espalier.corpus.selection import ranges
from espalier.corpus.soundness import Require
from espalier.errors import InputError
from espalier.jobs.schedule import Schedule
from espalier.kept import kept
from espalier.spaces.codes import CLOSE, OPEN, UNEXPANDED, WORD, FragmentCodes, Integers, coded, distinct_codes
from espalier.spaces.tree_space import tree_counts
from espalier.structures.columns import refuse_masked
from espalier.structures.fragment import Fragment

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class FragmentDictionary(FragmentCodes):
    """Fragments of subset trees, numbered.

    Make one from fragments with :meth:`from_fragments`; mining and vectorizers make their own.

    Examples
    --------
    >>> dictionary = FragmentDictionary.from_fragments(["(NP (D the) (N))", "(D the)"])
    >>> len(dictionary), str(dictionary[0]), dictionary.names()
    (2, '(NP (D the) (N))', ['(NP (D the) (N))', '(D the)'])
    """

    production_start: NDArray[np.int64]
    production_part: NDArray[np.int32]
    _kinds: ClassVar = {"production_start": np.int64, "production_part": np.int32, **FragmentCodes._kinds}
    _cuts: ClassVar = {"production_start": "production_part", **FragmentCodes._cuts}

    @staticmethod
    def from_fragments(fragments: Iterable[Fragment | str]) -> FragmentDictionary:
        """Number fragments, or their brackets; one that is given twice is numbered twice."""
        numbers = _Productions()
        codes = coded(fragments, numbers.code)
        return FragmentDictionary._of(*numbers.arrays(), *codes)

    @classmethod
    def joined(cls, dictionaries: Sequence[Self]) -> tuple[Self, list[NDArray[np.int64]]]:
        """All fragments of several dictionaries, each once, and the numbers of those of each dictionary.

        Examples
        --------
        >>> a = FragmentDictionary.from_fragments(["(A a)", "(B b)"])
        >>> b = FragmentDictionary.from_fragments(["(C c)", "(A a)"])
        >>> both, places = FragmentDictionary.joined([a, b])
        >>> both.names(), [place.tolist() for place in places]
        (['(A a)', '(B b)', '(C c)'], [[0, 1], [2, 0]])
        """
        numbers = _Productions()
        codes = []
        for dictionary in dictionaries:
            label = [numbers.label(name) for name in dictionary.labels]
            number = np.empty(len(dictionary.production_start), np.int32)
            number[-1] = -1  # the entry that -1, an unexpanded node, selects
            for p, part in enumerate(dictionary._productions):
                head = -1 - label[-1 - part[0]] if part[0] < 0 else label[part[0]]
                number[p] = numbers.production((head, *(2 * label[child // 2] + child % 2 for child in part[1:])))
            codes.append(number[dictionary.code])
        start, code, places = distinct_codes([dictionary.start for dictionary in dictionaries], codes)
        return cls._of(*numbers.arrays(), start, code), places

    @property
    def n_productions(self) -> NDArray[np.int64]:
        """How many productions each fragment has."""
        total = np.concatenate([[0], np.cumsum(self._expands())])
        return np.asarray(total[self.start[1:]] - total[self.start[:-1]], np.int64)

    @property
    def depths(self) -> NDArray[np.int64]:
        """How deep each fragment is, in edges: one production has depth 1.

        Examples
        --------
        >>> FragmentDictionary.from_fragments(["(D the)", "(NP (D the) (N))", "(NP (D) (N))"]).depths
        array([1, 2, 1])
        """
        parents = self._parents()
        own = np.append(self._expands(), False).astype(np.int64)  # the last is above the roots
        depth = own
        while not np.array_equal(deeper := np.append(own[:-1] + depth[parents], 0), depth):
            depth = deeper
        return np.asarray(np.maximum.reduceat(depth, self.start[:-1]) if len(self) else self.start[:0], np.int64)

    def counts(self, trees: object, *, n_threads: int | None = None) -> csr_matrix:
        """Count each fragment in each tree: a sparse matrix with one row for each tree.

        Trees may have labels and productions that no fragment has. A subtree that many trees share is read once.

        Examples
        --------
        >>> dictionary = FragmentDictionary.from_fragments(["(N cat)", "(NP (D) (N))"])
        >>> dictionary.counts(["(S (NP (D the) (N cat)) (N cat))", "(V sat)"]).toarray()
        array([[2., 1.],
               [0., 0.]])
        """
        forest = as_forest(trees)
        label_of = self._labels_of(forest.vocabulary)
        start, fragment = self._trie.match(forest.arrays, label_of, Schedule.of(n_threads).n_threads, None)
        return tree_counts(forest, start, fragment, np.ones(len(fragment)), len(self))

    def weighed(self, trees: Any, weights: NDArray[np.float64], *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Return ``counts(trees) @ weights`` without the counts: each distinct subtree is weighed once.

        Examples
        --------
        >>> dictionary = FragmentDictionary.from_fragments(["(N cat)", "(NP (D) (N))"])
        >>> trees = ["(S (NP (D the) (N cat)) (N cat))", "(V sat)"]
        >>> dictionary.weighed(trees, np.array([[1.0, 0.0], [10.0, -1.0]]))
        array([[12., -1.],
               [ 0.,  0.]])
        """
        forest = as_forest(trees)
        refuse_masked(weights, "weights")
        weights = np.ascontiguousarray(weights, np.float64)
        if weights.ndim != 2 or len(weights) != len(self):
            raise ValueError(f"weights must have one row for each of {len(self):,} fragments, got {weights.shape}.")
        out = np.empty((len(forest), weights.shape[1]))
        label_of = self._labels_of(forest.vocabulary)
        self._trie.score(forest.arrays, label_of, weights, Schedule.of(n_threads).n_threads, None, out)
        return out

    @kept
    def _trie(self) -> Any:
        return _core.FragmentTrie(self.production_start, self.production_part, self.start, self.code)

    @kept
    def _values(self) -> dict[object, NDArray[np.float64]]:
        return {}  # by kernel: the value of one occurrence of each fragment, for the last kernel only

    def compact(self) -> Self:
        """Return the same fragments with only the labels and productions that they use."""
        used = np.unique(self.code[self.code >= 0])
        entries, start = ranges(self.production_start, used)
        part = self.production_part[entries]
        is_head = np.zeros(len(part), bool)
        is_head[start[:-1]] = True
        label = np.where(is_head, np.where(part < 0, -1 - part, part), part // 2)
        labels, number = np.unique(label, return_inverse=True)
        head = np.where(part < 0, -1 - number, number)
        part = np.where(is_head, head, 2 * number + part % 2)
        code = np.where(self.code < 0, -1, np.searchsorted(used, self.code))
        return self._of([self.labels[k] for k in labels], start, part, self.start, code)

    def _check(self, require: Require) -> None:
        """Check that productions have listed labels, and that fragments decide on each of their nodes once."""
        part, start = self.production_part.astype(np.int64), self.production_start
        is_head = np.zeros(len(part), bool)
        is_head[start[:-1]] = True
        alone = np.repeat(np.diff(start) == 1, np.diff(start))
        label = np.where(is_head, np.where(part < 0, -1 - part, part), part // 2)
        listed = (label >= 0) & (label < len(self.labels))
        require(listed.all(), "a production names a label that is not listed")
        require(((part < 0) == (is_head & alone)).all(), "a production has no children, or a negative number")
        code, begin = self.code.astype(np.int64), self.start
        n_productions = len(start) - 1
        in_range = (code >= -1) & (code < n_productions)
        require(in_range.all(), "a fragment names a production that is not listed")
        require(len(set(map(tuple, self._productions))) == n_productions, "a production is listed twice")
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
        require(whole, "a fragment is cut off")
        # Every node must be expanded by a production of its own label.
        parent = self._parents()
        below = np.flatnonzero(parent >= 0)
        # Children of one node come from left to right, so a stable sort leaves them in that order.
        below = below[np.argsort(parent[below], kind="stable")]
        parent = parent[below]
        place = np.arange(len(parent)) - np.searchsorted(parent, parent)
        inner = part[is_inner] // 2  # the labels of inner children, one production after the other
        expected = inner[(np.cumsum(n_inner) - n_inner)[code[parent]] + place]
        fit = (code[below] < 0) | (part[start[:-1]][code[below]] == expected)
        require(fit.all(), "a fragment expands a node by a production of another label")

    def _expands(self) -> NDArray[np.bool_]:
        """Which numbers of the code are productions, and neither unexpanded nodes nor words alone."""
        is_word = self.production_part[self.production_start[:-1]] < 0
        return np.asarray((self.code >= 0) & ~is_word[self.code])

    def _parents(self) -> Any:
        """For each number of the code, that of the node above; -1 for a root."""
        return _core.code_parents(self.production_start, self.production_part, self.start, self.code)

    @kept
    def _productions(self) -> list[list[int]]:
        bounds = self.production_start.tolist()
        part = self.production_part.tolist()
        return [part[a:b] for a, b in pairwise(bounds)]

    def _walk(self, row: int) -> Iterator[tuple[int, int]]:
        decisions = iter(self.code[self.start[row] : self.start[row + 1]].tolist())
        root = self._productions[int(self.code[self.start[row]])][0]
        todo = [2 * root if root >= 0 else 2 * (-1 - root) + 1]
        while todo:
            part = todo.pop()
            if part < 0:
                yield CLOSE, 0
            elif part % 2:
                yield WORD, part // 2
            elif (decision := next(decisions)) < 0:
                yield UNEXPANDED, part // 2
            else:
                yield OPEN, part // 2
                todo.append(-1)
                todo.extend(reversed(self._productions[decision][1:]))

    def __repr__(self) -> str:
        return f"<FragmentDictionary of {len(self):,} fragments over {len(self.production_start) - 1:,} productions>"


class _Productions:
    """Labels and productions, numbered as they come."""

    def __init__(self) -> None:
        self.labels: dict[str, int] = {}
        self.productions: dict[tuple[int, ...], int] = {}

    def code(self, given: Fragment | str) -> list[int]:
        """The decisions of a fragment, which may be given by its brackets."""
        fragment = Fragment.from_brackets(given) if isinstance(given, str) else given
        if fragment.tree.is_leaf:
            if fragment.unexpanded:
                raise InputError(f"A fragment must have a production or be a word; {fragment} is an unexpanded node.")
            return [self.production((-1 - self.label(fragment.tree.label),))]
        nodes = list(fragment.tree)
        leaves = [place for place, node in enumerate(nodes) if node.is_leaf]
        unexpanded = {leaves[k] for k in fragment.unexpanded}
        out: list[int] = []
        for place, node in enumerate(nodes):
            if node.is_leaf:
                if place in unexpanded:
                    out.append(-1)
                continue
            key, below = [self.label(node.label)], place + 1  # a node is listed before its children
            for child in node.children:
                key.append(2 * self.label(child.label) + (child.is_leaf and below not in unexpanded))
                below += child.size
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
