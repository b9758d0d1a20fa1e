"""Learners on the candidates of a split: fitted on training groups, weighed and chosen on development data."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.forest import Forest
from espalier.parsing import Evaluation
from espalier.reproduce.collins2001.candidates import Judged, Lists
from espalier.reproduce.records import Record, short
from espalier.rerank import CompressedModel
from espalier.rerank.chooser import SCORE_SHARES, Chooser, spread
from espalier.rerank.combination import is_compressible
from espalier.rerank.quality import chosen_f1

PAPER = (
    "Collins and Duffy, [Convolution Kernels for Natural Language]"
    "(https://papers.nips.cc/paper/2001/hash/bf424cb7b0dea050a42b9739eb261a3a-Abstract.html), NIPS 2001"
)
SAMPLE = 20  # candidates of each training group that are learned from, as in the paper

Values = Sequence[NDArray[np.float64]]


def trial(chooser: Chooser, lists: Lists, *, unit: bool = False) -> Record:
    """Fit a learner; measure what it says of candidates alone, and beside the parser's score.

    The learner is fitted once, the weight of the score then chosen on development data as ``fit`` would choose it. A
    weight that it has learned itself is measured too, and with ``unit`` the weight 1. Seconds are those of the
    processor.
    """
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that learning stopped at its last pass is kept in the record
        chooser.fit(lists.train)
    seconds = time.process_time() - start
    parts = {"development": lists.development, "test": lists.test}
    values = {name: values_of(chooser, part) for name, part in parts.items()}
    share, weight = best_weight(values["development"], lists.development)
    out: Record = {"fit_seconds": short(seconds), "share": share, "weight": short(weight)}
    weights = {"alone": 0.0, "weighed": weight}
    if chooser.score_weight_:
        weights["learned"] = chooser.score_weight_
        out["learned_weight"] = short(chooser.score_weight_)
    if unit:
        weights["unit"] = 1.0
    for name, part in parts.items():
        out[name] = {kind: part.measured(weighed(values[name], part, own)) for kind, own in weights.items()}
    return out


def values_of(chooser: Chooser, part: Judged) -> Values:
    """What ``decision_function`` gives without the parser's score, on candidates that are interned once."""
    form = chooser.dual_form()
    if not is_compressible(form.kernel):
        values = chooser.decision_function(part.groups)
        return [own - chooser.score_weight_ * score for own, score in zip(values, part.scores, strict=True)]
    support = Forest.from_trees(chooser.support_, vocabulary=part.forest.vocabulary)
    model = CompressedModel(form.kernel, support)
    for row, coefficient in enumerate(chooser.coefficients_.tolist()):
        model.add(support, row, coefficient)
    return np.split(model(part.forest), np.cumsum([len(group) for group in part.groups])[:-1])


def weighed(values: Values, part: Judged, weight: float) -> Evaluation:
    """What is chosen by a learner's values and the parser's scores together."""
    pairs = zip(values, part.scores, strict=True)
    return part.evaluation([int((own + weight * score).argmax()) for own, score in pairs])


def best_weight(values: Values, part: Judged) -> tuple[float, float]:
    """The share and the weight of the parser's scores with which F1 is largest, the first of equals."""
    unit = spread(values) / (spread(part.scores) or 1.0) or 1.0
    best = (-1.0, 0.0)
    for share in SCORE_SHARES:
        pairs = zip(values, part.scores, strict=True)
        chosen = [int((own + share * unit * score).argmax()) for own, score in pairs]
        if (reached := chosen_f1(part.counts, chosen)) > best[0]:
            best = (reached, share)
    return best[1], best[1] * unit


def best_trial(trials: Iterable[Record], kind: str = "weighed") -> Record:
    """The record that is best on development data by the paper's score; the first of equals.

    Learners are compared ``"alone"``, or ``"weighed"``: with the parser's score beside them.
    """
    return max(trials, key=lambda record: float(record["development"][kind]["score"]))
