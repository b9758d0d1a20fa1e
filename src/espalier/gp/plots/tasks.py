"""A plot of what a model learned about its tasks: how alike each two of them are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from espalier.errors import InputError
from espalier.gp.plots.axes import axes_of, check_fitted
from espalier.kernels.coregion import TaskKernel
from espalier.kernels.task_names import task_names
from espalier.structures.layout import printable
from espalier.structures.numbers import whole_number
from espalier.structures.palette import BLUE, ORANGE, TEXT
from espalier.structures.tree_elements import MAX_LABEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from espalier.gp.regressor import GPRegressor

_MOST_NUMBERS = 24  # tasks whose numbers still fit their cells
_DARK = 0.6  # the share of the full colour from which numbers are white


def plot_tasks(model: GPRegressor, *, covariances: bool = False, which: int = 0, ax: Axes | None = None) -> Axes:
    """Draw the correlations of tasks that a kernel such as ``Coregion`` learned: one cell for each two tasks.

    Blue cells are tasks that are alike, orange cells tasks that are opposed, and white cells tasks that have nothing in
    common; the number in a cell says the same.

    Parameters
    ----------
    model
        A fitted model whose kernel contains a kernel of tasks.
    covariances
        Draw the covariances of tasks, whose diagonal says how much each task varies, in place of correlations.
    which
        Which kernel of tasks to draw, from 0, if a sum has several.
    ax
        Where to draw; a new figure if None.
    """
    from matplotlib.colors import LinearSegmentedColormap

    check_fitted(model)
    found = [kernel for kernel in model.kernel_._every_kernel() if isinstance(kernel, TaskKernel)]
    if not found:
        raise InputError(
            "There is nothing to draw: the kernel of this model contains no kernel of tasks such as "
            "Coregion(on='task')."
        )
    which = whole_number("which", which, 0, len(found) - 1, wanted=f"a number from 0 to {len(found) - 1}")
    tasks = _tasks(model, found[which])
    values = found[which].covariances(tasks)
    size = np.sqrt(values.diagonal())
    if not covariances:
        values = values / np.where(size > 0, size, 1.0)[:, None] / np.where(size > 0, size, 1.0)
    top = max(float(np.abs(values).max()), 1e-12) if covariances else 1.0
    side = max(3.2, 0.62 * len(tasks) + 1.4)
    ax = axes_of(ax, (side, side))
    colours = LinearSegmentedColormap.from_list("tasks", [ORANGE, "#ffffff", BLUE])
    ax.pcolormesh(values, cmap=colours, vmin=-top, vmax=top, edgecolors="#ffffff", linewidth=1.5)
    if len(tasks) <= _MOST_NUMBERS:
        for (row, column), value in np.ndenumerate(values):
            text = f"{value:.2f}" if top < 100 else f"{value:.3g}"
            colour = "#fefefe" if abs(value) > _DARK * top else "#111111"
            text = text.replace("-", "\N{MINUS SIGN}")
            ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=colour, fontsize=8.5)
    names = [printable(task, MAX_LABEL) for task in tasks]
    places = np.arange(len(tasks)) + 0.5
    long = max(map(len, names)) > 5
    ax.set_xticks(places, names, rotation=45 if long else 0, ha="right" if long else "center", parse_math=False)
    ax.set_yticks(places, names, parse_math=False)
    ax.tick_params(length=0, labelcolor=TEXT)
    ax.grid(False)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.set(xlim=(0, len(tasks)), ylim=(len(tasks), 0), aspect="equal")
    what = "covariances" if covariances else "correlations"
    part = f", kernel {which + 1} of {len(found)}" if len(found) > 1 else ""
    ax.set_title(f"{what} of tasks{part}")
    return ax


def _tasks(model: GPRegressor, kernel: TaskKernel) -> list[str]:
    """The tasks of the training rows."""
    names = task_names(model._examples.inputs.column(kernel.on), kernel.on)
    in_order = model.tasks_ is not None and set(names) <= set(model.tasks_)
    own = model.tasks_ if in_order and model.tasks_ is not None else sorted(set(names))
    return list(own)
