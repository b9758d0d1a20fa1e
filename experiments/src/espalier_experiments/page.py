"""Pages of results: Markdown tables and line drawings, equal to the last byte for equal results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from espalier.structures import themed_svg, write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#9a6700", "#57606a")  # apart for colour-blind eyes too
TEXT, MUTED, GREY = "#1f2328", "#57606a", "#8c959f"  # GREY is what was published, and what was true
SIZE = (4.6, 3.2)  # inches of one panel


@dataclass
class Page:
    """A page that grows: sections of text, tables and drawings."""

    name: str
    title: str
    parts: list[str] = field(default_factory=list)
    drawings: dict[str, str] = field(default_factory=dict)

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.parts.append(text)

    def aim(self, goal: str, measured: str, compared: str) -> None:
        """Say what the page is for, what was measured, and what that was compared with."""
        self.parts += [f"**Goal.** {goal}", f"**Measured.** {measured}", f"**Compared.** {compared}"]

    def section(self, title: str) -> None:
        """Start a section."""
        self.parts.append(f"## {title}")

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table; the first column is text, the others are numbers."""
        self.parts.append(markdown_table(header, rows))

    def draw(self, name: str, caption: str, panels: Sequence[Callable[[Axes], None]]) -> None:
        """Add a drawing of panels side by side, each filled by a function."""
        file = f"{self.name}-{name}.svg"
        self.drawings[file] = line_drawing(panels)
        self.parts.append(f"![{caption}]({file})")

    @property
    def text(self) -> str:
        """The page in Markdown."""
        return "\n\n".join([f"# {self.title}", *self.parts]) + "\n"

    def write(self, folder: Path) -> Path:
        """Write the page and its drawings, each file whole or not at all; return the page's path."""
        folder.mkdir(parents=True, exist_ok=True)
        for file, svg in self.drawings.items():
            write_text(folder / file, svg)
        path = folder / f"{self.name}.md"
        write_text(path, self.text)
        return path


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; columns after the first are set flush right.

    Examples
    --------
    >>> print(markdown_table(["model", "r"], [["trees", "0.57"]]))
    | model | r |
    |---|---:|
    | trees | 0.57 |
    """
    lines = [header, *rows]
    for line in lines:
        if len(line) != len(header):
            raise ValueError(f"A row of the table has {len(line)} cells, and the header {len(header)}: {line!r}.")
    text = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    text.insert(1, "|---|" + "---:|" * (len(header) - 1))
    return "\n".join(text)


def number(value: float | None, digits: int = 4) -> str:
    """A number for a table, without a zero before the point; a dash where there is none.

    Examples
    --------
    >>> number(0.56899), number(-0.2, 1), number(12.5, 2), number(None)
    ('.5690', '-.2', '12.50', '-')
    """
    if value is None or value != value:
        return "-"
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def logarithmic(axis: Axis) -> None:
    """Ticks of a logarithmic axis as plain numbers, at 1, 2 and 5 of each decade."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def line_drawing(panels: Sequence[Callable[[Axes], None]]) -> str:
    """Panels side by side as SVG for light and dark pages, without a date and with the same identifiers every time."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    options: Mapping[str, object] = {
        "font.family": "sans-serif",
        "font.size": 9,
        "text.color": TEXT,
        "axes.labelcolor": TEXT,
        "axes.edgecolor": GREY,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "legend.frameon": False,
    }
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12)  # inches: nothing touches the card
    with matplotlib.rc_context(dict(options)):  # type: ignore[arg-type]
        figure = Figure(figsize=(SIZE[0] * len(panels), SIZE[1]), layout=layout)
        for fill, axes in zip(panels, figure.subplots(1, len(panels), squeeze=False)[0], strict=True):
            fill(axes)
        return themed_svg(figure)
