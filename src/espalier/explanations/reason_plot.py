"""Bars of what fragments do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from espalier.explanations.explanation import Explanation, Reason
from espalier.structures.layout import printable
from espalier.structures.palette import AGAINST, FOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGEST = 60  # characters of a fragment beside its bar


def plot_reasons(explanation: Explanation, ax: Axes | None, n: int) -> Axes:
    """The largest weights of a model, or contributions to one score; with intervals if there are any."""
    if not len(explanation):
        raise ValueError("There is nothing to draw: the explanation lists no fragment.")
    local = explanation.value is not None
    shown = sorted(explanation.reasons, key=lambda reason: -abs(_value(reason, local)))[:n][::-1]
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(9, 0.9 + 0.32 * len(shown)), layout="constrained")
    values = [_value(reason, local) for reason in shown]
    ax.barh(range(len(shown)), values, color=[FOR if value > 0 else AGAINST for value in values], height=0.7)
    if not local and all(reason.low is not None for reason in shown):
        errors = [[r.weight - (r.low or 0.0) for r in shown], [(r.high or 0.0) - r.weight for r in shown]]
        ax.errorbar(values, range(len(shown)), xerr=errors, fmt="none", ecolor="#57606a", capsize=2, linewidth=1)
    several = len(explanation.scores) > 1
    labels = [_label(reason, several) for reason in shown]
    ax.set_yticks(range(len(shown)), labels, family="monospace", fontsize=8, parse_math=False)
    ax.axvline(0, color="#8c959f", linewidth=0.8)
    ax.set_xlabel("added to the score" if local else "weight in the model")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def _value(reason: Reason, local: bool) -> float:
    return (reason.contribution or 0.0) if local else reason.weight


def _label(reason: Reason, several: bool) -> str:
    text = printable(str(reason.fragment), _LONGEST)
    return f"{printable(str(reason.score), _LONGEST)}: {text}" if several else text
