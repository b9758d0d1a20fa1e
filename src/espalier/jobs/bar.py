"""A progress bar on standard error, for ``verbose=True`` and the command line; nothing else outside ``cli`` draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import SupportsFloat

from espalier.jobs.progress import Progress, Report, check_progress
from espalier.structures.layout import cells
from espalier.structures.numbers import truth_value

_FIGURES = 36  # columns of a terminal for a short bar, the percentage and two times


@contextmanager
def bar(what: str) -> Iterator[Callable[[SupportsFloat], object]]:
    """Draw a bar with the elapsed time and an estimate of the time left, and below it the detail of the last report.

    It disappears when the job is done. On a narrow terminal, what is done stands above the bar, and the detail takes
    several lines: nothing is cut.

    Yields a function that takes a Progress, or the fraction done. Nothing is drawn if standard error is not a terminal.
    """
    from rich.console import Console, Group
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Drawing
    from rich.table import Column
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    is_narrow = console.width < cells(what) + _FIGURES
    columns = (
        *(() if is_narrow else (TextColumn("{task.description}"),)),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(Column(no_wrap=True)),
        TimeRemainingColumn(table_column=Column(no_wrap=True)),
    )
    above, below = Text(what if is_narrow else ""), Text("")

    class WithDetail(Drawing):
        def get_renderable(self) -> Group:
            return Group(*([above] if above.plain else []), *self.get_renderables(), *([below] if below.plain else []))

    with WithDetail(*columns, console=console, transient=True, disable=not console.is_terminal) as drawn:
        task = drawn.add_task(what, total=1.0)

        def draw(progress: SupportsFloat) -> None:
            below.plain = getattr(progress, "detail", "")
            drawn.update(task, completed=float(progress))

        yield draw


@contextmanager
def reporting(what: str, progress: Report | None, verbose: bool) -> Iterator[Report | None]:
    """Yield the function to call with progress: the user's, one that draws a bar if ``verbose``, both, or None."""
    check_progress(progress)
    if not truth_value("verbose", verbose):
        yield progress
        return
    with bar(what) as draw:

        def tell(done: Progress) -> None:
            draw(done)
            if progress is not None:
                progress(done)

        yield tell
