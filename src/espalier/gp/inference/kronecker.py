r"""Exact inference for several tasks where every item has every task, without the matrix of all targets.

With covariances :math:`K` of n items and :math:`B` of p tasks, and the diagonal :math:`D` of the noise of each task,
the covariance of the targets is :math:`C = K \otimes B + I \otimes D`. Dividing each task by its noise makes it
:math:`K \otimes B' + I` with :math:`B' = D^{-1/2} B D^{-1/2}`, so that the eigenvectors of :math:`K = U S U^T` and
:math:`B' = V L V^T` diagonalise it: its eigenvalues are :math:`\Lambda_{ij} = S_i L_j + 1`. With targets :math:`Z`
(n x p), the dual weights are

.. math:: A = U \left( (U^T Z D^{-1/2} V) / \Lambda \right) V^T D^{-1/2}

and the derivatives of the log evidence are

.. math::

   \bar K = \tfrac12 \left( A B A^T - U \, \mathrm{diag}(\Lambda^{-1} L) \, U^T \right), \qquad
   \bar B = \tfrac12 \left( A^T K A - D^{-1/2} V \, \mathrm{diag}(S^T \Lambda^{-1}) \, V^T D^{-1/2} \right).

Time is O(n^3 + p^3 + n^2 p), memory O(n^2 + np). Flat vectors hold all tasks of the first item, then those of the next.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import eigh

from espalier.blas import blas_threads
from espalier.gp.cholesky import NotPositiveDefiniteError
from espalier.gp.inference.conditioned import Weights
from espalier.gp.likelihoods.gaussian import Gaussian, Observed
from espalier.gp.parameters import Vector
from espalier.kernels.kronecker import Factors


@dataclass(frozen=True, eq=False)
class KroneckerPosterior:
    """A process of several tasks given all their targets, with the methods of ``Conditioned``.

    In all methods ``cross`` holds the prior covariances of the training items (rows) with new items (columns), and
    ``prior`` those of the new items; results are for all tasks of each new item. There are no ``columns`` of a mean.
    """

    B: Vector  # the covariances of tasks
    sizes: tuple[Vector, Vector]  # the eigenvalues of items and of tasks
    turns: tuple[Vector, Vector]  # their eigenvectors
    noise: Vector  # of each task
    A: Vector  # the dual weights, n x p
    Z: Vector  # the targets, n x p
    log_evidence: float

    jitter: ClassVar[float] = 0.0

    @property
    def dual(self) -> Vector:
        """The weights of the training targets."""
        return self.A.ravel()

    @property
    def z(self) -> Vector:
        """The training targets."""
        return self.Z.ravel()

    @property
    def weights(self) -> Weights:
        """Those of a mean, which there is not."""
        return Weights.none(self.A.size)

    @property
    def eigenvalues(self) -> Vector:
        """Of the covariance of the targets in units of their noise, n x p."""
        return np.asarray(np.outer(*self.sizes) + 1)

    @property
    def turned(self) -> Vector:
        """The covariances of tasks in units of the noise, turned to the eigenvectors of tasks (rows)."""
        root = np.sqrt(self.noise)
        return np.asarray(self.turns[1].T @ (self.B / root[:, None]))

    @blas_threads()
    def mean(self, cross: Vector, columns: Vector) -> Vector:
        """The mean of the functions."""
        return np.asarray((cross.T @ self.A) @ self.B).ravel()

    @blas_threads()
    def variance(self, cross: Vector, prior: Vector, columns: Vector) -> Vector:
        """The variance of the functions, from the prior variances of the items."""
        squares = (self.turns[0].T @ cross) ** 2
        known = (squares.T @ (1 / self.eigenvalues)) @ self.turned**2
        # For a training example, rounding may give a value below 0.
        return np.maximum(np.outer(prior, self.B.diagonal()) - known, 0.0).ravel()

    @blas_threads()
    def covariance(self, cross: Vector, prior: Vector, columns: Vector) -> Vector:
        """The covariances of the functions, from the prior covariances of the items."""
        turned = self.turned
        half = np.einsum("im,ij,jt->ijmt", self.turns[0].T @ cross, self.eigenvalues**-0.5, turned)
        half = half.reshape(self.A.size, -1)
        out = np.kron(prior, self.B) - half.T @ half
        out[np.diag_indices_from(out)] = np.maximum(out.diagonal(), 0.0)
        return np.asarray(out)

    @blas_threads()
    def left_out(self) -> tuple[Vector, Vector]:
        """The mean and the variance of each target given all the others, as for one task."""
        precision = self.precisions()
        return (self.Z - self.A / precision).ravel(), (1 / precision).ravel()

    def precisions(self) -> Vector:
        """The diagonal of the inverse covariance of the targets, n x p."""
        items, tasks = self.turns
        return np.asarray((items**2 @ (1 / self.eigenvalues)) @ (tasks**2).T / self.noise)


@blas_threads()
def condition(K: Factors, likelihood: Gaussian, targets: Observed, columns: Vector) -> KroneckerPosterior:
    """Condition a process on the targets of all tasks; the matrix of items is overwritten."""
    n, p = len(K.items), len(K.tasks)
    Z, noise = targets.values.reshape(n, p), likelihood.variances(targets)[:p]
    root = np.sqrt(noise)
    if not (np.isfinite(K.items).all() and np.isfinite(K.tasks).all()):
        raise NotPositiveDefiniteError("The covariance matrix contains infinite values.")
    # A transpose is in the order of LAPACK, so that nothing is copied.
    S, U = eigh(K.items.T, overwrite_a=True, check_finite=False, driver="evd")
    L, V = eigh((K.tasks / root[:, None] / root).T, overwrite_a=True, check_finite=False, driver="evd")
    eigenvalues = np.outer(S, L) + 1
    if not eigenvalues.min() > 0:
        raise NotPositiveDefiniteError(
            "The covariance matrix is not positive definite: it has an eigenvalue of "
            f"{eigenvalues.min():.3g} times the noise. The kernel may not be positive semi-definite. Normalise it, or "
            "raise the lower bound of the noise."
        )
    inside = U.T @ (Z / root) @ V
    A = U @ (inside / eigenvalues) @ V.T / root
    log_determinant = np.log(eigenvalues).sum() + n * np.log(noise).sum()
    log_evidence = -0.5 * float((inside**2 / eigenvalues).sum() + log_determinant + n * p * math.log(2 * math.pi))
    return KroneckerPosterior(K.tasks, (S, L), (U, V), noise, A, Z, log_evidence)


@blas_threads()
def cotangent(given: KroneckerPosterior) -> tuple[Factors, Vector]:
    """The derivatives of the log evidence by both matrices, and by the noise variance of each target."""
    (S, L), (U, V), A = given.sizes, given.turns, given.A
    inverse, root = 1 / given.eigenvalues, np.sqrt(given.noise)
    by_items = A @ given.B @ A.T
    by_items -= (U * (inverse @ L)) @ U.T
    by_items *= 0.5
    inside, turned = U.T @ A, V / root[:, None]
    by_tasks = 0.5 * ((inside.T * S) @ inside - (turned * (S @ inverse)) @ turned.T)
    by_noise = 0.5 * (A**2 - given.precisions())
    return Factors(by_items, by_tasks), by_noise.ravel()
