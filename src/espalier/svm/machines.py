"""Binary machines, solved on a matrix by scikit-learn's solvers, in the same layout for every problem.

A machine is a row of coefficients over support rows, and an intercept: its value for a new row is the sum of
coefficient times kernel value, plus the intercept. Classification has one machine for two classes, otherwise one per
class or one per pair of classes; regression has one.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from espalier.blas import blas_threads
from espalier.errors import InputError
from espalier.gram.labels import LabelCodes
from espalier.gram.targets import Floats
from espalier.kernels.base import Matrix

MachineStrategy = Literal["one-vs-rest", "one-vs-one"]

_LARGEST = 2.0**60  # the solver stores values in single precision, which ends at 2 ** 128
_FEWEST_ITERATIONS = 10_000_000  # LIBSVM's own limit is this or 100 per row


@dataclass(frozen=True)
class Solver:
    """The settings that every machine shares."""

    C: float
    tolerance: float
    max_iterations: int | None
    epsilon: float = 0.0

    def limit(self, n_rows: int) -> int:
        """How many iterations a machine may take."""
        return max(_FEWEST_ITERATIONS, 100 * n_rows) if self.max_iterations is None else self.max_iterations


@dataclass(frozen=True, eq=False)
class Machines:
    """What was solved: ``values = kernel(X, support rows) @ dual_coef.T + intercept``."""

    support: NDArray[np.intp]  # the rows that any machine uses, ascending
    dual_coef: Matrix  # a row of coefficients for each machine
    intercept: Floats
    sides: NDArray[np.intp]  # by machine, the classes for which its value is positive and negative; -1 is all others
    n_iter: NDArray[np.intp]  # the iterations that each machine took
    n_early: int  # how many machines reached the limit of iterations before they converged

    @blas_threads()
    def values(self, matrix: Matrix) -> Matrix:
        """The value of each machine, from kernel values of new rows with the support rows."""
        return matrix @ self.dual_coef.T + self.intercept


def solve_classifier(
    gram: Matrix,
    codes: LabelCodes,
    strategy: MachineStrategy,
    solver: Solver,
    *,
    class_weight: object,
    weights: Floats | None,
) -> Machines:
    """Solve all machines of a classification into the classes 0, 1, ..."""
    n_classes = int(codes.max()) + 1
    if n_classes == 2 or strategy == "one-vs-one":
        pairs = [(1, 0)] if n_classes == 2 else list(combinations(range(n_classes), 2))
        return _solve(gram, codes, solver, pairs, _row_weights(codes, class_weight, weights))
    solved = []
    for k in range(n_classes):
        own = (codes == k).astype(np.intp)
        balanced = isinstance(class_weight, str)
        row_weights = _row_weights(own if balanced else codes, class_weight, weights)
        solved.append(_solve(gram, own, solver, [(k, -1)], row_weights))
    return _joined(solved)


def solve_regressor(gram: Matrix, targets: Floats, solver: Solver, *, weights: Floats | None) -> Machines:
    """Solve the one machine of a regression."""
    return _solve(gram, targets, solver, [(-1, -1)], weights)


def class_scores(values: Matrix, sides: NDArray[np.intp], n_classes: int) -> Matrix:
    """One score per class, or one in all for two classes; the largest is the answer.

    For machines of pairs, a score counts the pairs that the class wins, and orders equal counts by how clearly it
    won: the sum of values, scaled to less than half a pair.
    """
    if n_classes == 2 or (sides[:, 1] < 0).all():
        return values
    votes, clarity = _pairs_won(values, sides, n_classes)
    return np.asarray(votes + clarity / (3 * (np.abs(clarity) + 1)))


def winners(values: Matrix, sides: NDArray[np.intp], n_classes: int) -> NDArray[np.intp]:
    """Return the number of the class that the machines choose; the first if several are equal."""
    if n_classes == 2:
        return np.asarray(values[:, 0] > 0, np.intp)
    if (sides[:, 1] < 0).all():
        return np.asarray(values.argmax(axis=1), np.intp)
    return np.asarray(_pairs_won(values, sides, n_classes)[0].argmax(axis=1), np.intp)


def _pairs_won(values: Matrix, sides: NDArray[np.intp], n_classes: int) -> tuple[Matrix, Matrix]:
    """Return how many pairs each class wins, and the sum of the values by which it wins or loses them."""
    votes, clarity = np.zeros((len(values), n_classes)), np.zeros((len(values), n_classes))
    for column, (first, second) in zip(values.T, sides.tolist(), strict=True):
        votes[:, first] += column > 0
        votes[:, second] += column <= 0
        clarity[:, first] += column
        clarity[:, second] -= column
    return votes, clarity


def check_gram(gram: Matrix) -> None:
    """Refuse a kernel value that is not a finite number."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(gram.sum()):
            return
    bad = np.argwhere(~np.isfinite(gram))
    if len(bad):
        i, j = bad[0].tolist()
        raise InputError(
            f"The kernel value of row {i} with row {j} is {gram[i, j]}, and must be a finite number. "
            "Use a kernel, or hyperparameters, that give finite values."
        )


def _row_weights(codes: LabelCodes, class_weight: object, weights: Floats | None) -> Floats | None:
    """Return the weight of each row: its own times that of its class."""
    if class_weight is None:
        return weights
    if isinstance(class_weight, str):  # "balanced"
        counts = np.bincount(codes if weights is None else codes[weights > 0])
        of_class = counts.sum() / (len(counts) * counts)
    else:
        of_class = class_weight
    by_class: Floats = of_class[codes]
    return by_class if weights is None else by_class * weights


def _solve(
    gram: Matrix, targets: NDArray[Any], solver: Solver, sides: list[tuple[int, int]], weights: Floats | None
) -> Machines:
    """Call a solver once: that of a regression if its machine has no sides."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC, SVR

    rows = np.arange(len(gram)) if weights is None else np.flatnonzero(weights)
    if len(rows) < len(gram):  # a row without weight is no row
        gram, targets, weights = gram[np.ix_(rows, rows)], targets[rows], weights[rows] if weights is not None else None
    scale = _scale(gram)
    if not math.isfinite(solver.C * scale):
        raise _no_solution(gram)
    # The same problem in other units: the coefficients are those of the kernel times its scale.
    limit = solver.limit(len(gram))
    settings = {"kernel": "precomputed", "C": solver.C * scale, "tol": solver.tolerance, "max_iter": limit}
    is_regression = sides == [(-1, -1)]
    machine = SVR(epsilon=solver.epsilon, **settings) if is_regression else SVC(**settings)
    with warnings.catch_warnings(), blas_threads():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            machine.fit(gram if scale == 1.0 else gram / scale, targets, sample_weight=weights)
        except ValueError as error:
            if "not finite" not in str(error):
                raise
            raise _no_solution(gram) from None
    dual_coef = machine.dual_coef_ if is_regression else _per_machine(machine)
    n_iter = np.atleast_1d(np.asarray(machine.n_iter_, np.intp))
    intercept, n_early = np.atleast_1d(machine.intercept_), int((n_iter >= limit).sum())
    support = rows[machine.support_]
    return _joined([Machines(support, dual_coef / scale, intercept, np.array(sides, np.intp), n_iter, n_early)])


def _no_solution(gram: Matrix) -> InputError:
    return InputError(
        f"The machine has no finite solution: kernel values reach {np.abs(gram).max():.3g}. "
        "Normalise the kernel (Normalized(kernel)), or use a smaller decay or C."
    )


def _scale(gram: Matrix) -> float:
    """Return a power of two that divides the solver's values: 1 unless they are huge; the division is exact."""
    largest = max(float(gram.max(initial=0.0)), -float(gram.min(initial=0.0)))
    return 1.0 if largest <= _LARGEST else 2.0 ** math.frexp(largest)[1]


def _per_machine(machine: Any) -> Matrix:
    """scikit-learn's coefficients, one row per pair of classes.

    For two classes they already are. For more, a support row of class i has one coefficient for each other class,
    in the order of classes and i itself left out.
    """
    n_classes = len(machine.classes_)
    dual_coef: Matrix = np.asarray(machine.dual_coef_, np.float64)
    if n_classes == 2:
        return dual_coef
    ends = np.concatenate([[0], np.cumsum(machine.n_support_)])
    pairs = list(combinations(range(n_classes), 2))
    out = np.zeros((len(pairs), dual_coef.shape[1]))
    for row, (i, j) in enumerate(pairs):
        out[row, ends[i] : ends[i + 1]] = dual_coef[j - 1, ends[i] : ends[i + 1]]
        out[row, ends[j] : ends[j + 1]] = dual_coef[i, ends[j] : ends[j + 1]]
    return out


def _joined(solved: list[Machines]) -> Machines:
    """The machines of one or several calls, over the rows that any of them uses, ascending."""
    intercept, sides, n_iter = (
        np.concatenate([getattr(part, name) for part in solved]) for name in ("intercept", "sides", "n_iter")
    )
    support = np.unique(np.concatenate([part.support for part in solved])).astype(np.intp)
    dual_coef = np.zeros((len(sides), len(support)))
    first = 0
    for part in solved:
        last = first + len(part.dual_coef)
        dual_coef[first:last, np.searchsorted(support, part.support)] = part.dual_coef
        first = last
    # A row whose coefficients are all 0 adds nothing.
    used = dual_coef.any(axis=0)
    n_early = sum(part.n_early for part in solved)
    return Machines(support[used], dual_coef[:, used], intercept, sides, n_iter, n_early)
