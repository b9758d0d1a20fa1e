"""How far a job is, drawn on standard error where that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import SupportsFloat


@contextmanager
def bar(what: str) -> Iterator[Callable[[SupportsFloat], object]]:
    """Draw a bar with the time that has passed and an estimate of what is left; it is gone when the job is done.

    Yields a function that takes a Progress, or the fraction done.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True, highlight=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as drawn:
        task = drawn.add_task(what, total=1.0)
        yield lambda progress: drawn.update(task, completed=float(progress))
