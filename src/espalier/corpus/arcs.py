"""``Arcs``: dependency trees as arcs with features, interned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.arc_order import bottom_up, previous_siblings
from espalier.corpus.interned import Corpus
from espalier.corpus.selection import Rows, chosen_rows, not_unicode, ranges
from espalier.corpus.soundness import FEATURE, check_arcs
from espalier.corpus.vocabulary import Vocabulary
from espalier.errors import InputError
from espalier.storage import Arrays
from espalier.structures.dependency import DependencyTree
from espalier.structures.interop import as_dependency_tree

# What of the head and what of the token a template tells; of "direction" and "distance" neither.
TEMPLATES: dict[str, tuple[str, ...]] = {
    "words": ("words", "words"),
    "tags": ("tags", "tags"),
    "head word, tag": ("words", "tags"),
    "head tag, word": ("tags", "words"),
    "relation": ("relations",),
    "direction": (),
    "distance": (),
}
OWN = "own"  # the features that a tree brings along for its arcs

_DIRECTIONS = ("left", "right")  # where the token stands, seen from its head
_FARTHEST = (1, 2, 3, 4, 5, 10)  # how far apart two words are: exactly up to 5, then by ranges
_DISTANCES = ("1", "2", "3", "4", "5", "6-10", "11-")


class Arcs(Corpus):
    """A corpus of dependency trees whose arcs have features: read-only, and cheap to select from.

    Make one with :meth:`from_trees`. A kernel makes its own if it is given plain trees.
    """

    __slots__ = ("templates",)

    templates: tuple[str, ...]

    _rows = "dependency trees"
    _refusal = ("corpus of dependency trees", "Make one with Arcs.from_trees.")
    _stored = ("start", "head", "feature_start", *FEATURE)
    _numbered = ("first", "second")
    _settings: ClassVar = {"templates": "templates"}
    _check = staticmethod(check_arcs)

    def __init__(self, arrays: Mapping[str, NDArray[Any]], vocabulary: Vocabulary, templates: Sequence[str]) -> None:
        self._take(arrays, vocabulary, templates)

    @classmethod
    def _checked_settings(cls, templates: Any) -> tuple[object, ...]:
        return (check_templates(templates),)

    @classmethod
    def _completed(cls, arrays: Arrays) -> Arrays:
        head, start = arrays["head"], arrays["start"]
        return arrays | {"previous": previous_siblings(head, start), "order": bottom_up(head, start)}

    @staticmethod
    def from_trees(trees: Iterable[object], templates: Sequence[str], *, vocabulary: Vocabulary | None = None) -> Arcs:
        """Intern dependency trees, or what converts to them, with these features of their arcs."""
        templates = check_templates(templates)
        is_one = isinstance(trees, str | bytes | DependencyTree)
        if is_one or not isinstance(trees, Iterable) or hasattr(trees, "tocsr"):
            raise TypeError(f"A corpus is a list of dependency trees, got {type(trees).__name__}.")
        vocabulary = Vocabulary() if vocabulary is None else vocabulary
        listed = []
        for row, item in enumerate(trees):
            try:
                listed.append(item if isinstance(item, DependencyTree) else as_dependency_tree(item))
            except (TypeError, InputError) as error:
                raise InputError(f"Row {row}: {error}") from None
        start = np.cumsum([0, *map(len, listed)], dtype=np.int64)
        heads = chain.from_iterable(tree.heads for tree in listed)
        head = np.fromiter(heads, np.int32, int(start[-1])) - np.int32(1)
        arrays: Arrays = {"start": start, "head": head, **_Features(listed, head, start, vocabulary).of(templates)}
        return Arcs._of(Arcs._completed(arrays), vocabulary, templates)

    @property
    def arrays(self) -> Arrays:
        """Trees and features by numbers, from which plans make what the compiled core reads.

        By tree its ``start`` among the tokens; by token its ``head`` and the ``previous`` child of that head in its
        tree, -1 if there is none, and where its features start; by tree all tokens in an ``order`` in which children
        come before heads and left before right. A feature is its ``template``, counted as the corpus lists them, and
        two texts, by their numbers in the vocabulary: the ``first`` of the head, -1 if there is none, the ``second``
        of the token.
        """
        return dict(self._arrays)

    def __getitem__(self, rows: int | Rows) -> Arcs:
        tokens, start = ranges(self._arrays["start"], chosen_rows(rows, len(self)))
        features, feature_start = ranges(self._arrays["feature_start"], tokens)
        arrays = {name: self._arrays[name][tokens] for name in ("head", "previous", "order")}
        arrays |= {name: self._arrays[name][features] for name in FEATURE}
        return self._like(arrays | {"start": start, "feature_start": feature_start})

    def __repr__(self) -> str:
        return f"<Arcs: {len(self):,} trees with {int(self._arrays['start'][-1]):,} words>"


def as_arcs(column: Any, templates: tuple[str, ...], vocabulary: Vocabulary | None = None) -> Arcs:
    """Return ``column`` itself if it is interned; otherwise intern it."""
    if not isinstance(column, Arcs):
        return Arcs.from_trees(column, templates, vocabulary=vocabulary)
    if column.templates != templates:
        raise InputError(f"These trees were interned with {column.templates!r}, not with {templates!r}.")
    return column


def check_templates(templates: object) -> tuple[str, ...]:
    """Return the templates, or refuse anything except a list of different ones."""
    if isinstance(templates, str) or not isinstance(templates, Iterable):
        raise TypeError(f"features must list templates, such as ('tags',), got {templates!r}.")
    listed = tuple(templates)
    known = [*TEMPLATES, OWN]
    for name in listed:
        if name not in known:
            raise ValueError(f"There is no template {name!r}; there are {', '.join(map(repr, known))}.")
    if not listed or len(set(listed)) < len(listed):
        raise ValueError(f"features must list one template or more, each once, got {templates!r}.")
    return listed


class _Features:
    """The features of all arcs of some trees, column by column."""

    def __init__(
        self, trees: list[DependencyTree], head: NDArray[np.int32], start: NDArray[np.int64], vocabulary: Vocabulary
    ) -> None:
        self._trees, self._start, self._vocabulary = trees, start, vocabulary
        self._columns: dict[str, NDArray[np.int32]] = {}
        self._n_tokens = len(head)
        # Of each arc: its token and its head, counted in the corpus.
        self._token = np.flatnonzero(head >= 0)
        self._head = (head + np.repeat(start[:-1], np.diff(start)))[self._token]

    def of(self, templates: tuple[str, ...]) -> Arrays:
        """The features arc by arc, those of one arc as the templates stand, and where those of each token start."""
        parts = [self._own() if name == OWN else self._told(name) for name in templates]
        arc = np.concatenate([part[0] for part in parts])
        order = np.argsort(arc, kind="stable")
        arrays: Arrays = {"template": np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])[order]}
        arrays["first"], arrays["second"] = (np.concatenate([part[k] for part in parts])[order] for k in (1, 2))
        counts = np.bincount(self._token[arc], minlength=self._n_tokens)
        start = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return {name: array.astype(np.int32) for name, array in arrays.items()} | {"feature_start": start}

    def _told(self, name: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return what a template says about every arc: the arc, and two texts."""
        arcs, none = np.arange(len(self._token)), np.full(len(self._token), -1)
        columns = [self._column(part) for part in TEMPLATES[name]]
        if columns:
            first = columns[0][self._head] if len(columns) == 2 else none
            return arcs, first, columns[-1][self._token]
        steps = self._head - self._token
        texts = _DIRECTIONS if name == "direction" else _DISTANCES
        which = steps < 0 if name == "direction" else np.searchsorted(_FARTHEST, np.abs(steps))
        number = np.array([self._vocabulary._native.add(text) for text in texts])
        return arcs, none, number[which.astype(np.int64)]

    def _own(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The arcs that have features of their own, each as often as it has different ones."""
        n_own, texts = list[int](), list[str]()
        for tree in self._trees:
            n_own += [0] * len(tree) if tree.features is None else map(len, tree.features)
            texts += chain.from_iterable(tree.features or ())
        token = np.repeat(np.arange(self._n_tokens), n_own)
        number, n = self._numbers(texts, token), len(self._vocabulary) + 1
        is_arc = np.isin(token, self._token)
        kept, second = np.divmod(np.unique(token[is_arc] * n + number[is_arc]), n)
        return np.searchsorted(self._token, kept), np.full(len(kept), -1), second

    def _column(self, name: str) -> NDArray[np.int32]:
        """By token the number of its word, tag or relation."""
        if name not in self._columns:
            texts = chain.from_iterable(getattr(tree, name) for tree in self._trees)
            self._columns[name] = self._numbers(texts, np.arange(self._n_tokens))
        return self._columns[name]

    def _numbers(self, texts: Iterable[str], token: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the numbers of the texts at these tokens; each different one is looked up once."""
        places: dict[str, int] = defaultdict(count().__next__)
        place = np.array(list(map(places.__getitem__, texts)), np.int64)
        known = np.empty(len(places), np.int32)
        for k, text in enumerate(places):
            try:
                known[k] = self._vocabulary._native.add(text)
            except UnicodeEncodeError:
                where = token[np.flatnonzero(place == k)[0]]
                raise InputError(not_unicode(int(np.searchsorted(self._start, where, side="right")) - 1)) from None
        return known[place]
