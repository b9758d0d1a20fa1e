"""Warnings after learning: one for each problem, none if all went well."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from espalier.errors import warn_user
from espalier.gp.inference.columns import ColumnsPosterior
from espalier.gp.inference.sparse_sites import SparseSitePosterior
from espalier.gp.learned import LearnedTable
from espalier.gp.learning import Outcome
from espalier.gp.parameters import Vector
from espalier.gp.regression import Posterior
from espalier.gp.task_units import TaskUnits
from espalier.kernels.hyperparameters import VARIANCE

_MANY = 10  # this many learned numbers are many, and this many rows for each are few
_NO_NOISE = 1e-3  # the share of the variance of the targets below which there is almost no noise


def warn_of_regression(posterior: Posterior, outcome: Outcome, known_noise: Vector, pilot: int | None) -> None:
    """Warn about all that may be wrong with a fitted regressor."""
    jitter = posterior.given.jitter
    if jitter > 0:
        warn_user(
            f"The covariance matrix was nearly singular: {jitter:.3g} was added to its diagonal "
            "(model.jitter_). Duplicates with little noise, or a very smooth kernel, cause this."
        )
    if isinstance(posterior.target, TaskUnits):
        _warn_of_equal_targets(posterior.target)
    if posterior.target.constant:
        warn_user("All targets are equal, so there is nothing to learn from: the model predicts that value.")
    else:
        _warn_of_variances(outcome.learned, posterior.given.z, known_noise)
        if isinstance(posterior.target, TaskUnits) and not known_noise.any():
            _warn_of_silent_tasks(outcome.learned, posterior.target)
    warn_of_learning(outcome, pilot, says_end=not posterior.target.constant)


def warn_of_learning(outcome: Outcome, pilot: int | None = None, *, says_end: bool = True) -> None:
    """Warn if learning did not converge, or a pilot led astray."""
    if says_end and not outcome.best.converged:
        warn_user(
            f"Learning ended before it converged: {outcome.best.message.rstrip('.')}. The best values found are kept; "
            "raise max_iterations or tolerance.",
            ConvergenceWarning,
        )
    if outcome.misled:
        warn_user(
            f"The pilot of {pilot} examples, for {len(outcome.learned)} learned numbers, led astray: for all examples "
            "the declared start was better, or led higher, and learning went on from there. Use a larger pilot, with "
            "ten or more examples for each learned number, or pilot=None."
        )


def warn_of_sweeps(given: object) -> None:
    """Warn if sites still moved when the sweeps of an inference ended."""
    each = given.each if isinstance(given, ColumnsPosterior) else []
    if all(own.is_settled for own in each):
        return
    is_sparse = isinstance(each[0], SparseSitePosterior)
    name = "Variational inference through inducing structures" if is_sparse else "Expectation propagation"
    other = "fewer rows with inducing=None" if is_sparse else "inference='variational'"
    warn_user(
        f"{name} had not settled when its sweeps ended, so probabilities and evidence are rough. Normalise the kernel, "
        f"give its variance a prior or a smaller fixed value, or use {other}.",
        ConvergenceWarning,
    )


def _warn_of_equal_targets(target: TaskUnits) -> None:
    """Warn about single tasks that nothing can be learned about."""
    equal = [name for name, units in zip(target.tasks, target.each, strict=True) if units.constant]
    if equal and not target.constant:
        listed = ", ".join(map(repr, equal))
        which = f"task {listed} are" if len(equal) == 1 else f"tasks {listed} are, in each,"
        warn_user(
            f"All targets of the {which} equal, so their spread is unknown and 1 is used. Give more targets, or scale "
            "all tasks yourself and write standardize=False."
        )


def _warn_of_silent_tasks(learned: LearnedTable, target: TaskUnits) -> None:
    """Warn about tasks that lost their noise while others kept some; equal targets have a warning of their own."""
    varied = {f"noise[{name}]" for name, units in zip(target.tasks, target.each, strict=True) if not units.constant}
    noise = [row for row in learned if row.path in varied]
    silent = [row.path for row in noise if row.bound == "low"]
    if silent and len(silent) < len(noise):
        end = "has ended at its lower bound" if len(silent) == 1 else "have ended at their lower bounds"
        warn_user(
            f"{', '.join(silent)} {end}: of rows like those of training, the model may be far too sure. Hold the "
            "noises of all tasks together, noise=PerLabel(0.1), or keep some by a prior, "
            "noise=PerLabel(Learned(0.3, prior=Gamma(5, 0.1)))."
        )


def _warn_of_variances(learned: LearnedTable, z: Vector, known_noise: Vector) -> None:
    """Warn about variances at their bounds, and about memorising."""
    high = [row.path for row in learned if row.bound == "high" and row.unit.startswith(VARIANCE)]
    if high:
        end = "has ended at its upper bound" if len(high) == 1 else "have ended at their upper bounds"
        warn_user(
            f"{', '.join(high)} {end}: the best value is larger, or two numbers have the same effect and grow jointly. "
            "Declare other bounds, Learned(value, bounds=(low, high)), add a prior, or normalise the kernel."
        )
    noise = [row for row in learned if row.path.startswith("noise")]
    floor = _NO_NOISE * float(np.var(z))
    is_silent = bool(noise) and all(row.value < floor or row.bound == "low" for row in noise) and not known_noise.any()
    if is_silent and learned.n_effective >= _MANY and len(z) < _MANY * learned.n_effective:
        warn_user(
            f"The model may have memorised its training rows: it learned {learned.n_effective} numbers from "
            f"{len(z)} rows, and left almost no noise ({max(row.value for row in noise):.2g}). Its evidence and "
            "leave-one-out look better than predictions of new rows will be. Learn fewer numbers (one for all labels, "
            "PerLabel(0.4, groups={...}) or fixed(...)), keep the weak prior of PerLabel, or keep some noise by one, "
            "noise=Learned(0.3, prior=Gamma(5, 0.1))."
        )
