"""A score of a model in primal form, taken apart: what listed features add to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from espalier.explanations.explanation import Reason
from espalier.explanations.weighing import Parts
from espalier.gram.forms import PrimalForm, PrimalPart
from espalier.jobs.schedule import Schedule
from espalier.kernels.inputs import Inputs
from espalier.spaces.space import Floats, Local


def listed_scores(primal: PrimalForm, inputs: Inputs, schedule: Schedule) -> Floats:
    """One row of scores for each item, without the intercepts."""
    options = {"n_threads": schedule.n_threads, "memory": schedule.memory}
    out: Floats = np.zeros((len(inputs), len(primal.names)))
    for part in primal.parts:
        plain = replace(part.term, scale=1.0)  # as the weights have it
        out += plain.weighed(part.features, inputs, "kernel", part.weights, **options)
    return out


def listed_apart(primal: PrimalForm, k: int, examples: Inputs, n: int, schedule: Schedule) -> Parts:
    """Take one score of an example apart."""
    local = [_local(part, k, examples, n, schedule) for part in primal.parts]
    reasons = [_reasons(primal.names[k], part, own, k) for part, own in zip(primal.parts, local, strict=True)]
    value = float(primal.intercepts[k]) + sum(own.total for own in local)
    terms = tuple(part.term for part in primal.parts)
    return Parts(value, terms, tuple(local), tuple(reasons), 0.0, None, ())


def _local(part: PrimalPart, k: int, examples: Inputs, n: int, schedule: Schedule) -> Local:
    factors = 1.0 / part.term.norm(examples, n_threads=schedule.n_threads, memory=schedule.memory)
    return part.term.space.local_listed(part.features, part.weights[:, k], examples, factors, n, schedule)


def _reasons(score: str, part: PrimalPart, own: Local, k: int) -> list[Reason]:
    weight = dict(zip(part.features.names(), part.weights[:, k].tolist(), strict=True))
    return [
        Reason(score, part.term.column, feature, weight[name], None, None, None, float(added))
        for feature, name, added in zip(own.features, own.features.names(), own.contributions, strict=True)
    ]
