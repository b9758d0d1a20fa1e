"""The layout of panels of learned hyperparameters, in a figure of their own or in the place of given axes.

A figure of their own is as large as they need. In a given place they become smaller, and then shorter, until all of
them fit; no label leaves that place or runs into another.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from espalier.gp.plots.axes import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.gridspec import GridSpecBase

    from espalier.gp.learned import LearnedRow

# Inches, in full size.
_ROW = 0.215
_HEAD = 0.85  # of a panel's title and axis
_LINE = 0.17  # of a title that has another line
_LETTER = 0.085  # of a title, on average
_WIDTH = 2.0  # that a panel needs
_COLUMNS = 3
_SCALES = (1.0, 0.9, 0.8, 0.7)


@dataclass(frozen=True)
class Panel:
    """Hyperparameters that share an axis."""

    title: str
    names: list[str]
    rows: list[LearnedRow | None]  # None in the place of those that are left out
    n_left_out: int = 0

    def heading(self, width: float) -> str:
        """The title, and how many are left out, in lines of this width in inches."""
        words = [self.title, f"{self.n_left_out} between are left out" if self.n_left_out else ""]
        return "\n".join(line for text in words for line in textwrap.wrap(text, max(8, int(width / _LETTER))))

    def height(self, width: float) -> float:
        """The height in inches that it needs at this width."""
        return _HEAD + _ROW * len(self.rows) + _LINE * self.heading(width).count("\n")


@dataclass(frozen=True)
class PanelLayout:
    """Panels in lines, from the top of the page, and their scale relative to full size."""

    lines: list[list[Panel]]
    width: float  # inches
    scale: float = 1.0

    @property
    def heights(self) -> list[float]:
        """The inches of each line."""
        return [self.scale * max(panel.height(self.cell(line)) for panel in line) for line in self.lines]

    def cell(self, line: list[Panel]) -> float:
        """The width of each panel of a line, in inches of full size."""
        return self.width / len(line) / self.scale

    @property
    def panels(self) -> list[Panel]:
        """All panels, in order."""
        return [panel for line in self.lines for panel in line]

    def headings(self) -> list[str]:
        """The title of each panel, in lines that fit its width."""
        return [panel.heading(self.cell(line)) for line in self.lines for panel in line]


def arrange(panels_of: Callable[[int], list[Panel]], top: int, ax: Axes | None) -> PanelLayout:
    """Panels of up to ``top`` numbers for a figure of their own, or as many as fit into the place of ``ax``."""
    if ax is None:
        lines = _lines(panels_of(top), _COLUMNS)
        return PanelLayout(lines, 7.0 if max(map(len, lines)) < 3 else 9.5)
    _lay_out(ax.figure)
    width, height = ax.bbox.width / ax.figure.dpi, ax.bbox.height / ax.figure.dpi
    for layout in _candidates(panels_of, top, width):
        if sum(layout.heights) <= height:
            break
    return layout


def divide(ax: Axes | None, layout: PanelLayout) -> list[Axes]:
    """Axes for the panels of a layout: the first of single numbers across the page, then up to three in a row."""
    if ax is not None and len(layout.panels) == 1:
        return [ax]
    figure: Figure | SubFigure
    grid: GridSpecBase
    if ax is None:
        figure = new_figure((layout.width, sum(layout.heights)))
        grid = figure.add_gridspec(len(layout.lines), 1, height_ratios=layout.heights)
    else:
        figure, place = ax.figure, ax.get_subplotspec()
        ax.set_axis_off()
        if place is None or _is_placed_by_hand(ax):
            return [figure.add_axes(box) for box in _cells(ax, layout)]
        grid = place.subgridspec(len(layout.lines), 1, height_ratios=layout.heights)
    inner = [grid[k].subgridspec(1, len(line)) for k, line in enumerate(layout.lines)]
    return [figure.add_subplot(part[k]) for part in inner for k in range(part.ncols)]


def settle(ax: Axes, axes: list[Axes], layout: PanelLayout) -> None:
    """Draw in each panel until its labels lie in its part of the place of ``ax``, and leave out ticks without room."""
    if _is_placed_by_hand(ax):
        for part, cell in zip(axes, _cells(ax, layout), strict=True):
            _inset(part, cell)
    else:
        _lay_out(ax.figure)
    for part in axes:
        _thin(part)


def _lines(panels: list[Panel], columns: int) -> list[list[Panel]]:
    wide = 0 if panels[0].title else 1
    lines = [panels[:wide]] if wide else []
    return lines + [panels[k : k + columns] for k in range(wide, len(panels), columns)]


def _candidates(panels_of: Callable[[int], list[Panel]], top: int, width: float) -> Iterator[PanelLayout]:
    """Layouts that become smaller: first in size, then in how many numbers are drawn."""
    longest = max(len(panel.rows) for panel in panels_of(top))
    for shown in (top, *range(min(top, longest) - 1, 1, -1)):
        panels = panels_of(shown)
        for scale in _SCALES if shown == top else _SCALES[-1:]:
            columns = max(1, min(_COLUMNS, int(width / (_WIDTH * scale))))
            yield PanelLayout(_lines(panels, columns), width, scale)


def _is_placed_by_hand(ax: Axes) -> bool:
    """True if nothing will make room for labels when the figure is drawn."""
    return ax.get_subplotspec() is None or ax.figure.get_layout_engine() is None


def _lay_out(figure: Figure | SubFigure) -> None:
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure.figure)  # the whole figure, if this is a part


def _cells(ax: Axes, layout: PanelLayout) -> list[tuple[float, float, float, float]]:
    """The part of each panel in the place of ``ax``: left, bottom, width and height in fractions of the figure."""
    box, total = ax.get_position(original=True), sum(layout.heights)
    cells, above = [], 0.0
    for line, height in zip(layout.lines, layout.heights, strict=True):
        above += height
        bottom, width = box.y1 - box.height * above / total, box.width / len(line)
        cells += [(box.x0 + k * width, bottom, width, box.height * height / total) for k in range(len(line))]
    return cells


def _inset(ax: Axes, cell: tuple[float, float, float, float]) -> None:
    """Shrink axes until their labels lie in a cell, the title and the legend above its middle."""
    figure, legend = ax.figure, ax.get_legend()
    ax.set_position(cell)
    above = [ax.title, *([] if legend is None else [legend])]
    for artist in above:
        artist.set_in_layout(False)
    own = ax.get_window_extent()
    taken = ax.get_tightbbox() or own
    for artist in above:
        artist.set_in_layout(True)
    gap = 0.06 * figure.dpi
    head = max([0.0, *(artist.get_window_extent().y1 - own.y1 for artist in above)])
    x0, y0, width, height = cell
    left, right = (own.x0 - taken.x0 + gap) / figure.bbox.width, (taken.x1 - own.x1 + gap) / figure.bbox.width
    bottom, top = (own.y0 - taken.y0 + gap) / figure.bbox.height, (head + gap) / figure.bbox.height
    # However long the labels are, leave some room to draw.
    inside = max(width - left - right, 0.2 * width), max(height - bottom - top, 0.2 * height)
    ax.set_position((x0 + left, y0 + bottom, *inside))
    middle = (width / 2 - left) / inside[0]
    ax.title.set_x(middle)
    if legend is not None:
        legend.set_bbox_to_anchor((middle, 1.0), ax.transAxes)


def _thin(ax: Axes) -> None:
    """Leave out every second tick, every third, until no label runs into the next."""
    low, high = ax.get_xlim()
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= high]
    for step in range(1, len(ticks) + 1):
        ax.set_xticks(ticks[::step])
        boxes = [label.get_window_extent().padded(2) for label in ax.get_xticklabels()]
        if not any(a.overlaps(b) for a, b in pairwise(boxes)):
            break
