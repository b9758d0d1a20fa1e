r"""Sparse variational inference for any likelihood: sites of all targets, known through a few inducing variables.

Each target has a site, as in ``variational``: a normal factor with a precision :math:`\tau` and a natural mean
:math:`\nu`. The best normal of the inducing variables has such sites (Adam et al. 2021), so it is that of normal
targets :math:`\nu / \tau` with the noise :math:`1 / \tau`, and so is the derivative of the bound by the covariances
(``sparse.evaluate`` with the power 0 gives both). A step of natural gradients replaces a site by the mean of minus the
second derivative of its log density, and its slope by that of the first.

Steps are taken batch by batch, always the same batches in the same order. What a batch told before is taken out of the
sums :math:`A \tau A^T` and :math:`A \nu` and what it tells now is put in, so that steps are not noisy and settle. For
normal targets, one step of size 1 with all of them is the variational bound of regression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from espalier.blas import blas_threads
from espalier.gp.cholesky import factorize
from espalier.gp.inference.sites import Sites, starting
from espalier.gp.inference.sparse import Evaluated, SparseCovariances, SparsePosterior, evaluate
from espalier.gp.likelihoods.base import Expected, Likelihood
from espalier.gp.likelihoods.gaussian import Gaussian, Observed
from espalier.gp.parameters import Vector

BATCH, SWEEPS, CLOSE = 1_000, 500, 1e-6
LEAST = 1e-10  # a site with a smaller precision says nothing
_SHORTEST = 0.05  # of steps

Tell = Callable[[slice, Vector, Vector], Expected]  # of a batch: its rows, the means and the variances of latent values


class Settled(NamedTuple):
    """The sites of all targets, the bound, and whether the sites had come to rest."""

    sites: Sites
    bound: float
    is_settled: bool


@dataclass(frozen=True, eq=False)
class SparseSitePosterior(SparsePosterior):
    """A latent function given the sites of its targets; ``cross`` has the mean's columns as its last rows."""

    sites: Sites = field(kw_only=True)
    latent: tuple[Vector, Vector] = field(kw_only=True)  # the means and the variances of the latent values
    is_settled: bool = field(default=True, kw_only=True)

    @blas_threads()
    def mean(self, cross: Vector, columns: Vector) -> Vector:
        return super().mean(*self._split(cross))

    @blas_threads()
    def variance(self, cross: Vector, prior: Vector, columns: Vector) -> Vector:
        kernel, own = self._split(cross)
        return super().variance(kernel, prior - (own**2).sum(axis=1), own)

    def left_out(self) -> tuple[Vector, Vector]:
        """The mean and the variance of each latent value given all targets but its own."""
        mean, variance = self.out
        return mean, np.maximum(variance - 1 / self.sites.precision, 0.0)

    @property
    def near(self) -> Sites:
        """From where to begin at other covariances."""
        return self.sites

    def _split(self, cross: Vector) -> tuple[Vector, Vector]:
        n = len(self.dual)
        return cross[:n], np.ascontiguousarray(cross[n:].T)


@blas_threads()
def settle(white: Vector, spare: Vector, tell: Tell, sites: Sites, batch: int = BATCH, close: float = CLOSE) -> Settled:
    """Sweep over all batches until no latent mean moves by more than ``close`` of its deviation."""
    n = white.shape[1]
    batches = [slice(start, start + batch) for start in range(0, n, batch)]
    bound, step, last = -np.inf, 1.0, np.inf
    best = sites
    for _ in range(SWEEPS):
        whole, slope = (white * sites.precision) @ white.T, white @ sites.natural
        height, moved = -_divergence(whole, slope), 0.0
        precision, natural = sites.precision.copy(), sites.natural.copy()
        told = 0.0
        for rows in batches:
            part = white[:, rows]
            mean, variance = _latent(whole, slope, part, spare[rows])
            expected = tell(rows, mean, variance)
            told += float(expected.value.sum())
            wanted = np.maximum(expected.curvature, LEAST)
            change = step * (wanted - precision[rows])
            pull = step * (expected.slope + mean * wanted - natural[rows])
            moved = max(moved, float(np.abs(np.sqrt(variance) * (pull - mean * change)).max(initial=0.0)))
            precision[rows] += change
            natural[rows] += pull
            whole = whole + (part * change) @ part.T
            slope = slope + part @ pull
        if len(batches) == 1:  # what was told is that of the sites before the step
            height += told
            if height < bound - 1e-9 * (1 + abs(bound)) and step > _SHORTEST:
                sites, step = best, 0.5 * step
                continue
            best, bound = sites, height
        sites = Sites(precision, natural)
        if moved <= close * step:
            break
        if len(batches) > 1:  # many equal structures with the same label may swing together
            nearer = moved / step < last
            step, last = min(1.1 * step, 1.0) if nearer else max(0.5 * step, _SHORTEST), moved / step
    return Settled(sites, bound_of(white, spare, tell, sites, batches), moved <= close * step)


@blas_threads()
def bound_of(white: Vector, spare: Vector, tell: Tell, sites: Sites, batches: list[slice]) -> float:
    """The lower bound of the log evidence: the fit, less the divergence of the inducing variables."""
    whole, slope = (white * sites.precision) @ white.T, white @ sites.natural
    fit = sum(float(tell(rows, *_latent(whole, slope, white[:, rows], spare[rows])).value.sum()) for rows in batches)
    return fit - _divergence(whole, slope)


def _latent(whole: Vector, slope: Vector, part: Vector, spare: Vector) -> tuple[Vector, Vector]:
    """The means and the variances of latent values."""
    factor = factorize(whole.copy(), 1.0)
    mean = part.T @ factor.solve(slope)
    return mean, spare + (factor.half_solve(part) ** 2).sum(axis=0)


def _divergence(whole: Vector, slope: Vector) -> float:
    """Of the inducing variables given the sites from independent ones of variance 1."""
    factor = factorize(whole.copy(), 1.0)
    mean = factor.solve(slope)
    return 0.5 * float(factor.inverse_diagonal().sum() + mean @ mean - len(mean) + factor.log_determinant)


@blas_threads()
def condition(
    at: SparseCovariances,
    likelihood: Likelihood[Any],
    targets: Any,
    columns: Vector,
    near: Sites | None = None,
    *,
    batch: int | None = None,
    close: float = CLOSE,
) -> SparseSitePosterior:
    """The latent function given the targets, through inducing structures; the arguments are those of ``evaluate``.

    If no size of a batch is given, there are two or more: sites that all change at once may swing.
    """
    n = len(at.diagonal)
    batch = min(BATCH, -(-n // 2)) if batch is None else batch
    factor = factorize(at.inducing.copy(), 0.0)
    part = factor.half_solve(at.cross)
    spare = np.maximum(at.diagonal - np.einsum("in,in->n", part, part), 0.0)

    def tell(rows: slice, mean: Vector, variance: Vector) -> Expected:
        return likelihood.expected(mean, variance, rows_of(targets, rows))

    found = settle(np.vstack([part, columns.T]), spare, tell, starting(near, n), batch, close)
    return given_sites(at, found.sites, columns, found.bound, is_settled=found.is_settled)


def given_sites(
    at: SparseCovariances, sites: Sites, columns: Vector, bound: float, *, is_settled: bool = True
) -> SparseSitePosterior:
    """The latent function under some sites."""
    found = replaced(at, sites, columns)
    given = found.posterior
    own = {part.name: getattr(given, part.name) for part in fields(given)}
    return SparseSitePosterior(
        **own | {"log_evidence": bound}, sites=sites, latent=found.latent(), is_settled=is_settled
    )


def replaced(at: SparseCovariances, sites: Sites, columns: Vector) -> Evaluated:
    """Regression on the normal targets that sites stand for."""
    n = len(sites.precision)
    targets = Observed(sites.natural / sites.precision, np.zeros(n, np.intp), ("",), sites.precision, np.zeros(n))
    return evaluate(at, Gaussian(1.0), targets, columns)


def cotangent(given: SparseSitePosterior, at: SparseCovariances, columns: Vector) -> SparseCovariances:
    """The derivatives of the bound by the covariances, at its top."""
    return replaced(at, given.sites, columns).cotangent().covariances


def rows_of(targets: Any, rows: slice) -> Any:
    """Some of the targets: an array, or a tuple of arrays."""
    return targets[rows] if isinstance(targets, np.ndarray) else type(targets)(*(own[rows] for own in targets))
