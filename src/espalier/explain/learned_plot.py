"""Hyperparameters after learning, as a picture: where each one started, where it ended, which ran into a bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.explain.plots import BLUE, LINE, MUTED, ORANGE, TEXT, check_fitted, legend_above, new_figure, style
from espalier.kernels.base import Kernel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.gridspec import GridSpecBase

    from espalier.gp.learned import LearnedRow
    from espalier.gp.regressor import GPRegressor

_ROW = 0.215  # inches
_HEAD = 0.85  # inches of a panel's title and axis
_WIDTH = 2.3  # inches that a panel needs
_COLUMNS = 3
_GAP = "⋮"
_SIGNED = "transform"  # numbers that may be 0 or below, unlike all others


@dataclass(frozen=True)
class _Panel:
    """Hyperparameters that share an axis."""

    title: str
    names: list[str]
    rows: list[LearnedRow | None]  # None: some are left out here
    n_left_out: int = 0

    @property
    def in_logs(self) -> bool:
        return self.title != _SIGNED and all(row.low >= 0 and row.value > 0 for row in self.rows if row)

    @property
    def height(self) -> float:
        return _HEAD + _ROW * len(self.rows)


def plot_learned(model: GPRegressor, *, top: int = 20, ax: Axes | None = None) -> Any:
    """Draw every learned hyperparameter: where it started and where it ended.

    Single numbers stand in the first panel. Each ``PerLabel`` or ``PerDimension`` has a panel of its own, the largest
    values first. A hollow mark is the start; an orange triangle is a value that a bound stopped.

    Parameters
    ----------
    model
        A fitted model.
    top
        How many of one family to draw: of more, the largest and the smallest, half of each.
    ax
        Whose place to take; a new figure where None. It is divided where there are several panels, for which it must
        be large enough.

    Returns
    -------
    An array with the axes of each panel.
    """
    check_fitted(model)
    if isinstance(top, bool) or not isinstance(top, int) or top < 2:
        raise ValueError(f"top must be an integer of at least 2, got {top!r}.")
    panels = list(_panels(model, top))
    if not panels:
        raise ValueError("There is nothing to draw: every hyperparameter of this model is fixed.")
    axes = _divided(ax, panels)
    for part, panel in zip(axes, panels, strict=True):
        _draw(part, panel)
    _legend(axes[0], panels)
    return np.array(axes, dtype=object)


def _panels(model: GPRegressor, top: int) -> Iterator[_Panel]:
    families: dict[str, list[LearnedRow]] = {}
    for row in model.learned_:
        families.setdefault(row.path[: row.path.rindex("[")] if row.path.endswith("]") else "", []).append(row)
    words = dict(_descriptions(model.kernel_))
    alone = families.pop("", [])
    apart = [row for row in alone if row.path.startswith(f"{_SIGNED}.")]
    single = [row for row in alone if row not in apart]
    if single:
        yield _Panel("", [words.get(row.path, row.path) for row in single], list(single))
    # Panels of one height side by side, so that no room is lost.
    for family, rows in sorted(families.items(), key=lambda item: -len(item[1])):
        rows = sorted(rows, key=lambda row: -row.value)
        shown: list[LearnedRow | None] = list(rows)
        if len(rows) > top:
            shown = [*rows[: (top + 1) // 2], None, *rows[len(rows) - top // 2 :]]
        names = [_GAP if row is None else row.path[len(family) + 1 : -1] for row in shown]
        yield _Panel(words.get(family, family), names, shown, len(rows) - sum(row is not None for row in shown))
    if apart:
        yield _Panel(_SIGNED, [row.path.removeprefix(f"{_SIGNED}.") for row in apart], list(apart))


def _descriptions(kernel: Kernel, prefix: str = "kernel.") -> Iterator[tuple[str, str]]:
    """What each path of a kernel is called: its name, and the kernel at the bottom that it belongs to."""
    for name, _ in kernel._settings():
        bottom = kernel
        while len(inside := bottom._children()) == 1:
            bottom = inside[0][1]
        on = getattr(bottom, "on", None)
        column = "" if on is None else f" on {on if isinstance(on, str) else ', '.join(on)}"
        yield f"{prefix}{name}", f"{name}, {type(bottom).__name__}{column}"
    for step, child in kernel._children():
        yield from _descriptions(child, prefix + step)


def _divided(ax: Axes | None, panels: list[_Panel]) -> list[Axes]:
    """Axes for the panels: the first of single numbers across the page, then up to three in a row."""
    wide = 0 if panels[0].title else 1
    columns = _COLUMNS
    if ax is not None:
        columns = max(1, min(_COLUMNS, int(ax.bbox.width / ax.figure.dpi / _WIDTH)))
    lines = [panels[:wide]] if wide else []
    lines += [panels[k : k + columns] for k in range(wide, len(panels), columns)]
    heights = [max(panel.height for panel in line) for line in lines]
    figure: Figure | SubFigure
    grid: GridSpecBase
    if ax is None:
        figure = new_figure((7.0 if max(map(len, lines)) < 3 else 9.5, sum(heights)))
        grid = figure.add_gridspec(len(lines), 1, height_ratios=heights)
    else:
        if len(panels) == 1:
            return [ax]
        figure = ax.figure
        place = ax.get_subplotspec()
        if place is None:
            box = ax.get_position()
            grid = figure.add_gridspec(
                len(lines), 1, height_ratios=heights, left=box.x0, right=box.x1, bottom=box.y0, top=box.y1
            )
        else:
            grid = place.subgridspec(len(lines), 1, height_ratios=heights)
        ax.set_axis_off()
    out = []
    for k, line in enumerate(lines):
        inner = grid[k].subgridspec(1, len(line))
        out += [figure.add_subplot(inner[j]) for j in range(len(line))]
    return out


def _draw(ax: Axes, panel: _Panel) -> None:
    style(ax)
    ax.grid(False, axis="y")
    if panel.in_logs:
        ax.set_xscale("log")
    rows = [(place, row) for place, row in enumerate(panel.rows) if row is not None]
    for place, row in rows:
        start, value = (max(number, 1e-12) if panel.in_logs else number for number in (row.start, row.value))
        ax.plot([start, value], [place, place], color=LINE, lw=2.5, zorder=1, solid_capstyle="round")
        ax.plot(start, place, "o", ms=5.5, mec="#8c959f", mfc="white", mew=1.2, zorder=2)
        marker, colour = {"": ("o", BLUE), "low": ("<", ORANGE), "high": (">", ORANGE)}[row.bound]
        ax.plot(value, place, marker, ms=7, color=colour, mew=0, zorder=3, clip_on=False)
    ax.set_yticks(range(len(panel.names)), panel.names)
    ax.tick_params(axis="y", length=0, labelcolor=TEXT)
    ax.set_ylim(len(panel.rows) - 0.4, -0.6)
    ax.spines["left"].set_visible(False)
    _limits(ax, panel, [row for _, row in rows])
    values = ax.secondary_yaxis("right")
    values.set_yticks([place for place, _ in rows], [f"{row.value:.3g}" for _, row in rows])
    values.tick_params(length=0, labelcolor=MUTED, labelsize=9)
    values.spines["right"].set_visible(False)
    if panel.title:
        left_out = f"\n{panel.n_left_out} between are left out" if panel.n_left_out else ""
        ax.set_title(panel.title + left_out)


def _limits(ax: Axes, panel: _Panel, rows: list[LearnedRow]) -> None:
    """Room around the values, and few enough marks that they never run into each other."""
    numbers = np.array([number for row in rows for number in (row.start, row.value)])
    if not panel.in_logs:
        span = max(float(np.ptp(numbers)), 1e-3)
        ax.set_xlim(numbers.min() - 0.08 * span, numbers.max() + 0.08 * span)
        ax.locator_params(axis="x", nbins=5)
        return
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    exponents = np.log10(np.maximum(numbers, 1e-12))
    low, high = float(exponents.min()), float(exponents.max())
    few = high - low < 2
    middle, reach = (low + high) / 2, max(0.55 * (high - low), 0.3)  # 0.3: at least 1, 2 or 5 is seen
    ax.set_xlim(10 ** (middle - reach), 10 ** (middle + reach))
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)) if few else LogLocator(numticks=5))
    if few:
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())


def _legend(ax: Axes, panels: list[_Panel]) -> None:
    from matplotlib.lines import Line2D

    bounds = {row.bound for panel in panels for row in panel.rows if row is not None}
    handles = [
        Line2D([], [], color="#8c959f", marker="o", mfc="white", lw=0, ms=5.5, mew=1.2, label="start"),
        Line2D([], [], color=BLUE, marker="o", lw=0, ms=7, mew=0, label="learned"),
    ]
    for bound, marker, words in (("low", "<", "at lower bound"), ("high", ">", "at upper bound")):
        if bound in bounds:
            handles.append(Line2D([], [], color=ORANGE, marker=marker, lw=0, ms=7, mew=0, label=words))
    legend_above(ax, handles)
