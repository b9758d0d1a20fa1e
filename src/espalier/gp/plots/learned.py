"""A plot of hyperparameters after learning: where each one started, where it ended, and which reached a bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from espalier.gp.plots.axes import check_fitted, legend_above, style
from espalier.gp.plots.layout import Panel, arrange, divide, settle
from espalier.kernels.base import Kernel
from espalier.kernels.hyperparameters import PerDimension
from espalier.structures.layout import printable
from espalier.structures.numbers import whole_number
from espalier.structures.palette import BLUE, EDGE, LINE, MUTED, ORANGE, TEXT
from espalier.structures.tree_elements import MAX_LABEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from espalier.gp.latent_learner import LatentLearner
    from espalier.gp.learned import LearnedRow
    from espalier.gp.regressor import GPRegressor

    Learned = GPRegressor | LatentLearner

_GAP = "⋮"
_SIGNED = "transform"  # numbers that may be 0 or below, unlike all others
_POWER = "transform.power"


def plot_learned(model: Learned, *, top: int = 20, ax: Axes | None = None) -> NDArray[np.object_]:
    """Draw every learned hyperparameter: where it started and where it ended.

    Single numbers are in the first panel. Each ``PerLabel`` has a panel of its own, with the largest values first, and
    so has each ``PerDimension``, in the order of the dimensions. A hollow mark is the start; an orange triangle is a
    value that a bound stopped. (A Box-Cox power of 0 is not marked: it is the logarithm.) Thresholds of grades are left
    to :func:`plot_thresholds`.

    Parameters
    ----------
    model
        A fitted model.
    top
        The most numbers of one family to draw; if there are more, the largest and the smallest, half of each, in order.
    ax
        The axes to replace; a new figure if None. They are divided if there are several panels. If they are small,
        letters become smaller, and then fewer numbers of each family are drawn.

    Returns
    -------
    An array with the axes of each panel.
    """
    check_fitted(model)
    top = whole_number("top", top, 2)
    if not len(model.learned_):
        raise ValueError(
            "There is nothing to draw: every hyperparameter of this model is fixed, or learning was off (learn=False)."
        )
    layout = arrange(lambda shown: list(_panels(model, shown)), top, ax)
    axes = divide(ax, layout)
    for part, panel, heading in zip(axes, layout.panels, layout.headings(), strict=True):
        _draw(part, panel, heading, layout.scale)
    _legend(axes[0], layout.panels, layout.scale)
    if ax is not None:
        settle(ax, axes, layout)
    return np.array(axes, dtype=object)


def _panels(model: Learned, top: int) -> Iterator[Panel]:
    families: dict[str, list[LearnedRow]] = {}
    for row in model.learned_:
        if row.path == "first" or row.path.startswith("gap["):  # thresholds, which are no magnitudes
            continue
        families.setdefault(row.path[: row.path.rindex("[")] if row.path.endswith("]") else "", []).append(row)
    described = list(_descriptions(model.kernel_))
    words = {path: description for path, description, _ in described}
    # Numbered parameters are in the order of their numbers, which are their labels.
    numbered = {path: "dimension " for path, _, setting in described if type(setting) is PerDimension}
    numbered |= {family: "step " for family in families if family.startswith(f"{_SIGNED}.")}
    alone = families.pop("", [])
    apart = [row for row in alone if row.path.startswith(f"{_SIGNED}.")]
    single = [row for row in alone if row not in apart]
    if single:
        yield Panel("", [words.get(row.path, row.path) for row in single], list(single))
    # Put panels of the same height side by side, so that no room is lost.
    for family, rows in sorted(families.items(), key=lambda item: -len(item[1])):
        if family not in numbered or len(rows) > top:
            rows = sorted(rows, key=lambda row: -row.value)
        shown: list[LearnedRow | None] = list(rows)
        if len(rows) > top:
            shown = [*rows[: (top + 1) // 2], None, *rows[len(rows) - top // 2 :]]
        what = numbered.get(family, "")
        labels = ("" if row is None else printable(row.path[len(family) + 1 : -1], MAX_LABEL) for row in shown)
        names = [what + label if label else _GAP for label in labels]
        yield Panel(words.get(family, family), names, shown, len(rows) - sum(row is not None for row in shown))
    if apart:
        yield Panel(_SIGNED, [row.path.removeprefix(f"{_SIGNED}.") for row in apart], list(apart))


def _descriptions(kernel: Kernel, prefix: str = "kernel.") -> Iterator[tuple[str, str, object]]:
    """Each path of a kernel, what it is called (its name, and the kernel at the bottom that has it), its setting."""
    for name, setting in kernel._settings():
        bottom = kernel
        while len(inside := bottom._children()) == 1:
            bottom = inside[0][1]
        on = getattr(bottom, "on", None)
        column = "" if on is None else f" on {printable(on if isinstance(on, str) else ', '.join(on), MAX_LABEL)}"
        yield f"{prefix}{name}", f"{name}, {type(bottom).__name__}{column}", setting
    for step, child in kernel._children():
        yield from _descriptions(child, prefix + step)


def _in_logs(panel: Panel) -> bool:
    return panel.title != _SIGNED and all(row.low >= 0 and row.value > 0 for row in panel.rows if row)


def _bound(row: LearnedRow) -> str:
    """The bound that stopped a value, if any; a power of 0 is the logarithm and does not count as stopped."""
    return "" if row.path == _POWER and row.bound == "low" and row.low == 0 else row.bound


def _draw(ax: Axes, panel: Panel, heading: str, scale: float) -> None:
    style(ax)
    ax.tick_params(labelsize=9 * scale)
    ax.grid(False, axis="y")
    if in_logs := _in_logs(panel):
        ax.set_xscale("log")
    rows = [(place, row) for place, row in enumerate(panel.rows) if row is not None]
    for place, row in rows:
        start, value = (max(number, 1e-12) if in_logs else number for number in (row.start, row.value))
        ax.plot([start, value], [place, place], color=EDGE, lw=2.5 * scale, zorder=1, solid_capstyle="round")
        ax.plot(start, place, "o", ms=5.5 * scale, mec=LINE, mfc="white", mew=1.2, zorder=2)
        marker, colour = {"": ("o", BLUE), "low": ("<", ORANGE), "high": (">", ORANGE)}[_bound(row)]
        ax.plot(value, place, marker, ms=7 * scale, color=colour, mew=0, zorder=3, clip_on=False)
    ax.set_yticks(range(len(panel.names)), panel.names, parse_math=False)  # a tag such as PRP$ is not a formula
    ax.tick_params(axis="y", length=0, labelcolor=TEXT)
    ax.set_ylim(len(panel.rows) - 0.4, -0.6)
    ax.spines["left"].set_visible(False)
    _limits(ax, panel, [row for _, row in rows])
    values = ax.secondary_yaxis("right")
    values.set_yticks([place for place, _ in rows], [f"{row.value:.3g}" for _, row in rows])
    values.tick_params(length=0, labelcolor=MUTED, labelsize=9 * scale)
    values.spines["right"].set_visible(False)
    if heading:
        ax.set_title(heading, fontsize=11 * scale, parse_math=False)


def _limits(ax: Axes, panel: Panel, rows: list[LearnedRow]) -> None:
    """Room around the values, and few enough marks that they never run into each other."""
    numbers = np.array([number for row in rows for number in (row.start, row.value)])
    if not _in_logs(panel):
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


def _legend(ax: Axes, panels: list[Panel], scale: float) -> None:
    from matplotlib.lines import Line2D

    bounds = {_bound(row) for panel in panels for row in panel.rows if row is not None}
    handles = [
        Line2D([], [], color=LINE, marker="o", mfc="white", lw=0, ms=5.5, mew=1.2, label="start"),
        Line2D([], [], color=BLUE, marker="o", lw=0, ms=7, mew=0, label="learned"),
    ]
    for bound, marker, words in (("low", "<", "at lower bound"), ("high", ">", "at upper bound")):
        if bound in bounds:
            handles.append(Line2D([], [], color=ORANGE, marker=marker, lw=0, ms=7, mew=0, label=words))
    legend_above(ax, handles, scale=scale)
