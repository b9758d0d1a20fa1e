"""What is predicted far from all data: nothing, a constant, or a linear function of a column of vectors.

The weights have a closed form at any hyperparameters (generalised least squares), so they are learned exactly with
the rest and add nothing to the search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from espalier.gp.parameters import Vector
from espalier.kernels.inputs import Inputs


@dataclass(frozen=True)
class ConstantMean:
    """The same number everywhere."""

    def basis(self, inputs: Inputs) -> Vector:
        """Return the columns whose weighted sum is the mean."""
        return np.ones((len(inputs), 1))

    def names(self, n_columns: int) -> list[str]:
        """Return the paths of the weights."""
        return ["mean.constant"]


@dataclass(frozen=True)
class LinearMean:
    """A constant and a weight for each dimension of a column of vectors, or of the input itself."""

    on: str | tuple[str, ...] | None = None

    def basis(self, inputs: Inputs) -> Vector:
        """Return the columns whose weighted sum is the mean."""
        vectors = inputs.vectors(self.on)
        dense = vectors.toarray() if hasattr(vectors, "toarray") else np.asarray(vectors)
        return np.column_stack([np.ones(len(inputs)), dense])

    def names(self, n_columns: int) -> list[str]:
        """Return the paths of the weights."""
        return ["mean.constant", *(f"mean.slope[{k}]" for k in range(n_columns - 1))]


def as_mean(mean: Any) -> ConstantMean | LinearMean | None:
    """The mean that a user named or gave."""
    if mean is None or isinstance(mean, ConstantMean | LinearMean):
        return mean
    named = {"constant": ConstantMean(), "linear": LinearMean()}
    if isinstance(mean, str) and mean in named:
        return named[mean]  # type: ignore[return-value]
    raise ValueError(f"mean must be None, 'constant', 'linear' or LinearMean(on='features'), got {mean!r}.")
