"""A plot of learning: every climb, evaluation by evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from espalier.gp.plots.axes import axes_of, check_fitted, legend_above
from espalier.structures.palette import BLUE, LINE, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from espalier.gp.latent_learner import LatentLearner
    from espalier.gp.regressor import GPRegressor

_SAME = 0.1  # log evidence: climbs that differ by less have found the same optimum


def plot_restarts(model: GPRegressor | LatentLearner, *, ax: Axes | None = None) -> Axes:
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
    numbered = {number: climb for number, climb in enumerate(model.restarts_) if climb.trace}
    highest = max(numbered, key=lambda number: numbered[number].objective)
    best, climbs = numbered[highest], numbered.values()
    ax = axes_of(ax, (6.4, 4.2))
    for number in sorted(numbered, key=lambda number: number == highest):
        climb = numbered[number]
        colour, width, order = (BLUE, 2.4, 3) if climb is best else (LINE, 1.1, 2)
        steps, heights = np.arange(1, len(climb.trace) + 1), np.maximum.accumulate(climb.trace)
        ax.plot(steps, heights, color=colour, lw=width, zorder=order, gid=f"climb-{number}")
        face = colour if climb.converged else "white"
        ax.plot(steps[-1], climb.log_likelihood, "o", ms=7, mec=colour, mfc=face, mew=1.5, zorder=4)
    top = max(max(climb.trace) for climb in climbs)
    ends = [climb.log_likelihood for climb in climbs]
    # Climbs often begin so low that everything else would look flat.
    low = float(np.quantile(np.maximum.accumulate(best.trace), 0.2))
    floor = min(min(ends) - 0.5 * (max(ends) - min(ends)), low)
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
    _legend_of_climbs(ax, highest, {climb.converged for climb in climbs}, others=len(climbs) > 1)
    return ax


def _legend_of_climbs(ax: Axes, highest: int, ends: set[bool], *, others: bool) -> None:
    from matplotlib.lines import Line2D

    where = "from the declared start" if highest == 0 else f"from random start {highest}"
    handles = [Line2D([], [], color=BLUE, lw=2.4, label=f"best, {where}")]
    if others:
        handles.append(Line2D([], [], color=LINE, lw=1.1, label="others"))
    for converged, words in ((True, "converged"), (False, "stopped before")):
        if converged in ends:
            face = MUTED if converged else "white"
            handles.append(Line2D([], [], color=MUTED, marker="o", lw=0, ms=7, mfc=face, mew=1.5, label=words))
    legend_above(ax, handles)
