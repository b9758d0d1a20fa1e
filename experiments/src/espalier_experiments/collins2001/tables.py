"""What the pages of this paper share: means over splits, and rows of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from espalier_experiments.records import Record
from espalier_experiments.store import Results

MEASURES = ("score", "improvement", "f1", "exact")
HEADER = ["score", "improvement", "F1", "exact match"]

HOW_MEASURED = (
    "*Score* is the paper's: the mean of precision and recall of each sentence, weighed by the size of its gold tree, "
    "in per cent; *improvement* the relative reduction of the error, 100 less the score, against the grammar's own "
    "first parse. F1 and exact match are those of `evalb`: words tagged as punctuation and an outer label do not count."
)


def entry(record: Record, path: str) -> Any:
    """What stands in a record under names joined by dots."""
    for name in path.split("."):
        record = record[name]
    return record


def mean(values: Sequence[float], digits: int = 1) -> str:
    """The mean and the standard deviation over splits; the mean alone of one."""
    if not values:
        return "-"
    middle = f"{np.mean(values):.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ± {np.std(values, ddof=1):.{digits}f}"


def over(records: Sequence[Record], path: str, digits: int = 1) -> str:
    """The mean of one entry over the records of several splits."""
    return mean([entry(record, path) for record in records], digits)


def measures(records: Sequence[Record], path: str) -> list[str]:
    """The cells of one row: all that is measured, over the records of several splits."""
    return [over(records, f"{path}.{name}") for name in MEASURES]


def counted(values: Sequence[Any]) -> str:
    """What was chosen how often, the most frequent first."""
    names = [str(value) for value in values]
    ordered = sorted(set(names), key=lambda name: (-names.count(name), name))
    return ", ".join(name if len(names) == 1 else f"{name} ({names.count(name)})" for name in ordered)


def gaps(results: Results, passes: int) -> str:
    """How many passes ranking machines took, or what those that stopped before they converged had left to gain."""
    trials = [own for record in results for own in record.get("trials", ()) if "gap" in own]
    stopped = [own["gap"] for own in trials if own["passes"] == passes]
    if not trials:
        return ""
    if not stopped:
        taken = [own["passes"] for own in trials]
        return f" Ranking machines converged after {min(taken)} to {max(taken)} passes."
    return (
        f" Ranking machines stop after {passes} passes at the latest, as {len(stopped)} of {len(trials)} did, with "
        f"{min(stopped):.2f} to {max(stopped):.2f} of a margin left to gain."
    )
