"""The parts common to the classifier and the regressor: the matrix, the kept rows, the values of the machines.

A *matrix learner* is an estimator that :class:`~espalier.KernelGridSearch` can fit without its rows. It has

* a parameter ``kernel``;
* ``_check_settings()`` and ``_check_targets(y, n_rows)``, which raise before anything is computed;
* ``_fit_matrix(gram, y, sample_weight)``, which learns from the matrix of the training rows and returns ``self``;
* ``_keep_rows(inputs)``, which keeps what predictions on new rows need, after ``_fit_matrix``;
* ``predict`` and its like, which take :class:`MatrixRows` in place of rows;
* ``_n_early``, after ``_fit_matrix``: how many machines stopped before they converged.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from types import MethodType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from espalier.blas import blas_threads
from espalier.corpus.forest import Forest
from espalier.errors import warn_user
from espalier.gram import DualForm
from espalier.gram import gram as compute_gram
from espalier.gram.estimator import KernelEstimator
from espalier.gram.labels import check_weights
from espalier.gram.targets import without_gaps
from espalier.jobs.budget import naming_a_way_out
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel, Matrix
from espalier.kernels.inputs import Inputs, take_rows
from espalier.kernels.stored import columns_read
from espalier.storage import State, require
from espalier.structures.table import Table
from espalier.svm.machines import Machines, Solver, check_gram

TOLERANCE = 1e-3  # of LIBSVM, if the user names none


@dataclass(frozen=True, eq=False)
class MatrixRows:
    """Rows given by their kernel values: what a search passes to ``predict`` instead of the rows themselves.

    ``values`` are those of the rows with every row that the estimator was fitted on, in that order.
    """

    values: Matrix

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of rows and of fitted rows."""
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)


class available_if:  # noqa: N801  # a decorator, named like that of scikit-learn
    """Make a method an attribute only if ``check(self)`` raises no AttributeError.

    scikit-learn's decorator of this name has its own message; here the caller sees the message of the check.
    """

    def __init__(self, check: Callable[[object], object]) -> None:
        self._check = check
        self._method: Callable[..., object]

    def __call__(self, method: Callable[..., object]) -> Any:
        self._method = method
        functools.update_wrapper(self, method)
        return self

    def __get__(self, owner: object, kind: type | None = None) -> Any:
        if owner is None:
            return self._method
        self._check(owner)
        return MethodType(self._method, owner)


@dataclass(eq=False, repr=False)
class KernelMachine(KernelEstimator):
    """An estimator of machines over a kernel; a subclass defines the targets and the solver."""

    _takes_matrices = True

    kernel: Kernel
    _: KW_ONLY
    C: float = 1.0
    tolerance: float | None = None
    max_iterations: int | None = None

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Learn from rows and their targets, and return this machine.

        Parameters
        ----------
        X
            What the kernel reads: a list of structures, a ``Forest``, a table, a frame, a dict of columns, an array or
            a sparse matrix.
        y
            One target per row.
        sample_weight
            One weight per row, which multiplies ``C``; a row with weight 0 is left out, and its target
            may be missing (None, NaN or masked). The row itself must be one that the kernel reads.

        Raises
        ------
        KeyboardInterrupt
            Passed on if learning is interrupted; the machine then stays as it was, fitted or not.
        """
        self._check_settings()
        inputs = Inputs.of(X)
        weights = check_weights(sample_weight, len(inputs))
        targets = self._check_targets(y if weights is None else without_gaps(y, weights), len(inputs))
        fitted = copy.copy(self)  # an interrupted fit leaves this machine as it was
        with self._scheduled(f"fitting {type(self).__name__}") as schedule:
            with naming_a_way_out():
                matrix = kernel_matrix(self.kernel, inputs, None, schedule.between(0.0, 0.9))
                fitted._learn(matrix, targets, weights)
            fitted._keep_rows(inputs)
            self.__dict__ = fitted.__dict__
            schedule.done()
        warn_of_early_stop(self._n_early)
        return self

    def _fit_matrix(self, gram: Matrix, y: object, sample_weight: object = None) -> Self:
        """Learn from the matrix of the training rows; rows are not kept."""
        self._check_settings()
        self._learn(gram, self._check_targets(y, len(gram)), check_weights(sample_weight, len(gram)))
        return self

    def _keep_rows(self, inputs: Inputs) -> None:
        """Keep the support rows, and nothing else, for predictions."""
        self.support_data_ = _kept_rows(inputs._data, self.support_)
        # Interned at the first prediction, once.
        self._support = inputs.read_alike(self.support_data_)
        self._support.warned = set(inputs.warned)
        self._set_width(inputs._data)
        self._trained_on = inputs.description()

    def to_state(self) -> dict[str, object]:
        check_is_fitted(self, "support_data_")
        return {
            **self._declared_state(),
            "support": self.support_,
            "rows": self._support.to_state(columns_read(self.kernel)),
            "dual_coef": self.dual_coef_,
            "intercept": self.intercept_,
            "n_iter": np.asarray(self.n_iter_, np.int64),
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        model: Self = cls._of_declared(state)
        model._check_settings()
        model._support = Inputs.from_state(state.part("rows"))
        model.support_data_ = model._support._data
        model.support_, model.n_iter_ = state.array("support", np.int64), state.array("n_iter", np.int64)
        model.dual_coef_ = state.array("dual_coef", np.float64, 2)
        model.intercept_ = state.array("intercept", np.float64)
        n_support = len(model.support_)
        require(len(model._support) == n_support, "every support row needs its number")
        require(model.dual_coef_.shape == (len(model.intercept_), n_support), "every support row needs coefficients")
        finite = np.isfinite(model.dual_coef_).all() and np.isfinite(model.intercept_).all()
        require(finite, "a coefficient is not finite")
        if n_support:
            model.kernel.diagonal(model._support)  # an error if the kernel cannot read these rows
        model._n_early = 0
        model._set_width(model.support_data_)
        return model

    def _check_targets(self, y: object, n_rows: int) -> object:
        raise NotImplementedError

    def _learn(self, gram: Matrix, targets: Any, weights: Any) -> None:
        raise NotImplementedError

    def _set_machines(self, machines: Machines) -> None:
        self.support_ = machines.support
        self.dual_coef_ = machines.dual_coef
        self.intercept_ = machines.intercept
        self.n_iter_ = machines.n_iter
        self._n_early = machines.n_early

    def _machine_values(self, X: object) -> Matrix:
        """Return the value of every machine for every row."""
        check_is_fitted(self, "support_")
        if isinstance(X, MatrixRows):
            with blas_threads():
                return X.values[:, self.support_] @ self.dual_coef_.T + self.intercept_
        inputs = Inputs.of(X)
        if len(self.support_) == 0 or len(inputs) == 0:
            return np.tile(self.intercept_, (len(inputs), 1))
        with self._scheduled(f"predicting with {type(self).__name__}") as schedule:
            values = []
            blocks = inputs.blocks(self._support, schedule.memory)
            for k, block in enumerate(blocks):
                matrix = kernel_matrix(self.kernel, self._support, block, schedule.part(k, len(blocks)))
                with blas_threads():
                    values.append(matrix.T @ self.dual_coef_.T + self.intercept_)
        return np.concatenate(values)

    def dual_form(self) -> DualForm:
        """Return the coefficients on the support rows, one line for each machine."""
        check_is_fitted(self, "support_")
        return DualForm(self.kernel, self._support, self.dual_coef_, self.intercept_, self._machine_names())

    def _machine_names(self) -> tuple[str, ...]:
        return ("prediction",)

    def _solver(self, epsilon: float = 0.0) -> Solver:
        tolerance = TOLERANCE if self.tolerance is None else float(self.tolerance)
        return Solver(float(self.C), tolerance, self.max_iterations, float(epsilon))

    def _check_settings(self) -> None:
        self._checked_kernel()
        self._check_positive("C")
        self._check_positive("tolerance", none=True)
        self._check_whole("max_iterations", none=True)


def _kept_rows(data: object, rows: NDArray[np.intp]) -> object:
    """Return a copy of some rows; a forest among them is compact."""
    taken = take_rows(data, rows)
    if isinstance(taken, Forest):
        return taken.compact()
    if not isinstance(taken, Table):
        return taken
    forests = {name: column for name in taken.columns if isinstance(column := taken[name], Forest)}
    for name, forest in forests.items():
        taken = taken.with_column(name, forest.compact())
    return taken


def kernel_matrix(kernel: Kernel, a: Inputs, b: object, schedule: Schedule) -> Matrix:
    """Compute the matrix and check it, because a user's kernel may return anything."""
    matrix = compute_gram(kernel, a, b, n_threads=schedule.n_threads, memory=schedule.memory, progress=schedule.report)
    check_gram(matrix)
    return matrix


def warn_of_early_stop(n_early: int) -> None:
    """Warn once how many machines did not converge."""
    if n_early:
        warn_user(
            f"{n_early} machines stopped at the limit of iterations, before they converged. "
            "Normalise the kernel, use a smaller C or decay, or raise max_iterations.",
            ConvergenceWarning,
        )
