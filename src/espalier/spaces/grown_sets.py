"""Sets of binary dimensions: the products that a ``Polynomial`` kernel counts, if every number is 0 or 1.

An atom is a dimension, and its code is the number of its column. A feature of order r is present in a row if all of its
r dimensions are 1.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from espalier.errors import InputError
from espalier.kernels.inputs import Inputs
from espalier.spaces.grown import SETS, Atoms, Integers, Locate, Path, Places, check_numbers
from espalier.spaces.grown_slots import Occurrences, SlotSpace, Texts, one_row
from espalier.storage import require


class SetSpace(SlotSpace):
    """The products of binary dimensions that a ``Polynomial`` counts, each dimension once."""

    kind: ClassVar = SETS
    what: ClassVar = "combination"

    @property
    def largest_order(self) -> int:
        return int(self.kernel.degree)

    def write(self, atoms: Atoms, path: Path) -> str:
        """The dimensions, by their numbers; by names if the kernel reads named columns."""
        names = None if self.kernel.on is None else atoms.texts["columns"]
        columns = [int(atoms.codes[atom]) for _, atom in path]
        return " & ".join(str(column) if names is None else names[column] for column in columns)

    def locator(self, atoms: Atoms, item: Any) -> Locate:
        """As for every space; the place of a dimension is its column, counted from 0."""
        present = set(self._occurrences(one_row(item), atoms.texts).slot.tolist())

        def locate(path: Path) -> list[Places]:
            columns = tuple(int(atoms.codes[atom]) for _, atom in path)
            return [columns] if present.issuperset(columns) else []

        return locate

    def shown(self, item: Any, places: Places) -> str:
        """The names or the numbers of the columns."""
        names = self._texts(one_row(item)).get("columns")
        return " & ".join(str(column) if names is None else names[column] for column in places)

    def _check_codes(self, atoms: Atoms) -> None:
        require(
            set(atoms.texts) == (set() if self.kernel.on is None else {"columns"}), "it has other texts than columns"
        )
        if self.kernel.on is not None:
            check_numbers(atoms.codes + np.uint64(1), atoms, "columns")

    def _texts(self, inputs: Inputs) -> Texts:
        on = self.kernel.on
        if on is None:
            return {}
        names: list[str] = []
        for name in (on,) if isinstance(on, str) else on:
            n_dimensions = inputs.vectors(name).shape[1]
            names += [name] if n_dimensions == 1 else [f"{name}[{k}]" for k in range(n_dimensions)]
        return {"columns": tuple(names)}

    def _occurrences(self, inputs: Inputs, texts: Texts) -> Occurrences:
        vectors = inputs.vectors(self.kernel.on)
        row: Integers
        column: Integers
        if hasattr(vectors, "tocsr"):
            row = np.repeat(np.arange(vectors.shape[0]), np.diff(vectors.indptr))
            column, numbers = vectors.indices, vectors.data
        else:
            row, column = np.nonzero(vectors)
            numbers = vectors[row, column]
        wrong = np.flatnonzero((numbers != 0) & (numbers != 1))
        if len(wrong):
            k = int(wrong[0])
            place = "" if self.kernel.on is None else f" of {self.kernel.on!r}"
            raise InputError(
                f"Row {row[k]}, column {column[k]}{place} is {numbers[k]:g}, but features must be binary to be "
                "selected: 0 or 1. Make them so first, for example with sklearn.preprocessing.Binarizer."
            )
        is_one = numbers == 1
        row, column = row[is_one].astype(np.int64), column[is_one].astype(np.int64)
        return Occurrences(row, column, column.astype(np.uint64))
