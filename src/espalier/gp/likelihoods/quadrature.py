"""Means over a normal latent value, and over one that a log-concave density has tilted, by quadrature.

For tilted values integrals refine themselves. With ``f = mean + deviation * z``, the logarithm of the integrand,
``log p(y | f) - z**2 / 2``, bends down at least as much as that of a normal density. So it has one peak, and it is
negligible farther than 9 from there. Panels around the peak have its own width, and those farther away are wider. Each
target then splits its worst panel until the estimated error is small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from espalier.gp.parameters import Vector

_FINE, _COARSE = (np.polynomial.legendre.leggauss(n) for n in (16, 8))
_REACH = 9.0  # the integrand is below exp(-40) of its peak there
_TOLERANCE = 1e-10  # of an integral, relative
_MOST_ROUNDS = 100  # of splitting
_MOST_STEPS = 200  # to the peak
# Equal steps: for smooth functions of a normal value as exact as any rule, and sure where a function bends fast.
_STEPS = np.linspace(-9.0, 9.0, 289)
_STEP_WEIGHTS = np.exp(-0.5 * _STEPS**2) / np.exp(-0.5 * _STEPS**2).sum()

Function = Callable[[Vector], Vector]
Derivatives = Callable[[Vector], tuple[Vector, Vector]]


@dataclass(frozen=True, eq=False)
class Tilted:
    """Normal latent values times a density, as weighted places; both arrays have a row for each place."""

    log_mass: Vector  # the logarithm of the mean of the density
    z: Vector  # places, in deviations from the mean of the normal
    weight: Vector  # of each place; those of one latent value add up to 1

    def mean(self, values: Vector) -> Vector:
        """The mean of a function that has these values at the places."""
        return np.asarray((self.weight * values).sum(axis=0))


def tilted(log_density: Function, slopes: Derivatives, mean: Vector, variance: Vector) -> Tilted:
    """Multiply each of some normal densities by a density of a target.

    ``log_density``, at one latent value for each target, must be concave. ``slopes`` are its first derivative, and its
    second with the sign turned.
    """
    mean, variance = np.broadcast_arrays(np.asarray(mean, np.float64), np.asarray(variance, np.float64))
    deviation = np.sqrt(variance)
    with np.errstate(over="ignore", invalid="ignore"):  # far from its peak a density may be 0, and its slope infinite
        peak = _peak(slopes, mean, deviation)

        def log_integrand(z: Vector) -> Vector:
            return np.asarray(log_density(mean + deviation * z) - 0.5 * z**2)

        highest = log_integrand(peak)

        def integrand(z: Vector) -> Vector:
            return np.asarray(np.exp(log_integrand(z) - highest))

        left, right, total = _panels_of(integrand, peak)
        z, weight = _places(integrand, left, right)
    return Tilted(highest + np.log(total) - 0.5 * np.log(2 * np.pi), z, weight / total)


def log_normal_mean(log_density: Function, slopes: Derivatives, mean: Vector, variance: Vector) -> Vector:
    """Return the logarithm of the mean of a density for each of some normal latent values; as for :func:`tilted`."""
    return tilted(log_density, slopes, mean, variance).log_mass


def normal_means(functions: Callable[[Vector], tuple[Vector, ...]], mean: Vector, variance: Vector) -> list[Vector]:
    """Return the mean of each of some smooth functions of normal latent values."""
    deviation, totals = np.sqrt(variance), None
    for step, weight in zip(_STEPS, _STEP_WEIGHTS, strict=True):
        own = [weight * value for value in functions(mean + deviation * step)]
        totals = own if totals is None else [total + value for total, value in zip(totals, own, strict=True)]
    assert totals is not None
    return totals


def _peak(slopes: Derivatives, mean: Vector, deviation: Vector) -> Vector:
    """Where each integrand is largest: Newton's steps between bounds that close in."""
    z = np.zeros(len(mean))
    slope, curvature = slopes(mean)
    low, high = np.minimum(0.0, deviation * slope), np.maximum(0.0, deviation * slope)
    for step in range(_MOST_STEPS):
        rise, bend = deviation * slope - z, 1 + deviation**2 * curvature
        if (np.abs(rise) <= 1e-3 * np.sqrt(bend)).all():
            break
        low, high = np.where(rise > 0, z, low), np.where(rise < 0, z, high)
        newton = z + rise / bend
        inside = (low < newton) & (newton < high) & (step % 4 != 3)
        farthest = 2.0**step  # bounds may be far too wide
        z = np.where(inside, newton, z + np.clip(0.5 * (low + high) - z, -farthest, farthest))
        slope, curvature = slopes(mean + deviation * z)
    return z


def _edges(integrand: Function, peak: Vector, side: int) -> Vector:
    """The edges of panels from each peak to one side: the first has its width, the others at most double."""
    width = np.full(len(peak), 1.5)  # a normal density falls by more than exp(-1) there
    while (narrower := integrand(peak + side * 0.5 * width) < np.exp(-1)).any():
        width[narrower] *= 0.5
    n_panels = 1 + int(np.ceil(np.log2(_REACH / width.min(initial=1.0))))
    distance: Vector = width * (_REACH / width) ** np.linspace(0.0, 1.0, n_panels)[:, None]
    return peak + side * distance


def _panels_of(integrand: Function, peak: Vector) -> tuple[Vector, Vector, Vector]:
    """Panels around each peak, of which the worst were split until the integrals, which are returned, are exact."""
    edges = np.concatenate([_edges(integrand, peak, -1)[::-1], [peak], _edges(integrand, peak, 1)])
    left, right = edges[:-1], edges[1:]
    parts, errors = _panels(integrand, left, right)
    columns = np.arange(len(peak))
    for _ in range(_MOST_ROUNDS):
        if (errors.sum(axis=0) <= _TOLERANCE * parts.sum(axis=0)).all():
            break
        worst = errors.argmax(axis=0), columns
        begin, end = left[worst], right[worst]
        middle = 0.5 * (begin + end)
        halves, own = _panels(integrand, np.stack([begin, middle]), np.stack([middle, end]))
        right, left = right.copy(), np.concatenate([left, middle[None]])
        right[worst], parts[worst], errors[worst] = middle, halves[0], own[0]
        right = np.concatenate([right, end[None]])
        parts, errors = np.concatenate([parts, halves[1:]]), np.concatenate([errors, own[1:]])
    return left, right, np.asarray(parts.sum(axis=0))


def _panels(integrand: Function, left: Vector, right: Vector) -> tuple[Vector, Vector]:
    """The integral over each panel of each target, and how much fewer nodes change it."""
    middle, half = 0.5 * (left + right), 0.5 * (right - left)
    fine, coarse = (
        half * sum(weight * _rows(integrand, middle + half * node) for node, weight in zip(*rule, strict=True))
        for rule in (_FINE, _COARSE)
    )
    return fine, np.abs(fine - coarse)


def _places(integrand: Function, left: Vector, right: Vector) -> tuple[Vector, Vector]:
    """The nodes of all panels, and the integrand there times the weight of each."""
    middle, half = 0.5 * (left + right), 0.5 * (right - left)
    z = np.concatenate([middle + half * node for node in _FINE[0]])
    weight = np.concatenate([half * weight for weight in _FINE[1]])
    return z, weight * _rows(integrand, z)


def _rows(integrand: Function, z: Vector) -> Vector:
    """The integrand at several places for each target."""
    return np.stack([integrand(row) for row in z])
