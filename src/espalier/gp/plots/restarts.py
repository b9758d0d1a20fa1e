"""A plot of learning: every climb, evaluation by evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.gp.plots.axes import axes_of, check_fitted, legend_above
from espalier.structures.palette import BLUE, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from espalier.gp.regressor import GPRegressor

_SAME = 0.1  # log evidence: climbs that differ by less have found the same optimum


def plot_restarts(model: GPRegressor, *, ax: Axes | None = None) -> Axes:
    """Draw the best log evidence so far by evaluation for every climb, the best one emphasised.

    If priors are declared, a climb maximises evidence and prior together, and may end a little below its line.

    Parameters
    ----------
    model
        A fitted model.
    ax
        Where to draw; a new figure if None.
    """
    from matplotlib.ticker import MaxNLocator

    check_fitted(model)
    climbs = [climb for climb in model.restarts_ if climb.trace]
    best = max(climbs, key=lambda climb: climb.objective)
    ax = axes_of(ax, (6.4, 4.2))
    for climb in sorted(climbs, key=lambda climb: climb is best):
        chosen = climb is best
        colour, width = (BLUE, 2.4) if chosen else ("#8c959f", 1.1)
        number = next(k for k, other in enumerate(model.restarts_) if other is climb)
        steps = np.arange(1, len(climb.trace) + 1)
        ax.plot(
            steps,
            np.maximum.accumulate(climb.trace),
            color=colour,
            lw=width,
            zorder=3 if chosen else 2,
            gid=f"climb-{number}",
        )
        face = colour if climb.converged else "white"
        ax.plot(steps[-1], climb.log_likelihood, "o", ms=7, mec=colour, mfc=face, mew=1.5, zorder=4)
    top = max(max(climb.trace) for climb in climbs)
    floor = _floor(best, [climb.log_likelihood for climb in climbs])
    if top - floor < _SAME:
        floor, top = (floor + top - _SAME) / 2, (floor + top + _SAME) / 2
    room = 0.08 * (top - floor)
    ax.set(ylim=(floor - room, top + room), xlabel="evaluation", ylabel="log evidence, best so far")
    ax.set_xlim(left=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.ticklabel_format(axis="y", useOffset=False)
    reached = sum(best.log_likelihood - climb.log_likelihood < _SAME for climb in climbs)
    many = f"{reached} of {len(climbs)} climbs come within 0.1" if len(climbs) > 1 else "one climb"
    ax.set_title(f"log evidence {best.log_likelihood:,.1f}; {many}".replace("-", "\N{MINUS SIGN}"))
    _legend_of_climbs(ax, model, best, climbs)
    return ax


def _legend_of_climbs(ax: Axes, model: GPRegressor, best: Any, climbs: list[Any]) -> None:
    from matplotlib.lines import Line2D

    number = next(k for k, climb in enumerate(model.restarts_) if climb is best)
    where = "from the declared start" if number == 0 else f"from random start {number}"
    handles = [Line2D([], [], color=BLUE, lw=2.4, label=f"best, {where}")]
    if len(climbs) > 1:
        handles.append(Line2D([], [], color="#8c959f", lw=1.1, label="others"))
    for converged, words in ((True, "converged"), (False, "stopped before")):
        if any(climb.converged is converged for climb in climbs):
            face = MUTED if converged else "white"
            handles.append(Line2D([], [], color=MUTED, marker="o", lw=0, ms=7, mfc=face, mew=1.5, label=words))
    legend_above(ax, handles)


def _floor(best: Any, ends: list[float]) -> float:
    """The lowest value to draw: climbs often begin so low that everything else would look flat."""
    lowest = min(ends)
    return min(lowest - 0.5 * (max(ends) - lowest), float(np.quantile(np.maximum.accumulate(best.trace), 0.2)))
