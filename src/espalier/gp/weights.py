r"""The weights of a mean, integrated out: their posterior, and what their uncertainty adds to predictions.

With columns :math:`H` in units of the prior, the covariance of the targets is :math:`C' = C + H H^T`. It is never
formed. The singular values :math:`s` of :math:`L^{-1} H = U s V^T`, with :math:`C = L L^T`, give by the matrix
inversion lemma

.. math::

   \log |C'| = \log |C| + \textstyle\sum \log (1 + s^2), \qquad
   C'^{-1} = C^{-1} - L^{-T} U \frac{s^2}{1 + s^2} U^T L^{-1},

and the weights given the targets are normal with covariance :math:`V (1 + s^2)^{-1} V^T` (and 1 across V). Columns may
repeat, vanish, or outnumber the examples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from espalier.gp.cholesky import Factor
from espalier.gp.parameters import Vector


@dataclass(frozen=True, eq=False)
class Weights:
    """The posterior of the weights of a mean, in units of their prior."""

    mean: Vector
    root: Vector  # symmetric; its square is the covariance of the weights given the targets
    half: Vector  # L^-1 H
    dual: Vector  # C'^-1 = C^-1 - dual dual^T
    log_determinant: float  # log |C'| - log |C|

    @staticmethod
    def none(n: int) -> Weights:
        """The weights of no columns, for ``n`` training values."""
        empty = np.zeros((n, 0))
        return Weights(np.zeros(0), np.zeros((0, 0)), empty, empty, 0.0)

    def doubt(self, columns: Vector, half: Vector) -> Vector:
        """``D`` such that ``D^T D`` is what uncertainty in the weights adds to the covariance of new examples.

        ``columns`` are those of the mean at the new examples, ``half`` is ``L^-1`` times their covariances with the
        training examples.
        """
        return np.asarray(self.root @ (columns.T - self.half.T @ half))


def weigh(factor: Factor, columns: Vector, z: Vector) -> Weights:
    """The weights of some columns given the targets."""
    half = factor.half_solve(columns)
    left, sizes, right = np.linalg.svd(half, full_matrices=False)
    lost = np.finfo(np.float64).eps * max(half.shape) * sizes.max(initial=0.0)
    sizes[sizes <= lost] = 0.0  # rounding, of columns that repeat
    known = 1 / np.sqrt(1 + sizes**2)  # how far each direction's deviation shrank
    mean = right.T @ (sizes * known**2 * (left.T @ factor.half_solve(z)))
    root = np.eye(columns.shape[1]) - (right.T * (1 - known)) @ right
    dual = factor.half_solve(left * (sizes * known), transposed=True)
    return Weights(mean, root, half, dual, float(np.log1p(sizes**2).sum()))
