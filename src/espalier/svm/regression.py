"""``KernelSVR``: support vector regression over any kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from sklearn.base import RegressorMixin

from espalier.gram.scores import r_squared
from espalier.gram.targets import Floats, check_numbers
from espalier.kernels.base import Matrix
from espalier.svm.estimator import KernelMachine
from espalier.svm.machines import solve_regressor


@dataclass(eq=False, repr=False)
class KernelSVR(RegressorMixin, KernelMachine):  # type: ignore[misc]
    """Predict a number from structures, as a sum over the support rows.

    Errors up to ``epsilon`` cost nothing, larger ones cost ``C`` for each unit beyond it. scikit-learn's solver
    (LIBSVM) works on the kernel's matrix over the training rows; predictions need only the support rows.

    Parameters
    ----------
    C
        The cost of an error, positive. Larger values follow the training rows more closely.
    epsilon
        The error that costs nothing, in the units of the targets.
    kernel, tolerance, max_iterations, n_threads, memory, progress, verbose
        As for :class:`KernelSVC`.

    Attributes
    ----------
    support_, support_data_, dual_coef_, intercept_, n_iter_
        As for :class:`KernelSVC`, with one machine:
        ``predict(X) = kernel(X, support_data_) @ dual_coef_[0] + intercept_[0]``.

    Notes
    -----
    ``fit`` takes as much time and memory as that of :class:`KernelSVC`.

    Examples
    --------
    >>> from espalier import Normalized, SubsetTree
    >>> trees = ["(S (A a))", "(S (A a) (A a))", "(S (A a) (A a) (A a))", "(S (A a) (A a) (A a) (A a))"]
    >>> model = KernelSVR(SubsetTree(decay=0.5), C=10.0, epsilon=0.01).fit(trees, [1, 2, 3, 4])
    >>> model.predict(["(S (A a) (A a))"]).round(2)
    array([2.01])
    """

    _: KW_ONLY
    epsilon: float = 0.1

    def predict(self, X: object) -> Floats:
        """Return one number per row."""
        return np.ascontiguousarray(self._machine_values(X)[:, 0])

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the coefficient of determination, R², like every regressor of scikit-learn.

        The target of a row with a ``sample_weight`` of 0 may be missing (None, NaN or masked).
        """
        return r_squared(y, self.predict(X), sample_weight)

    def _check_settings(self) -> None:
        super()._check_settings()
        self._check_positive("epsilon", zero=True)

    def _check_targets(self, y: object, n_rows: int) -> Floats:
        return check_numbers(y, n_rows)

    def _learn(self, gram: Matrix, targets: Floats, weights: Floats | None) -> None:
        self._set_machines(solve_regressor(gram, targets, self._solver(self.epsilon), weights=weights))
