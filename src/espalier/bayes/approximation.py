"""``approximate``: hyperparameters by a normal distribution around their mode, on a central composite design."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from espalier.bayes.density import Density, density_of
from espalier.bayes.design import central_composite
from espalier.bayes.draws import Draws
from espalier.bayes.marginalized import Marginalized
from espalier.bayes.mode import Mode, find_mode
from espalier.bayes.sampling import start_of
from espalier.blas import blas_threads
from espalier.errors import warn_user
from espalier.gp.optimize import FAILURES
from espalier.gp.parameters import Vector
from espalier.jobs.bar import reporting
from espalier.jobs.budget import naming_a_way_out
from espalier.jobs.progress import Report
from espalier.jobs.schedule import Schedule

MODE_SHARE = 0.5  # of the work, for progress
POOR = 0.4  # the agreement below which a warning says that the density is not like a normal one


def approximate(model: Any, *, progress: Report | None = None, verbose: bool = False) -> Marginalized:
    """Average over hyperparameters cheaply: by some dozens of points around the most probable ones.

    The density is climbed in coordinates without bounds (:mod:`espalier.bayes.density`; for a positive number, nearly
    its logarithm), and its curvature at the mode defines a normal distribution. Points of a central composite design
    stand for it, and each point is weighted by how much more or less probable it really is.

    Parameters
    ----------
    model
        A fitted learner, as for :func:`~espalier.bayes.sample`.
    progress, verbose
        As for every learner: see :class:`~espalier.gram.estimator.Learner`.

    Returns
    -------
    The averaged learner; its attribute ``draws`` has the points and their weights.

    Notes
    -----
    For ``d`` numbers this costs about ``20 + 2 d`` evaluations with a gradient, and one without for each point: 3 for
    one number, 9 for two, 15 for three, 27 for five, 149 for ten, and at most ``6 d + 1`` for more.

    A warning says when the result is doubtful: if the density does not curve downwards in some direction, or if the
    real weights of the points are very uneven. :func:`~espalier.bayes.sample` needs no normal distribution.

    Examples
    --------
    >>> from espalier import GPRegressor, Learned, SubsetTree, fixed
    >>> from espalier.gp import Beta, LogNormal
    >>> trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(S (A c) (B c))"]
    >>> kernel = SubsetTree(Learned(0.5, prior=Beta(3, 3)), fixed(1.0))
    >>> model = GPRegressor(kernel, noise=Learned(0.1, prior=LogNormal(0.1)))
    >>> model = model.fit(trees, [2.0, 2.1, 0.9, 1.0])
    >>> averaged = approximate(model)
    >>> len(averaged.draws)
    9
    """
    check_is_fitted(model)
    with naming_a_way_out(), reporting("averaging over hyperparameters", progress, verbose) as report:
        schedule = Schedule.of(model.n_threads, model.memory, report, what="averaging over hyperparameters")
        with blas_threads(model.n_threads):
            density = density_of(model)
            mode = find_mode(density, start_of(model, density))
            schedule.done(MODE_SHARE)
            draws = _weighted(density, mode, schedule.between(MODE_SHARE, 1.0))
        schedule.done()
    if mode.n_flat:
        warn_user(
            f"The density of the hyperparameters does not curve downwards in {mode.n_flat} of {len(density)} "
            "directions at its highest point, so a normal distribution describes it badly. Give the numbers priors, "
            "or use espalier.bayes.sample."
        )
    elif draws.agreement < POOR:
        warn_user(
            f"The density of the hyperparameters is unlike a normal one: the weights of the points agree with it to "
            f"{draws.agreement:.0%}. Use espalier.bayes.sample, which does not assume it."
        )
    return Marginalized(model, draws)


def _weighted(density: Density, mode: Mode, schedule: Schedule) -> Draws:
    """The points of the design with their weights."""
    points, normal = central_composite(len(density))
    heights = np.empty(len(points))
    for k, z in enumerate(points):
        heights[k] = _height(density, mode.at(z)) if k else mode.log_density
        schedule.done((k + 1) / len(points))
    # How much more probable each point is than under the normal distribution, relative to the mode.
    log_ratio = heights - mode.log_density + 0.5 * (points**2).sum(axis=1)
    log_weights = np.log(normal) + log_ratio
    weights = np.exp(log_weights - logsumexp(log_weights))
    values = np.array([list(density.values(mode.at(z)).values()) for z in points])
    return Draws(
        "design",
        density.paths,
        values[None],
        heights[None],
        weights[None],
        values[0],
        density.n_evaluations,
        agreement=float(1.0 / np.sum(weights**2 / normal)),
    )


def _height(density: Density, u: Vector) -> float:
    """The log density; minus infinity where the evidence cannot be computed."""
    try:
        return density.value(u)
    except FAILURES:
        return -np.inf
