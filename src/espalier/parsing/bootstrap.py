"""The paired bootstrap: whether one system is better than another, or only luckier with the sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.parsing.attachment import share
from espalier.structures.numbers import as_float, shown, whole_number

BLOCK = 2**20  # sentences that are drawn at once, over all resamples


class Measured(Protocol):
    """Counts of many sentences: an :class:`Evaluation` or an :class:`Attachment`."""

    @property
    def ratios(self) -> Mapping[str, tuple[Sequence[int], Sequence[int]]]:
        """For each measure, what it counts in each sentence, and of how many; the measure divides their sums."""

    @property
    def sizes(self) -> Mapping[int, int]:
        """What the gold trees alone decide: a count for each sentence, by its number."""


@dataclass(frozen=True, repr=False)
class PairedDifference:
    """How much better one system is than another on the same sentences.

    Parameters
    ----------
    measure
        What was measured.
    first, second
        The measure of each system, in per cent.
    interval
        Where the difference lies with this probability, if sentences are drawn anew.
    probability
        Of the interval.
    p_value
        Small if the difference is hardly due to the choice of sentences.
    n
        The number of resamples.
    """

    measure: str
    first: float
    second: float
    interval: tuple[float, float]
    probability: float
    p_value: float
    n: int

    @property
    def difference(self) -> float:
        """The first measure minus the second."""
        return self.first - self.second

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"<PairedDifference in {self.measure}: {self.difference:+.2f} ({self.first:.2f} and {self.second:.2f}), "
            f"{100 * self.probability:g}% interval {low:+.2f} to {high:+.2f}, p = {self.p_value:.2g}>"
        )


def paired_bootstrap(
    a: Measured,
    b: Measured,
    measure: str | None = None,
    *,
    n: int = 10_000,
    probability: float = 0.95,
    random_state: int = 0,
) -> PairedDifference:
    """Compare two systems by drawing sentences with replacement, the same ones for both.

    Parameters
    ----------
    a, b
        Evaluations of the same sentences, such as a new system and an old one: both from :func:`evaluate` or both from
        :func:`evaluate_attachment`, with the same options.
    measure
        ``"f1"``, ``"precision"``, ``"recall"``, ``"exact_match"`` or ``"tagging"`` of brackets; ``"uas"``, ``"las"``,
        ``"label_accuracy"``, ``"exact_match"`` or ``"exact_heads"`` of dependency trees. None is the first of these.
    n
        The number of resamples, each of as many sentences as there are.
    probability
        Of the interval.
    random_state
        A seed for the draws.

    Notes
    -----
    The interval lies between quantiles of the differences of all resamples. The p-value is two-sided: twice the share
    of resamples in which the difference is 0 or has the other sign, where one such resample is added to those drawn, so
    that it is never 0. It is 1 if there is no difference.

    Examples
    --------
    >>> from espalier.parsing import Attachment
    >>> new, old = (Attachment(heads, heads, heads, (9,) * 6) for heads in ((8, 9, 7, 9, 8, 9), (8, 8, 7, 8, 8, 7)))
    >>> paired_bootstrap(new, old)
    <PairedDifference in uas: +7.41 (92.59 and 85.19), 95% interval +1.85 to +14.81, p = 0.037>
    """
    n = whole_number("n", n)
    inside = as_float(probability) if isinstance(probability, Real) else math.nan
    if not 0 < inside < 1:
        raise ValueError(f"probability must be a number between 0 and 1, got {shown(probability)}.")
    rng = np.random.default_rng(whole_number("random_state", random_state, 0))
    _check_same(a, b)
    name = next(iter(a.ratios)) if measure is None else measure
    for own in (a, b):
        if name not in own.ratios:
            raise ValueError(f"measure must be one of {', '.join(map(repr, own.ratios))}, got {measure!r}.")
    first, second = (share(*map(sum, own.ratios[name])) for own in (a, b))
    resampled = _differences(np.array([*a.ratios[name], *b.ratios[name]], np.int64), n, rng)
    p_value = 1.0
    if first != second:
        flips = int((resampled <= 0 if first > second else resampled >= 0).sum())
        p_value = min(1.0, 2.0 * (flips + 1) / (n + 1))
    low, high = np.quantile(resampled, [0.5 - inside / 2, 0.5 + inside / 2]).tolist()
    return PairedDifference(name, first, second, (low, high), inside, p_value, n)


def _rule(value: object) -> str:
    """Show the value of an option; sets in one order."""
    return repr(sorted(value) if isinstance(value, frozenset) else value)


def _differences(counts: NDArray[np.int64], n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """The difference of two shares, in per cent, in each resample, given rows of parts and wholes of each."""
    size = counts.shape[1]
    sums = np.empty((4, n), np.int64)
    step = max(1, BLOCK // size)
    for start in range(0, n, step):
        drawn = rng.integers(0, size, (min(step, n - start), size))
        for row, own in enumerate(counts):
            sums[row, start : start + step] = own[drawn].sum(axis=1)
    # Over a common denominator, equal shares have a difference of exactly 0.
    parts, wholes = sums[[0, 2]], sums[[1, 3]]
    over = parts[0] * wholes[1] - parts[1] * wholes[0]
    both = wholes[0] * wholes[1]
    apart = np.where(wholes > 0, parts, 0) / np.maximum(wholes, 1)  # where one has nothing to count, its share is 0
    return np.asarray(100.0 * np.where(both > 0, over / np.maximum(both, 1), apart[0] - apart[1]))


def _check_same(a: Measured, b: Measured) -> None:
    """Refuse evaluations of other sentences, or by other rules."""
    if type(a) is not type(b) or not hasattr(a, "ratios"):
        raise TypeError(f"Both evaluations must be of one kind, got {type(a).__name__} and {type(b).__name__}.")
    for (name, one), (_, other) in zip(getattr(a, "rules", ()), getattr(b, "rules", ()), strict=False):
        if one != other:
            raise InputError(
                f"The first evaluation counts with {name}={_rule(one)} and the second with {name}={_rule(other)}. "
                "Evaluate both by the same rules."
            )
    first, second = a.sizes, b.sizes
    if len(first) != len(second):
        raise InputError(
            f"The first has {len(first):,} sentences and the second {len(second):,}. Evaluate both on the same ones."
        )
    if len(first) < 2:
        many = "is one sentence" if first else "are no sentences"
        raise InputError(f"There {many} to compare on. Resampling needs at least two, and many more to say something.")
    if other := sorted(first.keys() ^ second.keys()):
        raise InputError(
            f"Some sentences, the first is {other[0]}, were left out of one evaluation and not of the other. Leave "
            "them out of both."
        )
    for row, count in first.items():
        if second[row] != count:
            raise InputError(
                f"Sentence {row} has {count:,} in the first evaluation and {second[row]:,} in the second: tokens or "
                "gold constituents that count. Evaluate both on the same sentences and by the same rules."
            )
