"""``sample``: draws of the hyperparameters of a fitted learner, by the no-U-turn sampler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from espalier.bayes.convergence import check_convergence
from espalier.bayes.density import Density, density_of
from espalier.bayes.draws import STATISTICS, Draws
from espalier.bayes.marginalized import N_MODELS, Marginalized
from espalier.bayes.mode import Mode, find_mode
from espalier.bayes.nuts import Chain, ChainJob, NutsSettings
from espalier.blas import blas_threads
from espalier.errors import warn_user
from espalier.gp.parameters import Vector
from espalier.gp.sampling import generator
from espalier.jobs.bar import reporting
from espalier.jobs.budget import naming_a_way_out
from espalier.jobs.executor import Executor, run_jobs
from espalier.jobs.progress import Report
from espalier.jobs.schedule import Schedule
from espalier.structures.numbers import finite_number, truth_value, whole_number

LEAST_WARMUP = 20  # iterations, from which a metric can be estimated
MODE_SHARE = 0.02  # of the work, for progress
_NAMES = {"acceptance_rate": "av_metrop_accept_prob", "n_steps": "n_step"}  # mici's, where they differ from ArviZ's


def sample(
    model: Any,
    *,
    n_draws: int = 500,
    n_warmup: int = 250,
    n_chains: int = 4,
    acceptance: float = 0.8,
    max_depth: int = 8,
    n_models: int | None = N_MODELS,
    check: bool = True,
    random_state: object = 0,
    executor: Executor | None = None,
    progress: Report | None = None,
    verbose: bool = False,
) -> Marginalized:
    """Draw the hyperparameters of a fitted learner from their posterior distribution, and average over the draws.

    Fitting finds the most probable hyperparameters. This draws all plausible ones, in proportion to their probability:
    the evidence times the priors. Numbers without a prior are as probable anywhere between their bounds on a log scale.

    Parameters
    ----------
    model
        A fitted ``GPRegressor``, ``GPClassifier``, ``GPOrdinal`` or ``GPPreference``. The density is that of all its
        training examples, also if it was fitted with a pilot.
    n_draws, n_warmup, n_chains
        How many draws each chain keeps, after how many that only adapt the sampler, and how many chains there are.
    acceptance
        The mean acceptance probability that the step size aims at; raise it to .95 if transitions diverge.
    max_depth
        A draw takes at most ``2**max_depth`` evaluations of the evidence and its gradient.
    n_models
        How many draws predictions use: see :class:`Marginalized`.
    check
        Whether chains that have not converged are an error.
    random_state
        The seed: the same draws each time, for any number of threads and any executor.
    executor
        Runs the chains, such as :class:`~espalier.jobs.Processes`; one after the other if None.
    progress, verbose
        As for every learner: see :class:`~espalier.gram.estimator.Learner`. With an executor, ``progress`` is told of
        each chain at its end.

    Returns
    -------
    The averaged learner; its attribute ``draws`` has the draws.

    Raises
    ------
    UnconvergedError
        If R-hat is above 1.01, or an effective sample below 100, for any number; ``error.draws`` has all draws.
    KeyboardInterrupt
        If drawing is interrupted; any error of ``progress`` is passed on, too. ``error.draws`` has the draws of all
        chains that were complete, or, if there is none, those that the first chain has made; None if there are none.

    Notes
    -----
    Chains start around the mode, spread twice as wide as a normal distribution with the curvature of the mode. A second
    mode far away is not found: restarts of ``fit`` find it. Finding the mode and its curvature costs about
    ``20 + 2 d`` evaluations for ``d`` numbers, and each draw some 5 to 30.

    Examples
    --------
    >>> from espalier import GPRegressor, Learned, SubsetTree, fixed
    >>> from espalier.gp import Beta, LogNormal
    >>> trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(S (A c) (B c))"]
    >>> kernel = SubsetTree(Learned(0.5, prior=Beta(3, 3)), fixed(1.0))
    >>> model = GPRegressor(kernel, noise=Learned(0.1, prior=LogNormal(0.1)))
    >>> model = model.fit(trees, [2.0, 2.1, 0.9, 1.0])
    >>> averaged = sample(model, n_draws=300, n_warmup=100, acceptance=0.95)
    >>> averaged.draws.paths, averaged.draws.values.shape
    (('kernel.decay', 'noise'), (4, 300, 2))
    """
    settings = _checked(n_draws, n_warmup, acceptance, max_depth)
    n_chains, check = whole_number("n_chains", n_chains), truth_value("check", check)
    check_is_fitted(model)
    seeds = np.random.SeedSequence(int(generator(random_state).integers(2**63))).spawn(n_chains)
    with naming_a_way_out(), reporting("drawing hyperparameters", progress, verbose) as report:
        schedule = Schedule.of(model.n_threads, model.memory, report, executor, what="drawing hyperparameters")
        with blas_threads(model.n_threads):
            density = density_of(model)
            mode = find_mode(density, start_of(model, density))
        schedule.done(MODE_SHARE)
        jobs = [ChainJob(model, mode, settings, seed) for seed in seeds]
        chains = list(_run(jobs, schedule.between(MODE_SHARE, 1.0)))
        stop = next((chain.stop for chain in chains if chain.stop is not None), None)
        if stop is not None:
            stop.draws = _draws_so_far(density, mode, chains, n_draws)  # type: ignore[attr-defined]
            raise stop
        schedule.done()
    draws = _draws_of(density, mode, chains)
    if check:
        check_convergence(draws)
    if draws.n_divergent:
        warn_user(
            f"{draws.n_divergent:,} of {len(draws):,} transitions diverged, so the draws may miss a part of the "
            "distribution. Raise acceptance, such as to 0.95."
        )
    return Marginalized(model, draws, n_models)


def start_of(model: Any, density: Density) -> Vector:
    """Where a climb to the mode starts: at what the learner has learned."""
    table = getattr(model, "learned_", None)  # a file of GPPreference has none, but a kernel with the learned values
    learned = {} if table is None else table.to_dict()
    return density.coordinates({p.path: learned.get(p.path, p.start) for p in density.parameters})


def _checked(n_draws: int, n_warmup: int, acceptance: float, max_depth: int) -> NutsSettings:
    n_draws = whole_number("n_draws", n_draws)
    n_warmup = whole_number("n_warmup", n_warmup, LEAST_WARMUP)
    if not finite_number("acceptance", acceptance) < 1:
        raise ValueError(f"acceptance must be less than 1, such as 0.8, got {acceptance!r}.")
    return NutsSettings(n_draws, n_warmup, float(acceptance), whole_number("max_depth", max_depth, most=20))


def _run(jobs: Sequence[ChainJob], schedule: Schedule) -> Iterator[Chain]:
    """The chains, up to the first that is interrupted."""
    if schedule.executor is not None:
        try:
            yield from run_jobs(jobs, schedule.executor, schedule.tell)
        except BaseException as error:
            yield Chain(stop=KeyboardInterrupt() if isinstance(error, KeyboardInterrupt) else error)
        return
    for k, job in enumerate(jobs):
        chain = job.run(schedule.part(k, len(jobs)).tell)
        yield chain
        if chain.stop is not None:
            return


def _draws_so_far(density: Density, mode: Mode, chains: Sequence[Chain], n_draws: int) -> Draws | None:
    complete = [chain for chain in chains if len(chain.coordinates) == n_draws]
    chosen = complete or [chain for chain in chains if chain.coordinates]
    return _draws_of(density, mode, chosen) if chosen else None


def _draws_of(density: Density, mode: Mode, chains: Sequence[Chain]) -> Draws:
    """The draws of chains of one length."""
    paths = density.paths
    values = np.array([[list(density.values(u).values()) for u in chain.coordinates] for chain in chains])
    statistics = {
        name: np.array([[own[_NAMES.get(name, name)] for own in chain.statistics] for chain in chains], kind)
        for name, kind in STATISTICS.items()
    }
    return Draws(
        "sampled",
        paths,
        values,
        np.array([chain.log_density for chain in chains]),
        np.full(values.shape[:2], 1.0 / (values.shape[0] * values.shape[1])),
        np.array(list(density.values(mode.u).values())),
        density.n_evaluations + sum(chain.n_evaluations for chain in chains),
        statistics,
    )
