"""Some rows of whatever a kernel reads, without keeping the others in memory; and rows given by kernel values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.forest import Forest
from espalier.kernels.base import Matrix
from espalier.kernels.inputs import take_rows
from espalier.structures.table import Table


@dataclass(frozen=True, eq=False)
class MatrixRows:
    """Rows given by their kernel values: what a search passes to ``predict`` instead of the rows themselves.

    ``values`` are those of the rows with every row that the estimator was fitted on, in that order.
    """

    values: Matrix

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of rows and of fitted rows."""
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)


def kept_rows(data: object, rows: NDArray[np.intp]) -> object:
    """Return a copy of some rows; a forest among them is compact."""
    taken = take_rows(data, rows)
    if isinstance(taken, Forest):
        return taken.compact()
    if not isinstance(taken, Table):
        return taken
    forests = {name: column for name in taken.columns if isinstance(column := taken[name], Forest)}
    for name, forest in forests.items():
        taken = taken.with_column(name, forest.compact())
    return taken
