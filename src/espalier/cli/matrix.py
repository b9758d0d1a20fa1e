"""A kernel matrix computed with a progress bar and written whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from espalier.cli.bars import bar
from espalier.gram import gram
from espalier.kernels.base import Kernel, Matrix
from espalier.structures.files import written


def write_gram(
    kernel: Kernel,
    items: Any,
    output: Path,
    *,
    item: str,
    n_threads: int | None = None,
    memory: str | None = None,
) -> None:
    """Compute the matrix of some items with themselves and write it, showing how far it is."""
    with bar(f"{len(items):,} {item}s") as progress:
        matrix = gram(kernel, items, n_threads=n_threads, memory=memory, progress=progress)
        save_array(matrix, output)


def save_array(matrix: Matrix, output: Path) -> None:
    """Write the matrix whole or not at all."""
    with written(output) as stream:
        # By the stream and not by numpy, whose own writing does not say why it fails.
        np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(matrix))
        stream.write(matrix.T.data if np.isfortran(matrix) else np.ascontiguousarray(matrix).data)
