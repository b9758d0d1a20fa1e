"""Questions answered by their nearest neighbours, by words and by trees: what ``espalier demo`` tells."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.blas import blas_threads
from espalier.corpus.describe import ForestDescription
from espalier.corpus.forest import Forest
from espalier.demo.grammar import CLASSES, asked_for
from espalier.demo.questions import BEST_SCORE, BLOCK, CHANCE, generate
from espalier.errors import InputError
from espalier.explanations import SharedFragment, shared_fragments
from espalier.gram import nearest
from espalier.kernels.normalized import Normalized
from espalier.kernels.subset_tree import SubsetTree
from espalier.structures.fragment import Position
from espalier.structures.table import Table
from espalier.structures.tree import Tree

NEIGHBOURS = 9
DECAYS = (0.1, 0.2, 0.4, 0.6)
SHOWN_CLASSES = CLASSES[:3]
SHOWN_FRAGMENTS = 3
SMALLEST = 4 * BLOCK


@dataclass(frozen=True)
class Score:
    """How often one way of answering is right, and how long it took."""

    name: str
    share: float
    seconds: float | None = None
    count: int | None = None
    training: float | None = None  # how often it is right on training questions, each left out in turn


@dataclass(frozen=True)
class AnsweredQuestion:
    """A held-out question, the question nearest to it by structure and by words, and why.

    Questions are rows of a table, with their ``question``, ``tree`` and ``label``.
    """

    asked: dict[str, Any]
    nearest: dict[str, Any]
    nearest_by_words: dict[str, Any]
    answer: str
    similarity: float
    shared: tuple[SharedFragment, ...]

    def marks(self) -> tuple[list[Position], list[Position]]:
        """The nodes of the heaviest shared fragment in the question's and in the neighbour's tree."""
        if not self.shared:
            return [], []
        heaviest = self.shared[0]
        fragment = heaviest.fragment
        return list(fragment.positions(heaviest.in_x[0])), list(fragment.positions(heaviest.in_y[0]))


@dataclass(frozen=True)
class Answers:
    """Who answers how well, and some questions with their neighbours."""

    seed: int
    n_train: int
    n_held_out: int
    samples: tuple[tuple[str, str], ...]
    description: ForestDescription
    decay: float  # the best on the training questions, each left out in turn
    scores: tuple[Score, ...]
    examples: tuple[AnsweredQuestion, ...]

    def by_chance(self, share: float, truth: float) -> bool:
        """Whether a share of the held-out questions lies within two standard errors of the true one."""
        return abs(share - truth) <= 2 * math.sqrt(truth * (1 - truth) / self.n_held_out)


def answer_questions(n: int, seed: int, *, n_threads: int | None = None) -> Answers:
    """Draw ``n`` questions, hold out a quarter in whole blocks, and answer them by nearest neighbours."""
    if n < SMALLEST:
        raise InputError(f"The demo needs at least {SMALLEST} questions, got {n}.")
    table = generate(n, seed)
    n_held_out = n // 4 // BLOCK * BLOCK
    held_out, train = table[:n_held_out], table[n_held_out:]
    forest = Forest.from_trees(table["tree"])
    queries, corpus = forest[:n_held_out], forest[n_held_out:]
    words_start = time.perf_counter()
    by_words = nearest_by_words(train["tree"], held_out["tree"], NEIGHBOURS)
    seconds = time.perf_counter() - words_start
    scores = [
        Score("guessing", CHANCE),
        Score("words", _share(by_words, train, held_out), seconds),
    ]
    found: dict[float, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
    training: dict[float, float] = {}
    for decay in DECAYS:
        kernel = Normalized(SubsetTree(decay=decay))
        training[decay] = _share(_others(kernel, corpus, n_threads), train, train)
        start = time.perf_counter()
        found[decay] = nearest(kernel, corpus, queries, NEIGHBOURS, n_threads=n_threads)
        seconds = time.perf_counter() - start
        share, count = _share(found[decay][0], train, held_out), len(corpus) * len(queries)
        scores.append(Score(tree_score_name(decay), share, seconds, count, training[decay]))
    chosen = max(DECAYS, key=training.__getitem__)
    scores.append(Score("best possible", BEST_SCORE))
    samples = tuple(zip(held_out["label"][:BLOCK], held_out["question"][:BLOCK], strict=True))
    examples = []
    for row in _first_of_each_class(held_out):
        rows, values = found[chosen]
        asked, closest = held_out[row], train[rows[row, 0]]
        shared = _apart(shared_fragments(asked["tree"], closest["tree"], decay=chosen, n=30))
        (answer,) = vote(rows[row : row + 1], train["label"])
        own = AnsweredQuestion(asked, closest, train[by_words[row, 0]], answer, float(values[row, 0]), tuple(shared))
        examples.append(own)
    return Answers(seed, len(train), n_held_out, samples, forest.describe(), chosen, tuple(scores), tuple(examples))


def tree_score_name(decay: float) -> str:
    """What the answers by trees are called."""
    return f"trees, decay {decay}"


def _others(kernel: Normalized, corpus: Forest, n_threads: int | None) -> NDArray[np.int64]:
    """The nearest of each tree's fellows: itself left out."""
    rows, _ = nearest(kernel, corpus, corpus, NEIGHBOURS + 1, n_threads=n_threads)
    itself = rows == np.arange(len(corpus))[:, None]
    itself[~itself.any(axis=1), -1] = True  # copies of a tree may crowd it out of its own list
    others: NDArray[np.int64] = rows[~itself].reshape(len(corpus), NEIGHBOURS)
    return others


@blas_threads()
def nearest_by_words(corpus: Sequence[Tree], queries: Sequence[Tree], k: int) -> NDArray[np.int64]:
    """The rows of the ``k`` trees whose counts of words have the largest cosine with each query's."""
    from sklearn.feature_extraction.text import CountVectorizer

    words = dict.fromkeys(word for tree in corpus for word in tree.words())
    counter = CountVectorizer(analyzer=Tree.words, vocabulary=list(words), dtype=np.float64)
    rows = []
    for trees in (queries, corpus):
        counts = counter.transform(trees).toarray()
        norms = np.linalg.norm(counts, axis=1, keepdims=True)
        rows.append(counts / np.where(norms == 0, 1, norms))
    return np.argsort(-(rows[0] @ rows[1].T), axis=1, kind="stable")[:, :k]


def vote(rows: NDArray[np.int64], labels: Sequence[str]) -> list[str]:
    """The label that most of each query's neighbours carry; of equally many, the nearest one's."""
    return [Counter(labels[row] for row in found).most_common(1)[0][0] for found in rows.tolist()]


def _share(rows: NDArray[np.int64], train: Table, held_out: Table) -> float:
    answers = vote(rows, train["label"])
    return float(np.mean([a == b for a, b in zip(answers, held_out["label"], strict=True)]))


def _first_of_each_class(table: Table) -> list[int]:
    """The first rightly labelled question of each class: not chosen for how it turns out."""
    rows: dict[str, int] = {}
    for row, (tree, label) in enumerate(zip(table["tree"], table["label"], strict=True)):
        if asked_for(tree) == label:
            rows.setdefault(label, row)
    return [rows[label] for label in SHOWN_CLASSES if label in rows]


def _apart(listed: list[SharedFragment]) -> list[SharedFragment]:
    """The heaviest fragments of a list, without those that stand inside heavier ones."""
    chosen: list[SharedFragment] = []
    covered: set[Position] = set()
    for shared in listed:
        nodes = {position for root in shared.in_x for position in shared.fragment.positions(root)}
        if not nodes <= covered and len(chosen) < SHOWN_FRAGMENTS:
            chosen.append(shared)
            covered |= nodes
    return chosen
