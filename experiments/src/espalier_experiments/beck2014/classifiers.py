r"""Ways to give a question the probability of each class: Gaussian processes with several likelihoods, and regression.

Regression on labels has one process for each class, with targets 1 and 0 and one kernel for all (``one_vs_rest``). The
processes of a new question have means :math:`m_c` and, since they share the kernel, one variance :math:`v`, noise
included. A class has the probability that its process is the largest,

.. math:: p(c) = \int \varphi(t) \prod_{d \ne c} \Phi\!\left(t + \frac{m_c - m_d}{\sqrt v}\right) dt,

which is the share of draws in which it wins, for endlessly many draws.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, logsumexp

from espalier.gp import Gaussian, GPClassifier, Observed, exact
from espalier.kernels import Kernel, Precomputed
from espalier.structures import Table
from espalier_experiments.beck2014 import one_vs_rest
from espalier_experiments.papers import Setup

Matrix = NDArray[np.float64]

REGRESSION = "label regression"
# What each Gaussian process for classes is given beside its kernel.
PROCESSES: dict[str, dict[str, Any]] = {
    "probit, EP": {},
    "probit, EP, balanced": {"class_weight": "balanced"},
    "probit, Laplace": {"inference": "laplace"},
    "probit, variational": {"inference": "variational"},
    "logit, Laplace": {"likelihood": "logit", "inference": "laplace"},
    "softmax, Laplace": {"likelihood": "softmax"},
}
BOTH = "probit, EP, kernel by regression"
BY_REGRESSION = (REGRESSION, BOTH)  # their kernels are learned by the evidence of regression
METHODS = (REGRESSION, BOTH, *PROCESSES)

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(100)


@dataclass(frozen=True, eq=False)
class Classified:
    """The log probability of each class of each new question, and the kernel that was learned."""

    classes: NDArray[Any]
    log_probability: Matrix
    kernel: Kernel
    evaluations: int


def classify(
    method: str,
    kernel: Kernel,
    train: Table,
    y: NDArray[Any],
    new: Table,
    *,
    pilot: int,
    max_iterations: int,
    setup: Setup,
) -> Classified:
    """Learn the kernel from a pilot of the training questions, condition on all of them, and predict new ones."""
    if method in BY_REGRESSION:
        rows = np.sort(np.random.default_rng(setup.seed).permutation(len(y))[:pilot])
        threads = {"n_threads": setup.n_threads}
        learned = one_vs_rest.learn(kernel, train[rows], y[rows], max_iterations=max_iterations, **threads)
        gram, cross = (learned.kernel(train, other, **threads) for other in (train, new))
        own = (learned, gram, cross, learned.kernel.diagonal(new))
        return _by_regression(*own, y) if method == REGRESSION else _by_both(*own, y, pilot, setup)
    options: dict[str, Any] = {"pilot": pilot, "max_iterations": max_iterations, "random_state": setup.seed}
    model = GPClassifier(kernel, n_threads=setup.n_threads, **options, **PROCESSES[method])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # records say how many evaluations a climb took
        model.fit(train, y)
    evaluations = sum(restart.n_evaluations for restart in model.restarts_)
    return Classified(model.classes_, model.predict_log_proba(new), model.kernel_, evaluations)


def _by_regression(
    learned: one_vs_rest.LearnedClasses, gram: Matrix, cross: Matrix, prior: Matrix, y: NDArray[Any]
) -> Classified:
    """Condition a process for each class on labels as numbers."""
    targets, n = one_vs_rest.Classes.of(y), len(y)
    unseen = Observed(np.zeros(n), np.zeros(n, np.intp), ("",), np.ones(n), np.zeros(n))
    given = exact.condition(gram, Gaussian(learned.noise), unseen, np.zeros((n, 0)))
    mean = cross.T @ given.solve(targets.targets) + targets.share
    spread = given.variance(cross, prior, np.zeros((len(prior), 0))) + learned.noise
    return Classified(targets.names, log_wins(mean, np.sqrt(spread)), learned.kernel, learned.n_evaluations)


def _by_both(
    learned: one_vs_rest.LearnedClasses,
    gram: Matrix,
    cross: Matrix,
    prior: Matrix,
    y: NDArray[Any],
    pilot: int,
    setup: Setup,
) -> Classified:
    """Learn the scale of the kernel anew, for probits; all its other numbers stay as regression left them."""
    n, unit = len(y), float(gram.diagonal().mean())
    whole = np.block([[gram, cross], [cross.T, np.diag(prior)]]) / unit
    options: dict[str, Any] = {"pilot": pilot, "random_state": setup.seed, "n_threads": setup.n_threads}
    model = GPClassifier(Precomputed(whole), **options).fit(np.arange(n), y)
    log_probability = model.predict_log_proba(np.arange(n, len(whole)))
    evaluations = learned.n_evaluations + sum(restart.n_evaluations for restart in model.restarts_)
    return Classified(model.classes_, log_probability, learned.kernel, evaluations)


def log_wins(mean: Matrix, deviation: Matrix) -> Matrix:
    """The log probability that each of several normal values is the largest; a row's have one deviation.

    Examples
    --------
    >>> np.exp(log_wins(np.array([[0.0, 0.0, 0.0], [0.0, 1.0, -9.0]]), np.ones(2))).round(3)
    array([[0.333, 0.333, 0.333],
           [0.24 , 0.76 , 0.   ]])
    """
    ahead = (mean[:, :, None] - mean[:, None, :]) / deviation[:, None, None]
    n_classes = mean.shape[1]
    logs = np.empty((len(_NODES), *mean.shape))
    for k, node in enumerate(_NODES):
        each = log_ndtr(node + ahead)
        each[:, np.arange(n_classes), np.arange(n_classes)] = 0.0
        logs[k] = each.sum(axis=2)
    out = logsumexp(logs, axis=0, b=_WEIGHTS[:, None, None] / np.sqrt(2 * np.pi))
    return np.asarray(out - logsumexp(out, axis=1, keepdims=True))
