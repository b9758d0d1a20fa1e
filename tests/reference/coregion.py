"""Similarity of tasks, from the definition: one entry of a covariance matrix, as sums of plain products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def coregion(s: str, t: str, weights: Mapping[str, Sequence[float]], kappa: Mapping[str, float]) -> float:
    """Entry (s, t) of W W^T + diag(kappa), the rows of W and the entries of kappa by task."""
    shared = sum(left * right for left, right in zip(weights[s], weights[t], strict=True))
    return shared + (kappa[s] if s == t else 0.0)


def augmented(x: Sequence[float], task: str, tasks: Sequence[str], shared: float, own: float) -> list[float]:
    """Daume's features: a shared copy, and one copy for each task, which is 0 but for the item's own."""
    features = [shared**0.5 * value for value in x]
    for other in tasks:
        features += [own**0.5 * value if other == task else 0.0 for value in x]
    return features
