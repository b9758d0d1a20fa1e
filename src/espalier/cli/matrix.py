"""A kernel matrix computed with a progress bar and written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from espalier.gram import gram
from espalier.kernels.base import Kernel, Matrix


def write_gram(
    kernel: Kernel,
    items: Any,
    output: Path,
    *,
    item: str,
    console: Console,
    n_threads: int | None = None,
    memory: str | None = None,
) -> None:
    """Compute the matrix of some items with themselves and write it, showing how far it is."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"{len(items):,} {item}s", total=1.0)
        matrix = gram(
            kernel,
            items,
            n_threads=n_threads,
            memory=memory,
            progress=lambda fraction: bar.update(task, completed=fraction),
        )
        bar.update(task, completed=1.0, description="writing")
        save_array(matrix, output)


def save_array(matrix: Matrix, output: Path) -> None:
    """Write beside the place and rename, so that an interruption leaves the old file or none."""
    draft = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as stream:
            np.save(stream, matrix)
        os.replace(draft, output)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
