"""Choosing a model inside each training fold, from what its fit knew: never from test data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from espalier.errors import InputError

Record = dict[str, Any]
Criterion = Literal["penalized_evidence", "leave_one_out", "evidence"]


def choose(
    records: Iterable[Record], *, within: Sequence[str], by: Criterion, among: Iterable[str] | None = None
) -> list[Record]:
    """Of all records that agree in the entries ``within``, the one with the largest ``by``.

    Parameters
    ----------
    records
        Records of fits; those without the criterion (such as baselines) are no candidates.
    within
        What a choice is made for, such as ``("pair", "fold")``.
    by
        The log marginal likelihood, the same less 1 for each learned value (Akaike's information criterion for
        evidence that was maximised, ABIC), or the mean log density of each training example given the others; all
        in the units of the response, so models with different transforms compare.
    among
        The models that may be chosen; all by default.
    """
    allowed = None if among is None else set(among)
    best: dict[tuple[Any, ...], Record] = {}
    for record in records:
        if _value(record, by) is None or (allowed is not None and record["model"] not in allowed):
            continue
        place = tuple(record[name] for name in within)
        # Equal values are settled by the name, so that the choice does not depend on the order.
        if place not in best or _rank(record, by) > _rank(best[place], by):
            best[place] = record
    return [best[place] for place in sorted(best)]


def _rank(record: Record, by: Criterion) -> tuple[float, str]:
    value = _value(record, by)
    return -np.inf if value is None else value, record["model"]


def _value(record: Record, by: Criterion) -> float | None:
    if by != "penalized_evidence" or record.get("evidence") is None:
        return record.get(by)
    return float(record["evidence"]) - len(record["learned"])


def mean_of(records: Sequence[Record], name: str) -> float | None:
    """The mean of an entry over records; None where one lacks it."""
    values = [record.get(name) for record in records]
    if not values or any(value is None for value in values):
        return None
    return float(np.mean(np.array(values, dtype=np.float64)))


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The lower quartile, the median and the upper quartile."""
    if not values:
        raise InputError("Quartiles of nothing were asked for.")
    low, middle, high = np.percentile(np.array(values, dtype=np.float64), [25, 50, 75])
    return float(low), float(middle), float(high)
