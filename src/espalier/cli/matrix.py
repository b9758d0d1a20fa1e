"""A kernel matrix, computed with a progress bar and written completely or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from espalier.cli.options import STANDARD_OUTPUT
from espalier.errors import InputError
from espalier.gram import gram
from espalier.jobs.bar import bar
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
    """Compute the matrix of some items with themselves and write it, with a progress bar."""
    with bar(f"{len(items):,} {item}s") as progress:
        matrix = gram(kernel, items, n_threads=n_threads, memory=memory, progress=progress)
        save_array(matrix, output)


def check_matrix_format(output: Path) -> None:
    """Refuse a name whose ending is not a format of matrices; a name without an ending means numpy's."""
    if output.suffix.lower() not in _WRITERS:
        *others, last = filter(None, _WRITERS)
        raise InputError(
            f"The format of a matrix follows from the name of its file, which ends in {', '.join(others)} or {last}; "
            f"got {os.fspath(output)!r}."
        )


def save_array(matrix: Matrix, output: Path) -> None:
    """Write the matrix completely or not at all, in the format of its name; ``-`` is CSV on standard output."""
    if output == STANDARD_OUTPUT:
        _write_csv(sys.stdout.buffer, matrix)
        sys.stdout.buffer.flush()
        return
    check_matrix_format(output)
    with written(output) as stream:
        _WRITERS[output.suffix.lower()](stream, matrix)


def _write_npy(stream: IO[bytes], matrix: Matrix) -> None:
    # By the stream and not by numpy, whose own writing does not say why it fails.
    np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(matrix))
    stream.write(matrix.T.data if np.isfortran(matrix) else np.ascontiguousarray(matrix).data)


def _write_npz(stream: IO[bytes], matrix: Matrix) -> None:
    np.savez_compressed(stream, gram=matrix)


def _write_csv(stream: IO[bytes], matrix: Matrix, separator: str = ",") -> None:
    """Write a line for each row, and every number in the fewest digits that restore it to the last bit."""
    for row in matrix:
        stream.write((separator.join(map(repr, row.tolist())) + "\n").encode())


_WRITERS: dict[str, Callable[[IO[bytes], Matrix], None]] = {
    "": _write_npy,
    ".npy": _write_npy,
    ".npz": _write_npz,
    ".csv": _write_csv,
    ".tsv": partial(_write_csv, separator="\t"),
}
