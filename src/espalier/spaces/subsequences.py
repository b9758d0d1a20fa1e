"""The space of words, n-grams and subsequences.

A kernel that counts in this space has ``of`` and ``_subsequence_weights(labels)``, the value of a feature. Features are
listed by enumeration: there are as many n-grams as positions, and with gaps many more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.corpus.forest import Forest
from espalier.corpus.sequences import Sequences
from espalier.corpus.vocabulary import Vocabulary
from espalier.jobs.progress import Tell
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.kernels.order_weights import SubsequenceWeights
from espalier.spaces.growth import Growth, Level, keys_of
from espalier.spaces.ngrams import DICTIONARIES, Ngram, NgramDictionary, drawn_sequence, symbol_nodes
from espalier.spaces.space import Floats, Found, Local, Search, Seen, Space, Values, Wanted, heaviest
from espalier.structures.fragment import Position
from espalier.structures.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_PLAIN = {"idf": None, "values": "count"}  # settings of a kernel of plain counts, apart from hyperparameters of 1


class SequenceSpace(Space[Sequences]):
    """The words, n-grams and subsequences that ``BagOfWords``, ``Spectrum`` and ``Subsequence`` count."""

    name = "subsequences"
    needs = ("of", "_subsequence_weights")
    item = "text"

    def __init__(self, kernel: Any) -> None:
        super().__init__(kernel)
        self.listing = DICTIONARIES[kernel.of]

    def corpus(self, inputs: Inputs) -> Sequences:
        return inputs.sequences(self.kernel._column(), self.kernel.of)

    def search(self, corpus: Sequences, max_size: int | None) -> SequenceSearch:
        return SequenceSearch(self.kernel, corpus, max_size)

    def features(
        self, listed: NgramDictionary, corpus: Sequences, values: Values, *, n_threads: int | None
    ) -> csr_matrix:
        from scipy.sparse import csr_matrix, hstack

        kernel: Any = self.kernel if values == "kernel" else self.counting()
        weights = kernel._subsequence_weights(list(corpus.vocabulary))
        found, places = _listed_levels(listed, corpus, weights)
        blocks = [csr_matrix((len(corpus), 0))]
        offsets = [0, 0]  # of the columns of each length
        for level in found:
            blocks.append(_order(weights, level) * level.matrix(len(corpus)))
            offsets.append(offsets[-1] + len(level.key))
        columns = np.array([offsets[length] + node for length, node in places], np.int64)
        return csr_matrix(hstack(blocks).tocsr()[:, columns])

    def local(self, training: Inputs, coefficients: Floats, examples: Inputs, factors: Floats, wanted: Wanted) -> Local:
        n, max_size, schedule = wanted
        rows, items = self.corpus(training), self.corpus(examples)
        trees = tuple(self.drawn(examples, row) for row in range(len(items)))
        weights = self.kernel._subsequence_weights(list(items.vocabulary))
        longest = _longest(weights, items, max_size if weights.has_gaps else None)
        base = _base(items)
        found = list(Growth(items, weights, schedule.memory, base).levels(longest))
        training_rows = Growth(rows[np.flatnonzero(coefficients)], weights, 0, base)
        held = training_rows.levels(len(found), [level.key for level in found])
        beta = coefficients[coefficients != 0]
        best = _Heaviest(n)
        shared = _Shares(items, factors, gaps=weights.has_gaps)
        for level, own in zip(found, held, strict=False):
            weight = _order(weights, level) ** 2 * (own.matrix(len(beta)).T @ beta)
            if max_size is None or level.code.shape[1] <= max_size:
                best.add(level, weight * (level.matrix(len(items)).T @ factors))
            shared.add(level, weight)
        if weights.has_gaps:  # also of subsequences that are longer than those listed
            shared.by_position = self._by_end(rows, coefficients, items, factors)
        listed = best.listed(self.listing, items.vocabulary)
        return Local(trees, listed, best.weights, shared.placed(trees), shared.split)

    def local_listed(
        self, listed: NgramDictionary, weights: Floats, examples: Inputs, factors: Floats, wanted: Wanted
    ) -> Local:
        items = self.corpus(examples)
        trees = tuple(self.drawn(examples, row) for row in range(len(items)))
        own = self.kernel._subsequence_weights(list(items.vocabulary))
        found, places = _listed_levels(listed, items, own)
        shared = _Shares(items, factors, gaps=own.has_gaps)
        for length, level in enumerate(found, start=1):
            weight = np.zeros(len(level.key))
            here = [k for k, place in enumerate(places) if place[0] == length]
            np.add.at(weight, [places[k][1] for k in here], _order(own, level) * weights[here])
            shared.add(level, weight)
        ngrams, contributions = self._listed_contributions(listed, weights, items, factors, wanted)
        return Local(trees, ngrams, contributions, shared.placed(trees), shared.split)

    def _by_end(self, rows: Sequences, coefficients: Floats, items: Sequences, factors: Floats) -> Floats:
        """The part of the score that ends at each position: the score up to there, less that up to the one before."""
        out = []
        for item, factor in zip(items, factors.tolist(), strict=True):
            beginnings = [item[:k] for k in range(1, len(item) + 1)]
            parts = Sequences.from_items(beginnings, items.of, vocabulary=items.vocabulary.extended())
            out.append(factor * np.diff(self._scores(rows, coefficients, parts), prepend=0.0))
        return np.concatenate(out) if out else np.zeros(0)

    def locate(self, feature: Ngram, tree: Tree | None) -> tuple[Position, ...]:
        if tree is None:
            return ()
        labels = sorted({node.label for node in tree})
        return feature.roots(tree, gaps=self.kernel._subsequence_weights(labels).has_gaps)

    def drawn(self, inputs: Inputs, row: int) -> Tree:
        column = inputs.sequence_items(self.kernel._column())
        if not isinstance(column, list | tuple | np.ndarray | Forest | Sequences):
            column = list(column)
        return drawn_sequence(column[row], self.corpus(inputs)[row], self.kernel.of)

    def counting(self) -> Kernel:
        given = {field.name for field in fields(self.kernel)}
        plain = {name: value for name, value in _PLAIN.items() if name in given}
        return replace(super().counting(), **plain)


class SequenceSearch(Search):
    """The space of a kernel over sequences, enumerated length by length."""

    def __init__(self, kernel: Any, corpus: Sequences, max_size: int | None = None) -> None:
        super().__init__(kernel)
        self._corpus, self._max_size = corpus, max_size
        self._weights: SubsequenceWeights = kernel._subsequence_weights(list(corpus.vocabulary))
        self._listing = DICTIONARIES[kernel.of]
        self._n_visited, self._best = 0, _Heaviest(0)

    def exact(self, coefficients: Floats, n: int, max_visits: int, schedule: Schedule, tell: Tell | None) -> Found:
        rows = np.flatnonzero(coefficients)
        corpus, beta = self._corpus[rows], coefficients[rows]
        longest = _longest(self._weights, corpus, self._max_size)
        self._n_visited, self._best = 0, _Heaviest(n)
        complete = True
        for level in Growth(corpus, self._weights, schedule.memory, _base(corpus)).levels(longest):
            length = level.code.shape[1]
            self._best.add(level, _order(self._weights, level) * (level.matrix(len(beta)).T @ beta))
            self._n_visited += len(level.key)
            if tell is not None:
                tell(length / longest)
            if self._n_visited > max_visits and length < longest:
                complete = False
                break
        weights = self._best.weights
        bound = float(abs(weights[-1])) if len(weights) == n else 0.0
        features = self._best.listed(self._listing, corpus.vocabulary)
        counts = (self._n_visited, 0)
        return Found(features, weights, complete, bound if complete else np.inf, *counts, self._max_size)

    def seen(self) -> Seen:
        weights = self._best.weights
        return Seen(self._n_visited, len(weights), float(abs(weights[-1])) if len(weights) == self._best.n else 0.0)


class _Shares:
    """What each word of some sequences adds to their scores, each times its factor.

    A run is shared equally by its words; a subsequence with gaps counts for its last word.
    """

    def __init__(self, items: Sequences, factors: Floats, *, gaps: bool) -> None:
        self._items, self._factors, self._gaps = items, factors, gaps
        self.split = "last word" if gaps else "words"
        self.by_position: Floats = np.zeros(len(items.arrays[0]))

    def add(self, level: Level, weights: Floats) -> None:
        """Add the features of one length, each with its weight."""
        length = 1 if self._gaps else level.code.shape[1]
        entry = weights[level.feature] * level.value * self._factors[level.row[level.position]] / length
        for back in range(length):
            np.add.at(self.by_position, level.position - back, entry)

    def placed(self, trees: tuple[Tree, ...]) -> tuple[Floats, ...]:
        """The shares at the nodes of the drawn sequences."""
        out = []
        for row, tree in enumerate(trees):
            start, end = self._items.arrays[1][row : row + 2]
            place = {position: k for k, position in enumerate(tree.positions())}
            shares: Floats = np.zeros(len(place))
            nodes = [place[position] for position in symbol_nodes(tree, self._items.of)]
            shares[nodes] = self.by_position[start:end]
            out.append(shares)
        return tuple(out)


class _Heaviest:
    """The features with the largest weights among those that were added."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.weights: Floats = np.zeros(0)
        self._code: list[Any] = []

    def add(self, level: Level, weights: Floats) -> None:
        weights = np.asarray(weights)
        order = heaviest(weights, self.n)
        both = np.concatenate([self.weights, weights[order]])
        code = self._code + list(level.code[order])
        best = np.argsort(-np.abs(both), kind="stable")[: self.n]
        self.weights, self._code = both[best], [code[k] for k in best.tolist()]

    def listed(self, listing: type[NgramDictionary], vocabulary: Vocabulary) -> NgramDictionary:
        return listing.from_ngrams([vocabulary[k] for k in code.tolist()] for code in self._code)


def _listed_levels(
    listed: NgramDictionary, corpus: Sequences, weights: SubsequenceWeights
) -> tuple[Iterator[Level], list[tuple[int, int]]]:
    """Listed features in a corpus, length by length, and the length and the column of each."""
    number = np.full(len(listed.labels), len(corpus.vocabulary), np.int64)  # a symbol that no sequence has
    here = listed._labels_of(corpus.vocabulary)
    number[here[here >= 0]] = np.flatnonzero(here >= 0)
    codes = np.split(number[listed.code], listed.start[1:-1]) if len(listed) else []
    keys, places = keys_of(codes, _base(corpus))
    return Growth(corpus, weights, 0, _base(corpus)).levels(len(keys), keys), places


def _order(weights: SubsequenceWeights, level: Level) -> float:
    """The weight of the length of some features."""
    length = level.code.shape[1]
    return float(weights.order[length - 1]) if length <= len(weights.order) else 0.0


def _base(corpus: Sequences) -> int:
    return len(corpus.vocabulary) + 1


def _longest(weights: SubsequenceWeights, corpus: Sequences, max_size: int | None) -> int:
    """The most symbols in a feature: no feature is longer than its sequence."""
    there = int(np.diff(corpus.arrays[1]).max(initial=0))
    return min(len(weights.order), there, max_size or there)
