"""A plot of the distribution of hyperparameters: what was drawn, beside the single value that fitting finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.bayes.draws import Draws
from espalier.bayes.marginalized import Marginalized
from espalier.gp.parameters import Vector
from espalier.gp.plots.axes import new_figure, style
from espalier.structures.layout import printable
from espalier.structures.numbers import whole_number
from espalier.structures.palette import BLUE, MUTED, ORANGE, TEXT
from espalier.structures.tree_elements import MAX_LABEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 3
_PANEL = (2.9, 2.2)  # inches
_BINS = 30


def plot_draws(
    averaged: Marginalized, *, paths: Sequence[str] | None = None, top: int = 9, beside: Marginalized | None = None
) -> NDArray[np.object_]:
    """Draw the distribution of each hyperparameter: a histogram, with the value that the learner had as a line.

    A number that is always positive has a logarithmic axis. The height of a bar is the share of the draws in it. Points
    of a design are stems, as high as their weights.

    Parameters
    ----------
    averaged
        What :func:`~espalier.bayes.sample` or :func:`~espalier.bayes.approximate` returns.
    paths
        Which numbers to draw; the first ``top`` if None.
    top
        How many numbers to draw if ``paths`` is None.
    beside
        A second result for the same learner, such as the cheap one beside draws, which is drawn in orange.

    Returns
    -------
    An array with the axes of each panel.
    """
    draws = averaged.draws
    if paths is None:
        paths = draws.paths[: whole_number("top", top)]
    values = {path: draws[path] for path in paths}  # raises if a path is unknown
    n_columns = min(_COLUMNS, len(values))
    n_rows = -(-len(values) // n_columns)
    width, height = _PANEL
    figure = new_figure((max(width * n_columns, 3.6), height * n_rows))
    panels = np.array([figure.add_subplot(n_rows, n_columns, k + 1) for k in range(len(values))], object)
    table = getattr(averaged.model, "learned_", None)
    learned = {} if table is None else table.to_dict()
    for ax, path in zip(panels, values, strict=True):
        _panel(ax, path, draws, None if beside is None else beside.draws, learned.get(path))
    return panels


def _panel(ax: Axes, path: str, draws: Draws, beside: Draws | None, learned: float | None) -> None:
    drawn = [draws[path].ravel()] + ([] if beside is None else [beside[path].ravel()])
    is_log = min(float(own.min()) for own in drawn) > 0
    if is_log:
        ax.set_xscale("log")
    low, high = min(float(own.min()) for own in drawn), max(float(own.max()) for own in drawn)
    edges = np.geomspace(low, high, _BINS + 1) if is_log else np.linspace(low, high, _BINS + 1)
    for own, colour in ((draws, BLUE), (beside, ORANGE)):
        if own is not None:
            _distribution(ax, own[path].ravel(), own, edges, colour)
    if learned is not None:
        ax.axvline(learned, color=TEXT, lw=1.4, ls="--", gid="learned", zorder=4)
    style(ax)
    ax.set(title=printable(path, MAX_LABEL), ylabel="share", ylim=(0, None))
    ax.title.set(color=TEXT, fontsize=10)
    ax.tick_params(which="minor", labelbottom=False)
    ax.yaxis.label.set(color=MUTED, fontsize=9)


def _distribution(ax: Any, values: Vector, draws: Draws, edges: Vector, colour: str) -> None:
    if draws.kind == "design":
        ax.vlines(values, 0, draws.weights.ravel(), color=colour, lw=2, zorder=3, gid="points")
    elif edges[0] < edges[-1]:
        heights, _ = np.histogram(values, edges, weights=draws.weights.ravel())
        ax.stairs(heights, edges, fill=True, color=colour, alpha=0.55, zorder=2, gid="draws")
