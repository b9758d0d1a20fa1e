r"""A Gaussian process over whole tag sequences (Bratieres, Quadrianto and Ghahramani 2013).

Each tag has a latent function of tokens, :math:`f_y \sim GP(0, K)`, each pair of neighbours a normal weight. The
probability of a tagging is that of :mod:`~espalier_experiments.beck2014.chains`. With :math:`f = L V`, all values are
independent standard normals before the tags are seen. The posterior is log-concave in them:

* its most probable values are the end of a climb;
* draws are those of Hamiltonian Monte Carlo. Elliptical slice sampling (Murray, Adams and MacKay 2010), which the
  paper uses, draws from the same distribution without slopes, by steps that are far smaller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from espalier.kernels import Kernel
from espalier.structures import Table
from espalier_experiments.beck2014.chains import Chains, Indices, Matrix

JITTER = 1e-6  # of the diagonal: equal tokens make the matrix singular
STEPS, CLOSE = 300, 1e-5  # of the climb
LEAPS = 20  # slopes for each draw


@dataclass(frozen=True, eq=False)
class Values:
    """Latent values of training tokens, and weights of neighbours, both in standard normals."""

    tokens: Matrix  # V
    latent: Matrix  # L V
    neighbours: Matrix

    def turned(self, other: Values, angle: float) -> Values:
        """A point of the ellipse through both."""
        cos, sin = np.cos(angle), np.sin(angle)
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Values(*(cos * own + sin * its for own, its in pairs))


@dataclass(frozen=True, eq=False)
class TagProcess:
    """The process of some training sentences, at given numbers of the kernel."""

    kernel: Kernel
    spread: float  # of the weights of neighbours; 0 makes all tags independent
    table: Table  # of tokens
    chains: Chains
    tags: Indices
    root: Matrix  # L

    @staticmethod
    def of(kernel: Kernel, spread: float, table: Table, chains: Chains, tags: Indices) -> TagProcess:
        """The process of these tokens."""
        K = kernel(table)
        K[np.diag_indices_from(K)] *= 1 + JITTER
        return TagProcess(kernel, spread, table, chains, tags, np.asarray(np.linalg.cholesky(K)))

    def log_likelihood(self, at: Values) -> float:
        """The log probability of the training tags."""
        return self.chains.log_probability(at.latent, self.spread * at.neighbours, self.tags)

    def at(self, flat: Matrix) -> Values:
        """The values that a vector of standard normals stands for."""
        n, n_tags = len(self.tags), self.chains.n_tags
        tokens = flat[: n * n_tags].reshape(n, n_tags)
        return Values(tokens, self.root @ tokens, flat[n * n_tags :].reshape(n_tags + 1, n_tags))

    @property
    def size(self) -> int:
        """How many standard normals there are."""
        return (len(self.tags) + self.chains.n_tags + 1) * self.chains.n_tags

    def slope(self, flat: Matrix) -> tuple[float, Matrix]:
        """The log density of the posterior but for a constant, and its gradient."""
        here, n = self.at(flat), len(self.tags)
        single, expected = self.chains.marginals(here.latent, self.spread * here.neighbours)
        single[np.arange(n), self.tags] -= 1.0
        told = (self.root.T @ single).ravel(), self.spread * (expected - self.chains.observed_pairs(self.tags)).ravel()
        return self.log_likelihood(here) - 0.5 * float(flat @ flat), -flat - np.concatenate(told)

    def most_probable(self) -> Values:
        """Climb to the most probable values."""
        n = len(self.tags)

        def loss(flat: Matrix) -> tuple[float, Matrix]:
            height, slope = self.slope(flat)
            return -height / n, -slope / n

        options: Any = {"maxiter": STEPS, "maxfun": 2 * STEPS, "gtol": CLOSE}
        return self.at(minimize(loss, np.zeros(self.size), jac=True, method="L-BFGS-B", options=options).x)

    def draws(self, start: Values, n_burnt: int, n_kept: int, seed: int) -> Iterator[tuple[Values, float]]:
        """Draws of the posterior by Hamiltonian Monte Carlo, each with its log probability of the training tags.

        The length of a step is settled during the draws that are burnt: four proposals out of five are accepted.
        """
        rng = np.random.default_rng(seed)
        at = np.concatenate([start.tokens.ravel(), start.neighbours.ravel()])
        height, slope = self.slope(at)
        length = 0.1
        for draw in range(n_burnt + n_kept):
            speed = rng.standard_normal(self.size)
            energy = height - 0.5 * float(speed @ speed)
            place, rise, own = at, slope, length * rng.uniform(0.8, 1.2)
            for _ in range(LEAPS):
                speed = speed + 0.5 * own * rise
                place = place + own * speed
                found, rise = self.slope(place)
                speed = speed + 0.5 * own * rise
            chance = float(np.exp(min(0.0, found - 0.5 * float(speed @ speed) - energy)))
            if rng.uniform() < chance:
                at, height, slope = place, found, rise
            if draw < n_burnt:
                length *= float(np.exp((chance - 0.8) / np.sqrt(draw + 4)))
            else:
                values = self.at(at)
                yield values, self.log_likelihood(values)

    def elliptical_draws(self, start: Values, n_kept: int, every: int, seed: int) -> Iterator[tuple[Values, float]]:
        """Draws by elliptical slice sampling, one of ``every``."""
        rng = np.random.default_rng(seed)
        at, height = start, self.log_likelihood(start)
        for step in range(1, n_kept * every + 1):
            other, level = self.at(rng.standard_normal(self.size)), height + float(np.log(rng.uniform()))
            angle = float(rng.uniform(0.0, 2 * np.pi))
            low, high = angle - 2 * np.pi, angle
            while (height := self.log_likelihood(tried := at.turned(other, angle))) <= level:
                low, high = (angle, high) if angle < 0 else (low, angle)
                angle = float(rng.uniform(low, high))
            at = tried
            if step % every == 0:
                yield at, height


@dataclass(frozen=True, eq=False)
class Predictor:
    """Tags of new sentences."""

    process: TagProcess
    cross: Matrix  # L^-1 K(training, new)
    roots: list[Matrix]  # of the covariances of each sentence's tokens that training leaves
    chains: Chains

    @staticmethod
    def of(process: TagProcess, table: Table, lengths: list[int]) -> Predictor:
        """What the tags of these tokens are predicted from."""
        cross = solve_triangular(process.root, process.kernel(process.table, table), lower=True)
        roots, start = [], 0
        for length in lengths:
            own = slice(start, start + length)
            prior = process.kernel(table[own])
            rest = prior - cross[:, own].T @ cross[:, own] + JITTER * np.diag(prior.diagonal())
            values, vectors = np.linalg.eigh(rest)
            roots.append(vectors * np.sqrt(np.maximum(values, 0.0)))
            start += length
        return Predictor(process, cross, roots, Chains.of(lengths, process.chains.n_tags))

    def marginals(self, values: Values, rng: np.random.Generator | None = None) -> Matrix:
        """The probability of each tag at each token: at the mean of its latent values, or at a draw of them."""
        f = self.cross.T @ values.tokens
        if rng is not None:
            start = 0
            for root in self.roots:
                f[start : start + len(root)] += root @ rng.standard_normal((len(root), f.shape[1]))
                start += len(root)
        return self.chains.marginals(f, self.process.spread * values.neighbours)[0]
