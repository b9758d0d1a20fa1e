r"""Elliptical slice sampling: draws of latent values that are exact in the limit, to judge what is approximate.

From a state :math:`f` a step draws :math:`\nu` from the prior and a level below the likelihood of :math:`f`. It then
looks for a new state on the ellipse :math:`f \cos \theta + \nu \sin \theta` whose likelihood is above the level: it
tries angles from a bracket, which shrinks towards :math:`f` with each that fails (Murray, Adams and MacKay 2010,
"Elliptical slice sampling"). A step has nothing to tune, and works for every likelihood: one latent value for each
target, or several, such as those of ``Softmax``; log-concave or not.

Several chains that know nothing of each other run at once. The spread of their means is therefore the error of a mean
over all. Chains move slowly if there are many targets that say much, so this is for a few hundred latent values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from espalier.blas import blas_threads
from espalier.gp.cholesky import square_root
from espalier.gp.likelihoods.base import rows_of
from espalier.gp.likelihoods.softmax import Softmax
from espalier.gp.parameters import Vector
from espalier.gp.sampling import generator
from espalier.structures.numbers import whole_number


@blas_threads()
def sample(
    K: Vector,
    likelihood: Any,
    targets: Any,
    offset: Vector | float = 0.0,
    *,
    n_draws: int = 1000,
    n_warm_up: int = 200,
    n_chains: int = 16,
    random_state: object = 0,
) -> Vector:
    """Draw latent values given targets, by elliptical slice sampling.

    Parameters
    ----------
    K
        The prior covariances of the latent values. The matrix may be singular.
    likelihood
        Any likelihood: its ``log_density`` is all that is used.
    targets
        What was observed of each latent value; for ``Softmax``, of each row of latent values.
    offset
        What is added to the latent values before the likelihood.
    n_draws
        How many draws of each chain are returned.
    n_warm_up
        How many steps each chain takes before them, from a draw from the prior.
    n_chains
        How many chains run.
    random_state
        The seed, or a generator. Draws have the same bits for the same seed.

    Returns
    -------
    An array of shape (n_draws, n_chains, n), for ``Softmax`` with one more axis for the classes. Successive draws of a
    chain are not independent; chains are.

    Examples
    --------
    >>> from espalier.gp import Bernoulli
    >>> draws = sample(np.eye(2), Bernoulli(), np.array([1.0, -1.0]), n_chains=100)
    >>> mean, error = draws.mean(axis=(0, 1)), draws.mean(axis=0).std(axis=0) / 10
    >>> bool((np.abs(mean - np.array([1, -1]) / np.sqrt(np.pi)) < 4 * error).all())
    True
    """
    for name, value, least in (("n_draws", n_draws, 1), ("n_warm_up", n_warm_up, 0), ("n_chains", n_chains, 1)):
        whole_number(name, value, least)
    rng, root, n = generator(random_state), square_root(K), len(K)
    values = (n, likelihood.n_classes) if isinstance(likelihood, Softmax) else (n,)
    repeated = rows_of(targets, np.tile(np.arange(n), n_chains))
    shift = np.broadcast_to(offset, values)

    def from_prior() -> Vector:
        normals = rng.standard_normal((n_chains, *values))
        return np.asarray(np.einsum("ij,kj...->ki...", root, normals))

    def height_of(f: Vector) -> Vector:
        """The log likelihood of each chain; 0 is the density of a state at which it overflows."""
        with np.errstate(over="ignore", invalid="ignore"):
            each = likelihood.log_density((f + shift).reshape(n_chains * n, *values[1:]), repeated)
        total = np.asarray(each).reshape(n_chains, n).sum(axis=1)
        return np.where(np.isnan(total), -np.inf, total)

    f = from_prior()
    height, out = height_of(f), np.empty((n_draws, *f.shape))
    for step in range(n_warm_up + n_draws):
        f, height = _step(f, height, from_prior(), height_of, rng)
        if step >= n_warm_up:
            out[step - n_warm_up] = f
    return out


def _step(f: Vector, height: Vector, other: Vector, height_of: Any, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """The next state of every chain, on the ellipse through this one and a draw from the prior."""
    n_chains, axes = len(f), (slice(None), *[None] * (f.ndim - 1))
    level = height - rng.standard_exponential(n_chains)
    angle = rng.uniform(0.0, 2 * np.pi, n_chains)
    low, high = angle - 2 * np.pi, angle
    is_moving = np.ones(n_chains, bool)
    out, heights = f.copy(), height.copy()
    while is_moving.any():
        tried = f * np.cos(angle)[axes] + other * np.sin(angle)[axes]
        found = height_of(tried)
        # A bracket of no width holds the state itself, which is above its level up to rounding.
        is_found = is_moving & ((found > level) | (angle == 0.0))
        out[is_found], heights[is_found] = tried[is_found], found[is_found]
        is_moving &= ~is_found
        low, high = np.where(angle < 0, angle, low), np.where(angle < 0, high, angle)
        angle = rng.uniform(low, high)
    return out, heights
