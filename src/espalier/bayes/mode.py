"""The mode of the density of hyperparameters, and its curvature there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from espalier.bayes.density import Density
from espalier.gp.optimize import FAILURES
from espalier.gp.parameters import Vector

STEP = 1e-2  # of the differences of gradients, in coordinates whose interesting part is some units wide
WIDEST = 5.0  # the largest deviation that a direction is given: the density falls off beyond it by the bounds alone
MAX_ITERATIONS = 100


@dataclass(frozen=True, eq=False)
class Mode:
    """The highest point of a density, and the normal distribution around it with the same curvature."""

    u: Vector
    log_density: float
    root: Vector  # u + root @ z has this distribution if z is standard normal
    n_flat: int  # how many directions did not curve downwards, and were given a finite width

    def at(self, z: Vector) -> Vector:
        """Coordinates from standardised ones."""
        return self.u + self.root @ z


def find_mode(density: Density, start: Vector) -> Mode:
    """Climb from some coordinates, then take central differences of the gradient."""
    u, height = _climb(density, start)
    curvature = np.empty((len(u), len(u)))
    for k in range(len(u)):
        step = np.zeros(len(u))
        step[k] = STEP
        curvature[k] = (density.gradient(u - step)[1] - density.gradient(u + step)[1]) / (2 * STEP)
    sizes, directions = np.linalg.eigh((curvature + curvature.T) / 2)
    deviations = 1 / np.sqrt(np.maximum(sizes, WIDEST**-2))
    return Mode(u, height, directions * deviations, int((sizes <= 0).sum()))


def _climb(density: Density, start: Vector) -> tuple[Vector, float]:
    best = (start, density.value(start))

    def downhill(u: Vector) -> tuple[float, Vector]:
        nonlocal best
        try:
            height, gradient = density.gradient(u)
        except FAILURES:  # far below and flat: the line search steps back
            return 10.0 * density.objective.n_targets - best[1], np.zeros(len(u))
        if height > best[1]:
            best = (u.copy(), height)
        return -height, -gradient

    options: Any = {"maxiter": MAX_ITERATIONS, "gtol": 1e-3, "ftol": 1e-9}
    minimize(downhill, start, jac=True, method="L-BFGS-B", options=options)
    return best
