"""A progress bar on standard error, for ``verbose=True`` and the command line; nothing else outside ``cli`` draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import SupportsFloat

from espalier.jobs.progress import Progress, Report, check_progress
from espalier.structures.numbers import truth_value


@contextmanager
def bar(what: str) -> Iterator[Callable[[SupportsFloat], object]]:
    """Draw a bar with the elapsed time and an estimate of the time left, and below it the detail of the last report.

    It disappears when the job is done.

    Yields a function that takes a Progress, or the fraction done. Nothing is drawn if standard error is not a terminal.
    """
    from rich.console import Console, Group
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Drawing
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    below = Text("", no_wrap=True, overflow="ellipsis")

    class WithDetail(Drawing):
        def get_renderable(self) -> Group:
            return Group(*self.get_renderables(), *([below] if below.plain else []))

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
