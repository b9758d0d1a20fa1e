"""Random numbers: seeds as scikit-learn takes them, and draws from many normals at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from espalier.blas import blas_threads
from espalier.errors import InputError
from espalier.gp.cholesky import square_root
from espalier.gp.parameters import Vector
from espalier.structures.numbers import LARGEST, is_whole, shown


def generator(random_state: object) -> np.random.Generator:
    """The generator of a seed, or the one that was given."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None or isinstance(random_state, int | np.integer):
        return np.random.default_rng(random_state)
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


@blas_threads()
def draw(mean: Vector, covariance: Vector, noise: Any, n_samples: int, random_state: object) -> Vector:
    """Draws from a normal with this mean and covariance plus noise: one column for each."""
    if not is_whole(n_samples) or not 1 <= n_samples <= LARGEST:
        most = f", at most {LARGEST:,}" if is_whole(n_samples) and n_samples > 0 else ""
        raise InputError(f"n_samples must be a positive integer{most}, got {shown(n_samples)}.")
    rng = generator(random_state)
    covariance = np.array(covariance, order="C")
    covariance[np.diag_indices_from(covariance)] += noise
    normals = rng.standard_normal((len(mean), n_samples))
    return mean[:, None] + square_root(covariance) @ normals
