"""The features of the arcs of dependency trees: what templates say about them, for a whole corpus at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, count, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.arc_templates import BETWEEN, DIRECTION, LENGTH, LOOKS, OWN, parts_of_template
from espalier.corpus.selection import not_unicode
from espalier.corpus.vocabulary import Vocabulary
from espalier.errors import InputError
from espalier.storage import Arrays
from espalier.structures.dependency import DependencyTree

Ids = NDArray[np.int64]

DIRECTIONS = ("left", "right")  # where the token stands, seen from its head
FARTHEST = (1, 2, 3, 4, 5, 10)  # how far apart two words are: exactly up to 5, then by ranges
LENGTHS = ("1", "2", "3", "4", "5", "6-10", "11-")
_ROOT, _NOTHING = -1, -2  # in a column: the place before the first word, and what lies outside of a sentence
_OUTSIDE = {_ROOT: "ROOT", _NOTHING: ""}
_AT_ONCE = 1 << 20  # how many words between heads and tokens are looked at together


class ArcFeatures:
    """The features of all arcs of some trees, column by column.

    In a column every tree has its ROOT, its words and a place for nothing, in this order; another place for nothing is
    in front of all. A neighbour of any word or ROOT is thus one place to the left or right.
    """

    def __init__(
        self, trees: list[DependencyTree], heads: NDArray[np.int32], start: Ids, vocabulary: Vocabulary, *, root: bool
    ) -> None:
        self._trees, self._start, self._vocabulary = trees, start, vocabulary
        self._columns: dict[str, NDArray[np.int32]] = {}
        self._parts: dict[tuple[str, ...], Ids] = {}
        tree = np.repeat(np.arange(len(trees)), np.diff(start))
        # Of each arc: its word, counted in the corpus, its token, and the places of its token and of its head.
        self._word = np.flatnonzero((heads > 0) | root)
        tree = tree[self._word]
        self._token = self._word + (tree + 1 if root else 0)
        self._place = self._word + 2 * tree + 2
        self._head = start[tree] + 2 * tree + 1 + heads[self._word]
        self._n_tokens = len(heads) + (len(trees) if root else 0)

    def of(self, templates: tuple[str, ...]) -> Arrays:
        """The features arc by arc, those of one arc as the templates stand, and where those of each token start."""
        told = [self._own() if name == OWN else self._told(parts_of_template(name)) for name in templates]
        arc = np.concatenate([own[0] for own in told])
        order = np.argsort(arc, kind="stable")
        arrays: Arrays = {"template": np.repeat(np.arange(len(told)), [len(own[0]) for own in told])[order]}
        arrays["first"], arrays["second"] = (np.concatenate([own[k] for own in told])[order] for k in (1, 2))
        counts = np.bincount(self._token[arc], minlength=self._n_tokens)
        start = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return {name: array.astype(np.int32) for name, array in arrays.items()} | {"feature_start": start}

    def _told(self, parts: tuple[str, ...]) -> tuple[Ids, Ids, Ids]:
        """Return what a template says about every arc: the arc, and two texts.

        The first text is that of the first part, the second that of all others; a single part has no first text.
        """
        n_first = min(1, len(parts) - 1)
        if BETWEEN in parts:
            arcs, between = self._between()
            columns = [between if part == BETWEEN else self._part(part)[arcs] for part in parts]
            second = self._joined(columns[n_first:])
        else:
            arcs, columns = np.arange(len(self._token)), [self._part(part) for part in parts]
            if parts[n_first:] not in self._parts:
                self._parts[parts[n_first:]] = self._joined(columns[n_first:])
            second = self._parts[parts[n_first:]]
        return arcs, columns[0] if n_first else np.full(len(arcs), -1), second

    def _part(self, part: str) -> Ids:
        """By arc the number of the text that a part gives."""
        if (part,) not in self._parts:
            self._parts[part,] = self._looked_at(*LOOKS[part]) if part in LOOKS else self._measured(part)
        return self._parts[part,]

    def _looked_at(self, is_of_head: bool, column: str, step: int) -> Ids:
        """By arc the number of a text beside its head or its token."""
        found: Ids = self._column(column)[(self._head if is_of_head else self._place) + step].astype(np.int64)
        for mark, text in _OUTSIDE.items():
            outside = found == mark
            if outside.any():
                found[outside] = self._vocabulary._native.add(text)
        return found

    def _measured(self, part: str) -> Ids:
        """By arc the number of its length or its direction."""
        steps = self._head - self._place
        texts, which = {
            DIRECTION: (DIRECTIONS, (steps < 0).astype(np.int64)),
            LENGTH: (LENGTHS, np.searchsorted(FARTHEST, np.abs(steps))),
        }[part]
        number: Ids = np.array([self._vocabulary._native.add(text) for text in texts], np.int64)[which]
        return number

    def _between(self) -> tuple[Ids, Ids]:
        """The arcs with words between head and token, each as often as these have different tags, and the tags."""
        tag = self._column("tags")
        low, high = np.minimum(self._head, self._place) + 1, np.maximum(self._head, self._place)
        before = np.concatenate([[0], np.cumsum(high - low)])
        cuts = np.unique(np.append(np.searchsorted(before, np.arange(0, before[-1], _AT_ONCE)), len(low)))
        n, keys = len(self._vocabulary) + 1, [np.empty(0, np.int64)]
        for begin, end in pairwise(cuts.tolist()):
            sizes = (high - low)[begin:end]
            places = np.arange(before[begin], before[end]) + np.repeat(low[begin:end] - before[begin:end], sizes)
            keys.append(np.unique(np.repeat(np.arange(begin, end), sizes) * n + tag[places]))
        arcs, tags = np.divmod(np.concatenate(keys), n)
        return arcs, tags

    def _joined(self, columns: Sequence[Ids]) -> Ids:
        """The numbers of texts side by side; each different combination is written once.

        A tab is between two texts. In the texts themselves tabs and backslashes are escaped, so that different
        combinations never look alike.
        """
        if len(columns) == 1:
            return columns[0]
        n, code = len(self._vocabulary) + 1, columns[0]
        for column in columns[1:]:
            code = np.unique(code, return_inverse=True)[1].reshape(-1) * n + column  # small enough to be multiplied
        _, example, which = np.unique(code, return_index=True, return_inverse=True)
        written = []
        for column in columns:
            used, of_used = np.unique(column[example], return_inverse=True)
            texts = [self._vocabulary[k].replace("\\", "\\\\").replace("\t", "\\t") for k in used.tolist()]
            written.append([texts[k] for k in of_used.reshape(-1).tolist()])
        number = [self._vocabulary._native.add("\t".join(texts)) for texts in zip(*written, strict=True)]
        return np.array(number, np.int64)[which.reshape(-1)]

    def _own(self) -> tuple[Ids, Ids, Ids]:
        """The arcs that have features of their own, each as often as it has different ones."""
        n_own, texts = list[int](), list[str]()
        for tree in self._trees:
            n_own += [0] * len(tree) if tree.features is None else map(len, tree.features)
            texts += chain.from_iterable(tree.features or ())
        word = np.repeat(np.arange(self._start[-1]), n_own)
        number, n = self._numbers(texts, word), len(self._vocabulary) + 1
        is_arc = np.isin(word, self._word)
        kept, second = np.divmod(np.unique(word[is_arc] * n + number[is_arc]), n)
        return np.searchsorted(self._word, kept), np.full(len(kept), -1), second

    def _column(self, name: str) -> NDArray[np.int32]:
        """By place the number of a word, tag or relation."""
        if name not in self._columns:
            n_words, tree = int(self._start[-1]), np.arange(len(self._trees))
            texts = chain.from_iterable(getattr(tree, name) for tree in self._trees)
            column = np.full(n_words + 2 * len(tree) + 1, _NOTHING, np.int32)
            column[self._start[:-1] + 2 * tree + 1] = _ROOT
            words = np.arange(n_words)
            column[words + 2 * np.repeat(tree, np.diff(self._start)) + 2] = self._numbers(texts, words)
            self._columns[name] = column
        return self._columns[name]

    def _numbers(self, texts: Iterable[str], word: NDArray[Any]) -> NDArray[np.int32]:
        """Return the numbers of the texts at these words; each different one is looked up once."""
        places: dict[str, int] = defaultdict(count().__next__)
        place = np.array(list(map(places.__getitem__, texts)), np.int64)
        known = np.empty(len(places), np.int32)
        for k, text in enumerate(places):
            try:
                known[k] = self._vocabulary._native.add(text)
            except UnicodeEncodeError:
                where = word[np.flatnonzero(place == k)[0]]
                raise InputError(not_unicode(int(np.searchsorted(self._start, where, side="right")) - 1)) from None
        return known[place]
