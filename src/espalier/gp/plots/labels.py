"""Plots of classifiers: how often they are right when they are sure, and where one grade ends and the next begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from espalier.errors import InputError
from espalier.gp.ordinal import GPOrdinal
from espalier.gp.plots.axes import axes_of, legend_above, probability_square
from espalier.gp.reliability import calibration
from espalier.gram.targets import label_column
from espalier.structures.palette import BLUE, LINE, MUTED, TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#d55e00", "#cc79a7", "#9a6700", "#009e73", "#0072b2")  # apart for colour-blind eyes too
_ENDS = 2.0  # deviations beyond the outermost thresholds that are drawn


def draw_reliability(model: Any, X: object, y: object, ax: Axes | None) -> Axes:
    """Draw how often the most probable label is right, in ten bins of its probability."""
    check_is_fitted(model)
    if X is None and y is None:
        if not hasattr(model, "leave_one_out"):
            raise InputError("Give X and y: this model cannot predict each training example from all others.")
        p, labels = model.leave_one_out(), model.classes_[model._codes]
    elif X is None or y is None:
        raise InputError("Give both X and y, or neither for the training examples, each predicted from all others.")
    else:
        p = model.predict_proba(X)
        labels = label_column(y, len(p), warns=False)
    found = calibration(p, labels, model.classes_)
    kept = found.n_rows > 0
    sure, right, n_rows = found.sure[kept], found.right[kept], found.n_rows[kept]
    ax = axes_of(ax, (5.4, 5.2))
    ax.plot([0, 1], [0, 1], color=MUTED, lw=1, ls=(0, (4, 3)), zorder=1)
    # Two deviations of the share of as many rows, if the probabilities are right.
    chance = 2 * np.sqrt(sure * (1 - sure) / n_rows)
    ax.errorbar(
        sure, sure, yerr=chance, fmt="none", ecolor="#eaeef2", elinewidth=9, zorder=0, label="by chance, if calibrated"
    )
    ax.plot(sure, right, color=BLUE, lw=1.5, zorder=2)
    ax.scatter(
        *(sure, right, 20 + 180 * n_rows / n_rows.max()),
        color=BLUE,
        edgecolors="white",
        linewidths=0.6,
        zorder=3,
        label="observed",
    )
    probability_square(
        ax,
        above="too cautious",
        below="too sure",
        xlabel="probability of the predicted label",
        ylabel="share of right predictions",
    )
    how = "each left out in turn" if X is None else "new examples"
    ax.set_title(f"calibration error {found.error:.3f}, {n_rows.sum():,}, {how}")
    legend_above(ax)
    return ax


def plot_thresholds(model: GPOrdinal, X: object = None, y: object = None, *, ax: Axes | None = None) -> Axes:
    """Draw the probability of each grade by the latent value, with the learned thresholds as vertical lines.

    Below, a mark for each example stands at its latent mean, in the row of its true grade.

    Parameters
    ----------
    model
        A fitted model.
    X, y
        Examples and their grades; the training examples, each predicted from all others, if both are None.
    ax
        Where to draw; a new figure if None.
    """
    if not isinstance(model, GPOrdinal):
        raise TypeError(f"Only a fitted GPOrdinal has thresholds to draw, got {model!r}.")
    check_is_fitted(model, "learned_")
    latent, codes = _latent_and_codes(model, X, y)
    thresholds, names = model.thresholds_, [str(grade) for grade in model.classes_.tolist()]
    ax = axes_of(ax, (6.6, 4.6))
    ends = [thresholds[0] - _ENDS, thresholds[-1] + _ENDS]
    low, high = min(ends[0], latent.min(initial=ends[0])), max(ends[1], latent.max(initial=ends[1]))
    places = np.linspace(low, high, 301)
    curves = model.likelihood_.probabilities(places, np.zeros(len(places))).T
    sides = ["left", *["center"] * (len(names) - 2), "right"]  # the outermost grades are the most probable at the ends
    for curve, name, colour, side in zip(curves, names, _colours(len(names)), sides, strict=True):
        ax.plot(places, curve, color=colour, lw=2)
        at = places[curve.argmax()]
        ax.text(at, curve.max() + 0.02, name, color=TEXT, ha=side, va="bottom", fontsize=9)
    for threshold in thresholds.tolist():
        ax.axvline(threshold, color=LINE, lw=1, ls=(0, (4, 3)), zorder=0)
    step = 0.32 / len(names)
    for code, colour in enumerate(_colours(len(names))):
        own = latent[codes == code]
        ax.scatter(own, np.full(len(own), -0.06 - step * code), s=26, marker="|", color=colour, linewidths=1.0)
    ax.set(xlim=(low, high), ylim=(-0.1 - step * len(names), 1.12), ylabel="probability of a grade")
    ax.set(xlabel="latent value, in deviations of the noise", yticks=[0.0, 0.5, 1.0])
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    how = "training examples, each left out in turn" if X is None else "new examples"
    ax.set_title(f"thresholds of {len(names)} grades, and {len(latent):,} {how}")
    return ax


def _latent_and_codes(model: GPOrdinal, X: object, y: object) -> tuple[Any, Any]:
    """The latent mean of each example, and the place of its grade."""
    if X is None and y is None:
        return model._left_out()[0][:, 0], model._codes
    if X is None or y is None:
        raise InputError("Give both X and y, or neither for the training examples, each predicted from all others.")
    latent = model.predict_latent(X)[0]
    return latent, model._places(label_column(y, len(latent), warns=False))


def _colours(n: int) -> list[str]:
    """A colour for each grade; the same ones again if there are many."""
    return [COLOURS[k % len(COLOURS)] for k in range(n)]
