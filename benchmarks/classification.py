"""Speed, memory and agreement of Gaussian processes for classes on real questions: ``make bench``.

Written to ``docs/results/classification.md``. All times are seconds that one core computed, the best of a few runs, so
that a machine with other work disturbs them less; linear algebra has one thread.
"""

from __future__ import annotations

import os
import platform
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import espalier as es
from benchmarks.corpora import DATA, ROOT, available
from benchmarks.report import Report, cpu_name, write_page
from espalier.blas import blas_threads
from espalier.gp import Bernoulli, Gaussian, Observed, ep, exact, laplace
from espalier.kernels import Precomputed
from espalier_experiments.data import question_views

PAGE = ROOT / "docs" / "results" / "classification.md"
SCALE = 10.0


def questions(n: int) -> tuple[Any, Any]:
    """The matrix of some training questions, drawn at random, and their coarse classes."""
    table = question_views(DATA)
    train = np.flatnonzero(np.array(table["part"]) == "train")
    rows = np.sort(np.random.default_rng(0).permutation(train)[:n])
    return es.Normalized(es.SubsetTree(0.4, on="tree"))(table[rows], n_threads=1), np.array(table["coarse"])[rows]


def seconds(function: Callable[[], Any], runs: int = 3) -> float:
    """Seconds of one core, the best of several runs."""
    found = []
    for _ in range(runs):
        start = time.process_time()
        function()
        found.append(time.process_time() - start)
    return min(found)


def evaluation(inference: Any, K: Any, signs: Any, near: Any = None) -> float:
    """The evidence of two classes with its gradient."""
    given = inference.condition(K, Bernoulli(), signs, 0.0, near)
    inference.cotangent(given, K, Bernoulli(), signs)
    return float(given.log_evidence)


def exact_evaluation(K: Any, numbers: Observed) -> None:
    """The evidence of a regression with its gradient."""
    exact.cotangent(exact.condition(K.copy(), Gaussian(1.0), numbers, np.zeros((len(K), 0))))


class Matrix:
    """A kernel of scikit-learn that reads a matrix by row numbers, times a variance."""

    @staticmethod
    def of(K: Any) -> Any:
        """Make it; scikit-learn is loaded here alone."""
        from sklearn.gaussian_process.kernels import ConstantKernel, Kernel

        class Rows(Kernel):  # type: ignore[misc]
            def __init__(self, matrix: Any = None) -> None:
                self.matrix = matrix

            def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
                rows = X[:, 0].astype(int)
                part = self.matrix[np.ix_(rows, rows if Y is None else Y[:, 0].astype(int))]
                return (part, np.empty((len(rows), len(rows), 0))) if eval_gradient else part

            def diag(self, X: Any) -> Any:
                return self.matrix.diagonal()[X[:, 0].astype(int)]

            def is_stationary(self) -> bool:
                return False

            @property
            def hyperparameters(self) -> list[Any]:
                return []

            def clone_with_theta(self, theta: Any) -> Any:
                return self

            def __deepcopy__(self, memo: Any) -> Any:
                return self

            def __sklearn_clone__(self) -> Any:
                return self

        return ConstantKernel(SCALE, (1e-5, 1e5)) * Rows(K)


def evaluations(report: Report, K: Any, y: Any) -> None:
    """Two classes, a fixed kernel, everything from the start."""
    from sklearn.gaussian_process import GaussianProcessClassifier

    signs, rows = np.where(y == "HUM", 1.0, -1.0), np.arange(len(K))[:, None]
    known = GaussianProcessClassifier(Matrix.of(K), optimizer=None).fit(rows, signs > 0)
    theirs = seconds(lambda: known.log_marginal_likelihood(known.kernel_.theta, eval_gradient=True))
    ours = [seconds(lambda own=own: evaluation(own, SCALE * K, signs)) for own in (laplace, ep)]  # type: ignore[misc]
    report.table(
        f"One evaluation of two classes, {len(K):,} questions",
        ["what", "seconds", "goal"],
        [
            ["Laplace, with gradient", f"{ours[0]:.2f}", "0.3"],
            ["expectation propagation, with gradient", f"{ours[1]:.2f}", "1"],
            ["scikit-learn's Laplace, with gradient", f"{theirs:.2f}", ""],
        ],
        "A fixed kernel, from no sites and from a mode of 0; HUM against the other classes.",
    )


def fits(report: Report, K: Any, y: Any) -> None:
    """Six classes, the scale of the kernel learned."""
    from sklearn.gaussian_process import GaussianProcessClassifier

    def fit(**options: Any) -> es.GPClassifier:
        kernel = es.Learned(4.0) * Precomputed(K)
        return es.GPClassifier(kernel, n_threads=1, **options).fit(np.arange(len(K)), y)

    theirs = seconds(
        lambda: GaussianProcessClassifier(Matrix.of(K), n_jobs=1).fit(np.arange(len(K))[:, None], y), runs=1
    )
    rows = []
    for name, options, goal in (
        ("expectation propagation", {}, "12"),
        ("Laplace", {"inference": "laplace"}, ""),
        ("softmax, Laplace", {"likelihood": "softmax"}, ""),
    ):
        start = time.process_time()
        model = fit(**options)
        spent = time.process_time() - start
        rows.append([name, str(model.restarts_[0].n_evaluations), f"{spent:.1f}", goal])
    rows.append(["scikit-learn: Laplace, a scale for each class", "", f"{theirs:.1f}", ""])
    report.table(
        f"Six classes with a learned scale, {len(K):,} questions",
        ["what", "evaluations", "seconds", "goal"],
        rows,
        "From a scale of 4 to convergence, by default priors and tolerances.",
    )


def ratios(report: Report, K: Any, y: Any) -> None:
    """Warm evaluations beside the exact model's algebra, in time and memory."""
    signs, n = np.where(y == "HUM", 1.0, -1.0), len(K)
    numbers = Observed(signs, np.zeros(n, np.intp), ("",), np.ones(n), np.zeros(n))
    K = SCALE * K
    whole = seconds(lambda: exact_evaluation(K, numbers))
    rows = [["regression, exact", f"{whole:.2f}", "1", "", f"{matrices(lambda: exact_evaluation(K, numbers), n):.1f}"]]
    for name, inference, goal in (("Laplace", laplace, "3"), ("expectation propagation", ep, "10")):
        near = inference.condition(K / 1.05, Bernoulli(), signs).near
        own = seconds(lambda inference=inference, near=near: evaluation(inference, K, signs, near))  # type: ignore[misc]
        peak = matrices(lambda inference=inference, near=near: evaluation(inference, K, signs, near), n)  # type: ignore[misc]
        rows.append([name, f"{own:.2f}", f"{own / whole:.1f}", goal, f"{peak:.1f}"])
    report.table(
        f"A warm evaluation with gradient, {n:,} questions",
        ["what", "seconds", "times the exact model", "at most", "n x n matrices"],
        rows,
        "Warm: from where the evaluation at a scale smaller by 5 % ended. Memory is the peak of what numpy holds "
        "beside the covariances.",
    )


def matrices(function: Callable[[], Any], n: int) -> float:
    """The most memory of numpy that a call takes, in matrices of n x n numbers."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (peak - before) / (8 * n**2)


def agreement(report: Report, K: Any, y: Any) -> None:
    """The same numbers as GPy's, where GPy is installed."""
    try:
        import GPy
    except ImportError:
        return
    signs, n = np.where(y == "HUM", 1.0, -1.0), len(K)
    K = SCALE * K
    inferences = GPy.inference.latent_function_inference
    by_mode, rows, none = inferences.Laplace(), [], np.zeros((n, 0))
    by_mode._mode_finding_tolerance = 1e-7
    for name, ours, theirs in (
        ("Laplace", laplace, by_mode),
        ("expectation propagation", ep, inferences.EP(epsilon=1e-13)),
    ):
        start = time.process_time()
        known = GPy.core.GP(
            *(np.arange(float(n))[:, None], (signs[:, None] + 1) / 2, GPy.kern.Precomputed(1, K)),
            GPy.likelihoods.Bernoulli(),
            inference_method=theirs,
        )
        spent = time.process_time() - start
        given = ours.condition(K, Bernoulli(), signs)
        mean, variance = known._raw_predict(np.arange(float(n))[:, None])
        away = (
            abs(given.log_evidence - float(known.log_likelihood())),
            np.abs(given.mean(K, none) - mean[:, 0]).max(),
            np.abs(given.variance(K, K.diagonal(), none) - variance[:, 0]).max(),
        )
        rows.append([name, *(f"{own:.0e}" for own in away), f"{spent:.1f}"])
    report.table(
        f"Agreement with GPy, {n:,} questions",
        ["inference", "evidence", "means", "variances", "GPy's seconds"],
        rows,
        "The largest absolute difference. GPy's sweeps and steps are continued to 1e-13 and 1e-7. Goal: 1e-6. GPy adds "
        "1e-7 to a diagonal before it predicts.",
    )


def main() -> None:
    if not available():
        sys.exit("The benchmarks read real corpora: set ESPALIER_DATA to the folder that holds them.")
    warnings.simplefilter("ignore")
    report = Report()
    report.say("# Learning classes: speed, memory and agreement\n")
    report.say(
        "Made by `python -m benchmarks.classification`, a part of `make bench`. Training questions of TREC drawn at "
        "random, a normalised kernel of subset trees of their constituents."
    )
    load = os.getloadavg()[0]
    report.say(
        f"Python {platform.python_version()}, numpy {np.__version__}, {cpu_name()}; seconds are those that one core "
        f"computed. When it began, {load:.0f} processes wanted the {os.cpu_count()} cores; seconds are too high where "
        "that is more than one."
    )
    report.aim(
        "Learn classes nearly as fast as numbers.",
        "Seconds and memory of expectation propagation and of Laplace's method.",
        "The exact model of numbers, scikit-learn and GPy, in the same run.",
    )
    with blas_threads(1):
        K, y = questions(1000)
        evaluations(report, K, y)
        fits(report, K, y)
        ratios(report, *questions(2000))
        agreement(report, K, y)
    write_page(report, PAGE)


if __name__ == "__main__":
    main()
