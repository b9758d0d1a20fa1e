"""Labelled questions, drawn so that the best possible score is known exactly."""

from __future__ import annotations

from espalier.demo.grammar import CLASSES, make_question, seeded, spell
from espalier.structures.table import Table
from espalier.structures.tree import Tree

BLOCK = 20
"""In every block of 20 questions each class is asked for five times and one label is wrong."""

BEST_SCORE = 1 - 1 / BLOCK
"""The share of right answers of whoever reads every question rightly, on any whole number of blocks."""

CHANCE = 1 / len(CLASSES)
"""The share of right answers of guessing, and in expectation of whatever sees only a bag of words."""


def generate(n: int, seed: int = 0) -> Table:
    """Draw ``n`` questions with their trees and labels; the same seed gives the same table.

    Questions come in blocks of 20. In a block each of the four classes is asked for five times, in random
    order, and one question, chosen at random, carries the label of another class. No two blocks depend on
    each other, so a classifier that is trained on some blocks and tested on others scores at most 95 %
    in expectation, and one that reads each question rightly scores exactly that. A last block may be cut short. The
    seed is any integer.

    Examples
    --------
    >>> from espalier.demo import asked_for
    >>> table = generate(20, seed=1)
    >>> table.columns, len(table)
    (('question', 'tree', 'label'), 20)
    >>> sum(asked_for(tree) == label for tree, label in zip(table["tree"], table["label"])) / 20
    0.95
    """
    rng = seeded(n, seed)
    trees: list[Tree] = []
    labels: list[str] = []
    while len(trees) < n:
        asked = list(CLASSES) * (BLOCK // len(CLASSES))
        rng.shuffle(asked)
        wrong = rng.randrange(BLOCK)
        trees += [make_question(what, rng) for what in asked]
        asked[wrong] = rng.choice([what for what in CLASSES if what != asked[wrong]])
        labels += asked
    trees, labels = trees[:n], labels[:n]
    return Table(question=[spell(tree) for tree in trees], tree=trees, label=labels)
