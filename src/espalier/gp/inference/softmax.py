r"""Laplace's approximation for several classes, with a latent function for each and one covariance matrix for all.

At the mode, minus the second derivative of the log likelihood is :math:`W = D - \Pi \Pi^T`: :math:`D` has the
probabilities of all classes on its diagonal, :math:`\Pi` stacks these diagonals. With

.. math:: E_c = D_c^{1/2} (I + D_c^{1/2} K D_c^{1/2})^{-1} D_c^{1/2}, \qquad M = \sum_c E_c,

the blocks of :math:`(K + W^{-1})^{-1}` are :math:`Q_{ab} = [a = b] E_a - E_a M^{-1} E_b`, which exists although
:math:`W` is singular, and :math:`|I + K W| = |M| \prod_c |I + D_c^{1/2} K D_c^{1/2}|` (Rasmussen and Williams 2006,
section 3.5, whose algorithm leaves :math:`|M|` out of the evidence).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from espalier.blas import blas_threads
from espalier.gp.cholesky import Factor, factorize
from espalier.gp.inference.newton import Climb
from espalier.gp.inference.sites import Cotangent
from espalier.gp.likelihoods.softmax import Codes, Softmax
from espalier.gp.likelihoods.weighted import WeightedTargets
from espalier.gp.parameters import Vector

Targets = Codes | WeightedTargets[Codes]

MAX_STEPS = 100
_CLOSE = 1e-10  # distance to the mode at which to stop, relative to the largest latent value


@dataclass(frozen=True, eq=False)
class SoftmaxPosterior:
    """The most probable latent values of all classes, and the normal approximation around them.

    Arrays have a row for each training example and a column for each class.
    """

    dual: Vector
    latent: Vector  # K @ dual
    probabilities: Vector  # at the mode
    weight: Vector  # how often each target counts
    blocks: list[Vector]  # E_c
    whole: Factor  # of their sum M
    log_evidence: float

    @property
    def near(self) -> Vector:
        """From where to look for the mode at other covariances."""
        return self.dual

    @blas_threads()
    def mean(self, cross: Vector) -> Vector:
        """The mean of each function at new examples, from their covariances with training examples (rows)."""
        return np.asarray(cross.T @ self.dual)

    @blas_threads()
    def covariances(self, cross: Vector, prior: Vector) -> Vector:
        """The covariances of the functions at each new example: one matrix for each."""
        told = [block @ cross for block in self.blocks]
        shared = np.stack([self.whole.half_solve(own) for own in told])
        out: Vector = np.einsum("akm,bkm->mab", shared, shared)
        for c, own in enumerate(told):
            out[:, c, c] += np.maximum(prior - (cross * own).sum(axis=0), 0.0)
        return out

    def left_out(self, K: Vector) -> tuple[Vector, Vector]:
        """The mean and the covariances of the latent values of each example given all others."""
        blocks = self._posterior_blocks(K)
        curvature = self.weight[:, None, None] * _curvature(self.probabilities)
        identity = np.eye(curvature.shape[1])
        away = np.asarray(np.linalg.solve(identity - blocks @ curvature, blocks))
        away = 0.5 * (away + away.transpose(0, 2, 1))
        # The dual is the slope of the log likelihood at the mode.
        return self.latent - np.einsum("nab,nb->na", away, self.dual), away

    def _posterior_blocks(self, K: Vector) -> Vector:
        """The covariances of the latent values of each training example, given all."""
        return self.covariances(K, K.diagonal())

    def _times(self, right: Vector) -> Vector:
        """``Q @ right``, with a column of ``right`` for each class."""
        own = np.stack([block @ right[:, c] for c, block in enumerate(self.blocks)], axis=1)
        shared = self.whole.solve(own.sum(axis=1))
        return own - np.stack([block @ shared for block in self.blocks], axis=1)


@blas_threads()
def condition(
    K: Vector, likelihood: Softmax, targets: Targets, offset: Vector | float = 0.0, near: Vector | None = None
) -> SoftmaxPosterior:
    """Climb to the mode by Newton's method; ``near`` is the dual of a mode nearby, with a column for each class."""
    codes, weight = _counted(targets)

    def height_of(dual: Vector, f: Vector) -> float:
        return float(weight @ likelihood.log_density(f + offset, codes) - 0.5 * (dual * f).sum())

    zero = np.zeros((len(K), likelihood.n_classes))
    observed = np.zeros(zero.shape)
    observed[np.arange(len(K)), codes] = 1.0
    climb = Climb.start(K, zero, near, height_of)
    for _ in range(MAX_STEPS):
        f = climb.latent
        at = _around(K, climb.dual, f, likelihood.probabilities(f + offset), weight)
        p = at.probabilities
        wanted = weight[:, None] * (p * f - p * (p * f).sum(axis=1, keepdims=True) + observed - p)
        step = wanted - at._times(K @ wanted) - climb.dual
        move = K @ step
        if climb.ends(move, _CLOSE):
            break
        climb.advance(step, move)
    return replace(at, log_evidence=climb.height + at.log_evidence)


@blas_threads()
def cotangent(
    given: SoftmaxPosterior, K: Vector, likelihood: Softmax, targets: Targets, offset: Vector | float = 0.0
) -> Cotangent:
    """The derivatives of the log evidence at the mode."""
    p, dual = given.probabilities, given.dual
    out: Vector = -np.sum(given.blocks, axis=0)
    for block in given.blocks:
        half = given.whole.half_solve(block)
        out += half.T @ half
    out *= 0.5
    blocks = given._posterior_blocks(K)
    own = np.einsum("naa->na", blocks)
    mixed = np.einsum("nab,nb->na", blocks, p)
    both = (p * mixed).sum(axis=1, keepdims=True)
    # The derivative of minus half the log determinant by the mode.
    moves = -0.5 * given.weight[:, None] * p * (own - (p * own).sum(axis=1, keepdims=True) - 2 * mixed + 2 * both)
    moves -= given._times(K @ moves)
    half = 0.5 * (0.5 * dual + moves)
    out += dual @ half.T + half @ dual.T
    return Cotangent(np.asarray(out), {})


@blas_threads()
def around(K: Vector, dual: Vector, latent: Vector, targets: Targets, log_evidence: float) -> SoftmaxPosterior:
    """The normal approximation around a mode that is known, with its evidence."""
    at = _around(K, dual, latent, Softmax(dual.shape[1]).probabilities(latent), _counted(targets)[1])
    return replace(at, log_evidence=log_evidence)


def _counted(targets: Targets) -> tuple[Codes, Vector]:
    """The numbers of classes, and how often each counts."""
    if isinstance(targets, WeightedTargets):
        return targets.targets, targets.weight
    return targets, np.ones(len(targets))


def _around(K: Vector, dual: Vector, f: Vector, p: Vector, weight: Vector) -> SoftmaxPosterior:
    """The normal approximation around some latent values; its evidence lacks the height of the log posterior."""
    blocks, volume = [], 0.0
    for own in np.sqrt(weight[:, None] * p).T:
        factor = factorize(own[:, None] * K * own, 1.0)
        volume += factor.log_determinant
        block = factor.inverse_in_place()
        block *= own[:, None]
        block *= own
        blocks.append(block)
    whole = factorize(np.sum(blocks, axis=0), 0.0)
    volume += whole.log_determinant - float(np.log(weight).sum())
    return SoftmaxPosterior(dual, f, p, weight, blocks, whole, -0.5 * volume)


def _curvature(p: Vector) -> Vector:
    """Minus the second derivative of each log likelihood: a matrix for each example."""
    out: Vector = -p[:, :, None] * p[:, None, :]
    out[:, np.arange(p.shape[1]), np.arange(p.shape[1])] += p
    return out
