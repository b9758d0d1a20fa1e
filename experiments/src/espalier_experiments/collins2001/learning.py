"""Learners on the candidates of a split: fitted on training groups, weighed and chosen on development groups.

What is chosen is fitted again, on training and development groups together, and measured on test groups.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from espalier.parsing import Evaluation
from espalier.rerank import SCORE_SHARES, Chooser, spread
from espalier.structures import Group
from espalier_experiments.collins2001.candidates import Judged, Lists
from espalier_experiments.records import Record, short

PAPER = (
    "Collins and Duffy, [Convolution Kernels for Natural Language]"
    "(https://papers.nips.cc/paper/2001/hash/bf424cb7b0dea050a42b9739eb261a3a-Abstract.html), NIPS 2001"
)
SAMPLE = 20  # candidates of each training group that are learned from, as in the paper
UPDATES: Literal["best"] = "best"  # which rivals perceptrons take away, of the two ways that are compared

Values = Sequence[NDArray[np.float64]]


def trial(chooser: Chooser, lists: Lists, *, unit: bool = False) -> Record:
    """Fit a learner on training groups; measure it on development groups, alone and beside the parser's score.

    The learner is fitted once, the weight of the score then chosen on development data as ``fit`` would choose it. A
    weight that it has learned itself is measured too, and with ``unit`` the weight 1. Seconds are those of the
    processor.
    """
    seconds = _fit(chooser, lists.train)
    values = chooser.kernel_values(lists.development.groups)
    share, weight = best_weight(values, lists.development)
    out: Record = {"fit_seconds": short(seconds), "share": share, "weight": short(weight)}
    out["spread"] = short(spread(chooser.kernel_values(lists.known.groups)))
    weights = _weights(chooser, weight, unit=unit)
    if "learned" in weights:
        out["learned_weight"] = short(weights["learned"])
    out["development"] = _measured(values, lists.development, weights)
    return out


def add_test(record: Record, chooser: Chooser, lists: Lists, *, unit: bool = False) -> None:
    """Fit a learner whose settings are chosen on training and development groups together, and measure on test groups.

    The weight of the score is the one of the trial, of which ``record`` is. It grows as the spread of the learner's
    values does on groups that were learned from both times.
    """
    record["refit_seconds"] = short(_fit(chooser, [*lists.train, *lists.development.groups]))
    grown = spread(chooser.kernel_values(lists.known.groups)) / (record["spread"] or 1.0)
    weights = _weights(chooser, record["weight"] * grown, unit=unit)
    record["test"] = _measured(chooser.kernel_values(lists.test.groups), lists.test, weights)


def _fit(chooser: Chooser, groups: Sequence[Group]) -> float:
    """Seconds of the processor."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that learning stopped at its last pass is kept in the record
        chooser.fit(groups)
    return time.process_time() - start


def _weights(chooser: Chooser, weight: float, *, unit: bool) -> dict[str, float]:
    """The weights of the score that are measured, by name."""
    weights = {"alone": 0.0, "weighed": weight}
    if chooser.score_weight_:
        weights["learned"] = chooser.score_weight_
    return {**weights, "unit": 1.0} if unit else weights


def _measured(values: Values, part: Judged, weights: dict[str, float]) -> Record:
    return {kind: part.measured(weighed(values, part, own)) for kind, own in weights.items()}


def weighed(values: Values, part: Judged, weight: float) -> Evaluation:
    """What is chosen by a learner's values and the parser's scores together."""
    pairs = zip(values, part.scores, strict=True)
    return part.evaluation([int((own + weight * score).argmax()) for own, score in pairs])


def best_weight(values: Values, part: Judged) -> tuple[float, float]:
    """The share and the weight of the parser's scores with which F1 is largest, the first of equals."""
    unit = spread(values) / (spread(part.scores) or 1.0) or 1.0
    best = (-1.0, 0.0)
    for share in SCORE_SHARES:
        if (reached := weighed(values, part, share * unit).f1) > best[0]:
            best = (reached, share)
    return best[1], best[1] * unit


def choose(
    trials: Sequence[Record],
    lists: Lists,
    make: Callable[[Record], Chooser],
    wanted: Iterable[tuple[str, Mapping[str, Any]]] = (("alone", {}), ("weighed", {})),
) -> None:
    """Add what is reached on test groups to the trials that are best on development groups.

    ``wanted`` says by which kind of value, and among which trials: those that have some entries. ``make`` makes the
    learner of a trial again.
    """
    for kind, entries in wanted:
        record = best_trial(having(trials, entries), kind)
        if "test" not in record:
            add_test(record, make(record), lists)


def having(trials: Iterable[Record], entries: Mapping[str, Any]) -> list[Record]:
    """The records that have some entries."""
    return [own for own in trials if all(own.get(name) == value for name, value in entries.items())]


def best_trial(trials: Iterable[Record], kind: str = "weighed") -> Record:
    """The record that is best on development data by the paper's score; the first of equals.

    Learners are compared ``"alone"``, or ``"weighed"``: with the parser's score beside them.
    """
    return max(trials, key=lambda record: float(record["development"][kind]["score"]))
