r"""The choice of the structures through which a sparse process knows its function.

The greedy choice adds the candidate that raises the variational bound most. With the covariances
:math:`\tilde K` of the candidates that those chosen before leave, :math:`\tilde E = \tilde K \Sigma^{-1} \tilde K^T`
over the data and their noise :math:`\Sigma`, and :math:`M = \tilde K + \tilde K C^{-1} \tilde K^T` with the present
covariance :math:`C` of the targets, a candidate raises it by

.. math:: \tfrac12 \left( \frac{t^2}{M_{cc}} - \log \frac{M_{cc}}{\tilde K_{cc}}
          + \frac{\tilde E_{cc}}{\tilde K_{cc}} \right), \qquad t = \tilde K C^{-1} z .

Choosing a structure subtracts a column times itself from both :math:`\tilde K` and :math:`M`, as in a Cholesky factor
with pivots, so that after one product over all data (see :class:`Moments`) no step reads the data again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.blas import blas_threads
from espalier.gp.parameters import Vector

Places = NDArray[np.intp]

NEW = 1e-8  # a structure tells something new if the others leave it this share of its variance
_ROUNDS = 20  # in which clusters move


class Moments(NamedTuple):
    """What data tell of some structures, whatever combinations of these are the inducing variables.

    With the covariances ``K`` of the structures (rows) with the data, their noise, and the covariance ``C`` of the
    targets without the function (noise and mean):

    Attributes
    ----------
    by_noise
        ``K noise^-1 K^T``
    by_total
        ``K C^-1 K^T``
    slope
        ``K C^-1 z``; one column for each column of targets. The greedy choice takes the mean gain of these.
    """

    by_noise: Vector
    by_total: Vector
    slope: Vector

    def part(self, places: Places) -> Moments:
        """Those of some of the structures."""
        square = np.ix_(places, places)
        return Moments(self.by_noise[square], self.by_total[square], self.slope[places])


@blas_threads()
def moments(cross: Vector, noise: Vector, z: Vector, columns: Vector) -> Moments:
    """Read the data once."""
    root = np.sqrt(noise)
    scaled = cross / root
    by_noise = scaled @ scaled.T
    slope = scaled @ (z.T / root).T
    if not columns.shape[1]:
        return Moments(by_noise, by_noise, slope)
    seen = columns / root[:, None]
    half = np.linalg.cholesky(np.eye(columns.shape[1]) + seen.T @ seen)
    through = np.linalg.solve(half, seen.T)
    told = through @ scaled.T
    return Moments(by_noise, by_noise - told.T @ told, slope - told.T @ (through @ (z.T / root).T))


@blas_threads()
def greedy(inducing: Vector, told: Moments, most: int, least_gain: float = -np.inf) -> Places:
    """Choose structures one by one, each time the one that raises the variational bound most.

    ``inducing`` holds the covariances of the candidates. The choice ends after ``most`` structures, where no candidate
    is new, or where none raises the bound by ``least_gain``. Returns their places, in order.
    """
    left, whole, noisy = _Left.of(inducing), _Left.of(inducing + told.by_total), told.by_noise.diagonal().copy()
    slope, floor = told.slope.reshape(len(inducing), -1).copy(), NEW * inducing.diagonal()
    columns = np.empty((most, len(inducing)))  # of what is left of ``by_noise``, for each structure that was chosen
    inner = np.empty(most)
    places: list[int] = []
    for k in range(most):
        is_new = left.diagonal > floor
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = whole.diagonal / left.diagonal
            gain = 0.5 * ((slope**2).mean(axis=1) / whole.diagonal - np.log(ratio) + noisy / left.diagonal)
        gain[~is_new] = -np.inf
        best = int(np.argmax(gain))
        if not gain[best] >= max(least_gain, -np.finfo(float).max):
            break
        taken = left.taken.T[:k]
        own = taken[:, best]
        column = told.by_noise[:, best] - own @ columns[:k] + (own * inner[:k] - columns[:k, best]) @ taken
        root = np.sqrt(left.diagonal[best])
        columns[k], inner[k] = column / root, column[best] / left.diagonal[best]
        height = slope[best] / np.sqrt(whole.diagonal[best])
        own = left.take(best)
        noisy += own * (own * inner[k] - 2 * columns[k])
        slope -= np.outer(whole.take(best), height)
        places.append(best)
    return np.array(places, np.intp)


@blas_threads()
def least_explained(inducing: Vector, most: int) -> Places:
    """Choose each time the structure of which those before leave most: pivots of a Cholesky factor."""
    left, floor = _Left.of(inducing), NEW * inducing.diagonal()
    places: list[int] = []
    while len(places) < most:
        shown = np.where(left.diagonal > floor, left.diagonal, -np.inf)
        best = int(np.argmax(shown))
        if not shown[best] > 0:
            break
        left.take(best)
        places.append(best)
    return np.array(places, np.intp)


@blas_threads()
def in_order(inducing: Vector, order: Places, most: int) -> Places:
    """The first structures of some order that tell something new."""
    left, floor = _Left.of(inducing), NEW * inducing.diagonal()
    places: list[int] = []
    for place in order.tolist():
        if len(places) < most and left.diagonal[place] > floor[place]:
            left.take(place)
            places.append(place)
    return np.array(places, np.intp)


def medoids(inducing: Vector, most: int, rng: np.random.Generator) -> Places:
    """The middles of clusters: of each, the structure that is nearest to all others of its cluster."""
    own = inducing.diagonal()
    away = np.maximum(own[:, None] + own - 2 * inducing, 0.0)
    middles = [int(np.argmin(away.sum(axis=1)))]
    near = away[middles[0]].copy()
    while len(middles) < min(most, len(own)) and near.max() > 0:
        middles.append(int(rng.choice(len(near), p=near / near.sum())))
        near = np.minimum(near, away[middles[-1]])
    found = np.array(middles)
    for _ in range(_ROUNDS):
        cluster = away[:, found].argmin(axis=1)
        moved = found.copy()
        for place in range(len(found)):
            members = np.flatnonzero(cluster == place)
            if len(members):
                moved[place] = members[away[np.ix_(members, members)].sum(axis=1).argmin()]
        if (moved == found).all():
            break
        found = moved
    rest = np.setdiff1d(rng.permutation(len(own)), found, assume_unique=True)
    return in_order(inducing, np.concatenate([found, rest]), most)


@dataclass(eq=False)
class _Left:
    """What a Cholesky factor with pivots leaves of a matrix; it never changes the matrix."""

    matrix: Vector
    diagonal: Vector
    taken: Vector  # the columns of the factor
    n: int = 0

    @staticmethod
    def of(matrix: Vector) -> _Left:
        return _Left(matrix, matrix.diagonal().copy(), np.empty((len(matrix), 0)))

    def take(self, place: int) -> Vector:
        """Take a pivot; return the new column of the factor."""
        if self.n == self.taken.shape[1]:
            wider = np.empty((len(self.matrix), max(16, 2 * self.n)), order="F")
            wider[:, : self.n] = self.taken
            self.taken = wider
        before = self.taken[:, : self.n]
        column: Vector = (self.matrix[:, place] - before @ before[place]) / np.sqrt(self.diagonal[place])
        self.taken[:, self.n] = column
        self.n += 1
        self.diagonal = self.diagonal - column**2
        return column
