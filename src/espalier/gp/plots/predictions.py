"""Plots of how far the predictions of a process can be trusted: observed against predicted, and calibration.

Everybody can distinguish blue from orange, and colour is never the only difference.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtr

from espalier.errors import InputError
from espalier.gp.plots.axes import axes_of, check_fitted, legend_above, probability_square
from espalier.gp.plots.labels import draw_reliability
from espalier.gp.regressor import GPRegressor
from espalier.gp.transforms import Log
from espalier.gram.target_matrix import TargetMatrix, has_several_targets
from espalier.gram.targets import check_numbers
from espalier.structures.palette import BLUE, MUTED, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from espalier.gp.prediction import Prediction

PALE = "#b6d4f7"
_DECADE = 10.0


def plot_predictions(
    model: GPRegressor,
    X: object = None,
    y: object = None,
    *,
    probability: float = 0.9,
    noise_groups: object = None,
    task: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what was observed against what was predicted, with an interval for each example.

    A point on the dashed line was predicted exactly; a point outside its interval is orange. If the target is
    transformed, positive and varies by more than a factor of 10, both axes are logarithmic.

    Parameters
    ----------
    model
        A fitted model.
    X, y
        Examples and their targets; the training examples, each predicted from all others, if both are None.
    probability
        Of the central intervals.
    noise_groups
        The groups of the examples, if noise is per group.
    task
        The task to draw, if the model was fitted to several targets; ``y`` are then the targets of this task, or those
        of all tasks.
    ax
        Where to draw; a new figure if None.
    """
    prediction, y = _predicted(model, X, y, noise_groups, task)
    interval, median = prediction.interval(probability), prediction.median
    inside = (interval[:, 0] <= y) & (y <= interval[:, 1])
    ax = axes_of(ax, (5.4, 5.2))
    # Many thick bars side by side would be a wall, so they become thinner and paler.
    room = min(1.0, 6 / np.sqrt(max(len(y), 1)))
    ax.vlines(median, interval[:, 0], interval[:, 1], color=PALE, lw=0.6 + 2.4 * room, zorder=1)
    styles = ((inside, BLUE, "o", 30, "inside its interval"), (~inside, ORANGE, "D", 32, "outside"))
    for chosen, colour, marker, size, label in styles:
        ax.scatter(
            median[chosen],
            y[chosen],
            s=size * (0.35 + 0.65 * room),
            color=colour,
            marker=marker,
            edgecolors="white",
            linewidths=0.6,
            zorder=3,
            label=label,
        )
    if _in_logs(model, y, median):
        ax.set(xscale="log", yscale="log")
        _plain_logs(ax)
        # A bar that comes near 0 runs out of the picture; it would take all the room of the others.
        numbers = np.concatenate([y, median, interval.ravel()])
        worth = numbers[np.isfinite(numbers) & (numbers > y.min() / _DECADE)]
        ax.set_ylim(worth.min() / 1.15, worth.max() * 1.15)
    limits, heights = ax.get_xlim(), ax.get_ylim()
    ax.plot(limits, limits, color=MUTED, lw=1, ls=(0, (4, 3)), zorder=2)
    ax.set(xlim=limits, ylim=heights)
    who = "predicted from all others" if X is None else "predicted"
    ax.set(xlabel=f"{who} (median)", ylabel="observed")
    share = f"{inside.sum():,} of {len(y):,} ({inside.mean():.0%})"
    ax.set_title(f"{probability:.0%} intervals hold {share}")
    legend_above(ax)
    return ax


def plot_calibration(
    model: Any,
    X: object = None,
    y: object = None,
    *,
    noise_groups: object = None,
    task: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw whether the probabilities of a model are right: a calibrated one follows the diagonal.

    For a regressor: which share of the targets central intervals really hold, for every probability. The grey band is
    where 95 % of calibrated models would pass at each probability, with as many examples. For a classifier: how often
    the most probable label is right, in ten bins of its probability, with larger points for bins with more examples.
    The grey bars are two deviations long on both sides of what a calibrated model would show.

    Parameters
    ----------
    model
        A fitted ``GPRegressor``, or a classifier with ``predict_proba``.
    X, y, noise_groups, task, ax
        As for :func:`plot_predictions`. A classifier has no noise groups and no tasks.
    """
    if hasattr(model, "predict_proba"):
        if noise_groups is not None or task is not None:
            raise ValueError("A classifier has no noise groups and no tasks: leave noise_groups and task away.")
        return draw_reliability(model, X, y, ax)
    prediction, y = _predicted(model, X, y, noise_groups, task)
    needed = np.sort(interval_needed(prediction, y))
    n = len(needed)
    ax = axes_of(ax, (5.4, 5.2))
    rank = np.arange(1, n + 1)
    ends = [np.concatenate([[0.0], betaincinv(rank, n + 1 - rank, level), [1.0]]) for level in (0.025, 0.975)]
    share = np.concatenate([[0.0], rank / (n + 1), [1.0]])
    ax.fill_betweenx(share, ends[0], ends[1], color="#eaeef2", lw=0, zorder=0, label="by chance, if calibrated")
    ax.plot([0, 1], [0, 1], color=MUTED, lw=1, ls=(0, (4, 3)), zorder=1)
    steps = np.concatenate([[0.0], needed, [1.0]])
    ax.step(steps, np.concatenate([[0.0], rank / n, [1.0]]), where="post", color=BLUE, lw=2, zorder=2, label="observed")
    probability_square(
        ax,
        above="intervals too wide",
        below="intervals too narrow",
        xlabel="probability of the interval",
        ylabel="share of targets inside",
    )
    how = "each left out in turn" if X is None else "new examples"
    ax.set_title(f"90% intervals hold {(needed <= 0.9).mean():.0%} of {n:,}, {how}")
    legend_above(ax)
    return ax


def interval_needed(prediction: Prediction, y: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of the smallest central interval that holds each target; 1 if none does."""
    z, _ = prediction.target.modelled(y)
    with np.errstate(invalid="ignore"):
        away = np.abs(z - prediction.modelled_mean) / prediction.modelled_std
    return np.asarray(np.where(np.isnan(away), 1.0, 2 * ndtr(away) - 1))


def _predicted(
    model: GPRegressor, X: object, y: object, noise_groups: object, task: str | None
) -> tuple[Prediction, NDArray[np.float64]]:
    check_fitted(model, kinds=(GPRegressor,))
    if (task is None) != (model.tasks_ is None):
        tasks = (
            "one target, so leave task out" if model.tasks_ is None else f"the tasks {model.tasks_}: name one, task="
        )
        raise InputError(f"The model was fitted to {tasks}.")
    if X is None and y is None:
        left_out, targets = model.leave_one_out(), model._examples.targets
        if task is None:
            return left_out, targets
        return _of_known(left_out[task], targets[:, left_out.tasks.index(task)])
    if X is None or y is None:
        raise InputError("Give both X and y, or neither for the training examples, each predicted from all others.")
    predicted = model.predict_distribution(X, noise_groups=noise_groups)
    prediction: Prediction = predicted if task is None else predicted[task]
    if not len(prediction):
        raise InputError("There is nothing to draw: X is empty.")
    if task is None or not has_several_targets(y):
        return prediction, check_numbers(y, len(prediction))
    matrix = TargetMatrix.of(y, len(prediction), predicted.tasks, known=True)
    return _of_known(prediction, matrix.values[:, matrix.tasks.index(task)])


def _of_known(prediction: Prediction, column: NDArray[np.float64]) -> tuple[Prediction, NDArray[np.float64]]:
    """The predictions of the targets that are known, and these targets."""
    known = ~np.isnan(column)
    if not known.any():
        raise InputError("There is nothing to draw: no target of the task is known.")
    mean, std = prediction.modelled_mean[known], prediction.modelled_std[known]
    return replace(prediction, modelled_mean=mean, modelled_std=std), column[known]


def _in_logs(model: GPRegressor, y: NDArray[np.float64], median: NDArray[np.float64]) -> bool:
    if model._posterior.target.is_linear or not ((y > 0).all() and (median > 0).all()):
        return False
    return isinstance(model.transform_, Log) or bool(y.max() > _DECADE * y.min())


def _plain_logs(ax: Axes) -> None:
    """Label 1, 2 and 5 of each decade with plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axis.set_minor_formatter(NullFormatter())
