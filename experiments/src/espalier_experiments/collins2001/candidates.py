"""The candidates of one split: jackknifed ones to learn from, and those of the grammar, with what they are worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.parsing import PCFG, Evaluation
from espalier.rerank import SCORE_SHARES, best_candidate, evaluate_choices, jackknifed, propose, quality
from espalier.structures import Group, Tree
from espalier_experiments.records import Record, short

FOLDS = 5
N_KNOWN = 200  # training groups by which the values of two fits are brought to one scale
# How much grammars remember, ancestors and siblings; how rare a word is that stands for unknown ones; and whether tags
# remember their parents while contexts that were seen seldom are forgotten.
MARKOV_GRID = ((1, 2), (2, 1), (2, 2))
RARE_GRID = (2, 5)
SPLIT_GRID: tuple[Record, ...] = ({}, {"split_tags": True, "least": 10})


def shared_settings() -> Record:
    """What all experiments have in common: parts of training data, grammars, and weights that are tried."""
    return {"folds": FOLDS, "split_grid": SPLIT_GRID, "shares": SCORE_SHARES}


@dataclass(frozen=True, eq=False)
class Judged:
    """Groups, and what each candidate has in common with its gold tree: counted once, asked for often."""

    groups: Sequence[Group]

    @cached_property
    def counts(self) -> list[NDArray[np.int64]]:
        """By group: matched, gold and parsed constituents of each candidate."""
        return [quality(group) for group in self.groups]

    @cached_property
    def scores(self) -> list[NDArray[np.float64]]:
        """By group: what the parser says."""
        return [np.array(group.scores) for group in self.groups]

    def evaluation(self, chosen: Sequence[int]) -> Evaluation:
        """How good the chosen candidates are together."""
        return evaluate_choices(self.counts, chosen)

    @cached_property
    def first(self) -> Evaluation:
        """How good the parser's own choices are."""
        return self.evaluation([group.best for group in self.groups])

    @cached_property
    def oracle(self) -> Evaluation:
        """How good the best candidates are."""
        return self.evaluation([best_candidate(group) for group in self.groups])

    def measured(self, evaluation: Evaluation) -> Record:
        """All that is kept of an evaluation; the improvement is that over the parser."""
        return {
            "score": short(evaluation.score),
            "improvement": short(evaluation.improvement(self.first)),
            "f1": short(evaluation.f1),
            "exact": short(evaluation.exact_match),
        }


@dataclass(frozen=True, eq=False)
class Lists:
    """The candidates of one split."""

    train: Sequence[Group]
    development: Judged
    test: Judged

    @cached_property
    def known(self) -> Judged:
        """The first training groups, which every learner sees."""
        return Judged(self.train[:N_KNOWN])

    @property
    def baselines(self) -> Record:
        """The parser and the oracle on both parts, and how often the gold tree is among the candidates."""
        out: Record = {}
        for name, part in (("development", self.development), ("test", self.test)):
            found = [group.gold in group.candidates for group in part.groups]
            out[name] = {
                "parser": part.measured(part.first),
                "oracle": part.measured(part.oracle),
                "gold_among": short(100.0 * float(np.mean(found))),
            }
        return out


def make_lists(
    parts: Sequence[Sequence[Any]],
    *,
    k: int,
    seed: int,
    make: Callable[..., Any] = PCFG.from_treebank,
    beam: float | None = None,
    sample: int | None = None,
    **options: Any,
) -> Lists:
    """Train on the first of three parts and parse all of them; of the first only ``sample`` where that is given."""
    train, development, test = parts
    rows = None
    if sample is not None and sample < len(train):
        rows = np.sort(np.random.default_rng(seed).choice(len(train), sample, replace=False)).tolist()
    groups = jackknifed(
        train, k, folds=FOLDS, rows=rows, make=make, beam=beam, random_state=seed, n_threads=1, **options
    )
    parser = make(train, **options)
    judged = [Judged(propose(parser, part, k, beam=beam, n_threads=1)) for part in (development, test)]
    return Lists(groups, *judged)


def best_grammar(
    train: Sequence[Tree],
    development: Sequence[Tree],
    *,
    markovs: Sequence[tuple[int, int]] = MARKOV_GRID,
    rares: Sequence[int] = RARE_GRID,
    beam: float | None = None,
) -> Record:
    """The options of the grammar that is best on development data, the paper's score deciding; the first of equals."""
    grid = [
        {"markov": markov, "unknown": rare, **split} for split in SPLIT_GRID for rare in rares for markov in markovs
    ]
    found = []
    for options in grid:
        parser = PCFG.from_treebank(train, **options)
        found.append(Judged(propose(parser, development, 1, beam=beam, n_threads=1)).first.score)
    return grid[int(np.argmax(found))]
