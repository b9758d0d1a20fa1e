"""What is predicted far from all data: nothing, a constant, or a linear function of a column of vectors.

A mean is a weighted sum of columns. Each weight has a normal prior around 0, on a column scaled to a root mean square
of 1, so that one ``spread`` fits columns of any unit. Inference integrates the weights out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.gp.parameters import Vector
from espalier.kernels.inputs import Inputs
from espalier.structures.numbers import finite_number
from espalier.structures.table import Table


@dataclass(frozen=True)
class ConstantMean:
    """The same number everywhere.

    Parameters
    ----------
    spread
        The prior standard deviation of that number, in units of the modelled target. The default, ten standard
        deviations of the targets, says almost nothing. If targets are not standardised, it is in their own unit.
    """

    spread: float = 10.0

    def __post_init__(self) -> None:
        finite_number("spread", self.spread)

    def basis(self, inputs: Inputs) -> Vector:
        """Return the columns whose weighted sum is the mean."""
        return np.ones((len(inputs), 1))


@dataclass(frozen=True)
class LinearMean:
    """A constant and a weight for each dimension of a column of vectors, or of the input itself.

    Parameters
    ----------
    on
        The column of a table, or several side by side; None if the input is the vectors.
    spread
        The prior standard deviation of each weight, for columns that are scaled to a root mean square of 1; in units as
        for ``ConstantMean``.
    """

    on: str | tuple[str, ...] | None = None
    spread: float = 10.0

    def __post_init__(self) -> None:
        finite_number("spread", self.spread)
        if self.on is not None and not isinstance(self.on, str):
            if not isinstance(self.on, Sequence) or not all(isinstance(name, str) for name in self.on):
                raise TypeError(f"on must name a column or several, LinearMean(on='features'), got {self.on!r}.")
            object.__setattr__(self, "on", tuple(self.on))

    def basis(self, inputs: Inputs) -> Vector:
        """Return the columns whose weighted sum is the mean."""
        table = inputs._data if isinstance(inputs._data, Table) else None
        if table is not None and self.on is None:
            raise InputError(
                f"A linear mean of a table must name a column of vectors; the columns are {', '.join(table.columns)}. "
                "Write mean=LinearMean(on='features')."
            )
        if table is None and self.on is not None:
            raise InputError(
                f"LinearMean(on={self.on!r}) reads a column, but X is not a table. Pass a table, or write "
                "mean='linear' if X is the vectors."
            )
        vectors = inputs.vectors(self.on)
        dense = vectors.toarray() if hasattr(vectors, "toarray") else np.asarray(vectors)
        return np.column_stack([np.ones(len(inputs)), dense])


@dataclass(frozen=True, eq=False)
class Basis:
    """The columns of a mean at the training examples, in units in which the prior of each weight is N(0, 1)."""

    mean: ConstantMean | LinearMean | None
    columns: Vector
    sizes: Vector

    @staticmethod
    def of(mean: ConstantMean | LinearMean | None, inputs: Inputs) -> Basis:
        """Scale the columns of a mean; without a mean there are none."""
        if mean is None:
            return Basis(None, np.zeros((len(inputs), 0)), np.zeros(0))
        raw = mean.basis(inputs)
        sizes = column_sizes(raw)
        return Basis(mean, raw / sizes * mean.spread, sizes)

    def at(self, inputs: Inputs) -> Vector:
        """The columns at other examples, in the same units."""
        if self.mean is None:
            return np.zeros((len(inputs), 0))
        return self.mean.basis(inputs) / self.sizes * self.mean.spread

    def part(self, rows: NDArray[np.intp]) -> Basis:
        """The columns at some of the training examples."""
        return replace(self, columns=self.columns[rows])

    def named(self, weights: Vector) -> dict[str, float]:
        """Weights by path, for columns as they were given."""
        if self.mean is None:
            return {}
        names = ["mean.constant", *(f"mean.slope[{k}]" for k in range(len(weights) - 1))]
        return dict(zip(names, (weights / self.sizes * self.mean.spread).tolist(), strict=True))


def column_sizes(columns: Vector) -> Vector:
    """The root mean square of each column; 1 if it vanishes."""
    top = np.abs(columns).max(axis=0, initial=0.0)
    top[top == 0] = 1.0
    size: Vector = top * np.sqrt(((columns / top) ** 2).mean(axis=0)) if len(columns) else top
    return np.where(size > 0, size, 1.0)


def as_mean(mean: object) -> ConstantMean | LinearMean | None:
    """The mean that a user named or gave."""
    if mean is None or isinstance(mean, ConstantMean | LinearMean):
        return mean
    named = {"constant": ConstantMean(), "linear": LinearMean()}
    if isinstance(mean, str) and mean in named:
        return named[mean]  # type: ignore[return-value]
    raise ValueError(f"mean must be None, 'constant', 'linear' or LinearMean(on='features'), got {mean!r}.")
