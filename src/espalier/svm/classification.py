"""``KernelSVC``: support vector classification over any kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.model_selection import StratifiedKFold

from espalier.errors import InputError
from espalier.gram.class_labels import classes_of, classes_state
from espalier.gram.labels import (
    FoldRows,
    LabelCodes,
    check_class_weight,
    check_classes,
    check_folds,
    check_labels,
    shown_label,
)
from espalier.gram.scores import accuracy
from espalier.gram.targets import Floats
from espalier.kernels.base import Matrix
from espalier.storage import State, require
from espalier.svm.calibration import fit_sigmoid, probabilities
from espalier.svm.estimator import KernelMachine, available_if
from espalier.svm.machines import Machines, MachineStrategy, class_scores, solve_classifier, winners


def _gives_probabilities(model: Any) -> None:
    if not model.probability:
        raise AttributeError(
            f"{type(model).__name__} gives probabilities only with probability=True. "
            "Set it and fit again, or use decision_function."
        )


@dataclass(eq=False, repr=False)
class KernelSVC(ClassifierMixin, KernelMachine):  # type: ignore[misc]
    """Assign structures to classes, by the training rows that lie near the boundaries between them.

    scikit-learn's solver (LIBSVM) works on the kernel's matrix over the training rows; predictions need only the
    support rows. Two classes need one machine. For more there is one machine per class, which separates it from all
    others, or one per pair of classes.

    Parameters
    ----------
    kernel
        Any kernel. Values of unnormalised tree kernels are large, and a good ``C`` depends on their scale: use
        ``Normalized`` unless the size of a tree should count.
    C
        The cost of a training row on the wrong side, positive. Larger values follow the training rows more closely.
    strategy
        ``"one-vs-rest"``: the class whose machine has the largest value. ``"one-vs-one"``: the class that wins most
        pairs, the first among equals, as in scikit-learn's ``SVC``.
    class_weight
        A dict of weights by class that multiply ``C`` (1 for classes not named); or ``"balanced"``, weights
        inverse to the number of rows: of each class, and in one-vs-rest of each machine's two sides.
    probability
        Whether ``fit`` also prepares ``predict_proba``, which takes ``calibration_folds`` times as long: the machines
        are solved without each fold in turn, on the same matrix, and a sigmoid is fitted to the values of the rows
        that were left out (Platt, 1999). The most probable class need not be the one that ``predict`` gives.
    calibration_folds
        The number of folds; every class needs at least as many rows.
    tolerance
        The tolerance at which a solver stops; None is 0.001.
    max_iterations
        How many iterations a machine may take; None is LIBSVM's own limit, ten million or 100 per row.
    random_state
        The seed by which rows are shuffled before they are cut into folds for ``probability``. Nothing else is random.
    n_threads, memory, progress, verbose
        As for every learner: see :class:`~espalier.gram.estimator.Learner`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    support_ : array of shape (n_support,)
        The training rows that any machine uses, ascending.
    support_data_
        These rows, of the kind that ``fit`` was given; a dict or a frame becomes a ``Table``.
    dual_coef_ : array of shape (n_machines, n_support)
        The coefficient of each support row in each machine, 0 if a machine does not use it.
    intercept_ : array of shape (n_machines,)
        The constants. The values of all machines are
        ``kernel(X, support_data_) @ dual_coef_.T + intercept_``.
    machines_ : array of shape (n_machines, 2)
        What a machine decides, as numbers of classes: its value is positive for the first and negative for the
        second, where -1 is all others. Two classes: ``[[1, 0]]``.
    calibration_ : array of shape (n_scores, 2)
        Slope and offset of each sigmoid, with ``probability=True``.
    n_iter_ : array of shape (n_machines,)
        The iterations that each machine took.

    Notes
    -----
    Time and memory of ``fit`` are those of the matrix, 8 bytes for each pair of rows, and of the solver, between
    the square and the cube of the number of rows. The matrix is dropped when ``fit`` ends.

    Examples
    --------
    >>> from espalier import Normalized, SubsetTree
    >>> trees = ["(NP (D the) (N cat))", "(NP (D a) (N dog))", "(VP (V runs))", "(VP (V runs) (R fast))"]
    >>> model = KernelSVC(Normalized(SubsetTree())).fit(trees, ["noun", "noun", "verb", "verb"])
    >>> model.predict(["(NP (D the) (N dog))", "(VP (V sleeps) (R fast))"])
    array(['noun', 'verb'], dtype='<U4')
    """

    _: KW_ONLY
    strategy: MachineStrategy = "one-vs-rest"
    class_weight: Any = None
    probability: bool = False
    calibration_folds: int = 5
    random_state: object = 0

    def decision_function(self, X: object) -> Matrix:
        """Return the values of the machines: one per row for two classes, otherwise one column per machine."""
        values = self._machine_values(X)
        return np.ascontiguousarray(values[:, 0]) if len(self.classes_) == 2 else values

    def predict(self, X: object) -> NDArray[Any]:
        """Return one label per row."""
        values = self._machine_values(X)
        return self.classes_[winners(values, self.machines_, len(self.classes_))]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: object) -> Matrix:
        """Return the probability of each class, in the order of ``classes_``; needs ``probability=True``."""
        values = self._machine_values(X)
        return probabilities(class_scores(values, self.machines_, len(self.classes_)), self.calibration_)

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the share of rows whose label is predicted correctly, like every classifier of scikit-learn.

        The target of a row with a ``sample_weight`` of 0 may be missing (None, NaN or masked).
        """
        return accuracy(y, self.predict(X), sample_weight)

    def to_state(self) -> dict[str, object]:
        state = super().to_state() | {"classes": classes_state(self.classes_), "machines": self.machines_}
        return state | ({"calibration": self.calibration_} if self.probability else {})

    @classmethod
    def from_state(cls, state: State) -> Self:
        model = super().from_state(state)
        model.classes_, model.machines_ = classes_of(state.part("classes")), state.array("machines", np.int64, 2)
        n_classes, n_machines = len(model.classes_), len(model.intercept_)
        check_class_weight(model.class_weight, model.classes_)
        sides = model.machines_
        require(sides.shape == (n_machines, 2) and n_machines > 0, "every machine needs two sides")
        require(np.all((sides >= [0, -1]) & (sides < n_classes)), "a machine decides on a class that is not there")
        pairs = n_classes * (n_classes - 1) // 2
        number = 1 if n_classes == 2 else n_classes if model.strategy == "one-vs-rest" else pairs
        require(n_machines == number, f"{n_machines} machines do not fit {n_classes} classes")
        of_rest = n_classes == 2 or np.all((sides[:, 1] < 0) == (model.strategy == "one-vs-rest"))
        require(of_rest, "its machines do not fit its strategy")
        if model.probability:
            model.calibration_ = state.array("calibration", np.float64, 2)
            whole = model.calibration_.shape == (1 if n_classes == 2 else n_classes, 2)
            require(whole and np.isfinite(model.calibration_).all(), "its probabilities are not calibrated")
        return model

    def _machine_names(self) -> tuple[str, ...]:
        names = [str(label) for label in self.classes_.tolist()]
        sides: list[list[int]] = self.machines_.tolist()
        if len(names) == 2:
            return (names[1],)
        return tuple(names[a] if b < 0 else f"{names[a]}, not {names[b]}" for a, b in sides)

    def _check_settings(self) -> None:
        super()._check_settings()
        self._check_choice("strategy", "one-vs-rest", "one-vs-one")
        if not isinstance(self.probability, bool | np.bool_):
            raise ValueError(f"probability must be True or False, got {self.probability!r}.")
        self._check_whole("calibration_folds", least=2)

    def _check_targets(self, y: object, n_rows: int) -> tuple[NDArray[Any], LabelCodes]:
        classes, codes = check_labels(y, n_rows)
        check_classes(classes, codes, None)
        check_class_weight(self.class_weight, classes)
        if self.probability:
            fewest = np.bincount(codes).argmin()
            if (count := int((codes == fewest).sum())) < self.calibration_folds:
                raise InputError(
                    f"probability=True needs at least calibration_folds={self.calibration_folds} rows of every class, "
                    f"but {shown_label(classes[fewest])} has {count}. Use fewer folds, or add rows."
                )
        return classes, codes

    def _learn(self, gram: Matrix, targets: tuple[NDArray[Any], LabelCodes], weights: Floats | None) -> None:
        classes, codes = targets
        check_classes(classes, codes, weights)
        splitter = StratifiedKFold(self.calibration_folds, shuffle=True, random_state=self.random_state)
        folds = list(splitter.split(codes, codes)) if self.probability else []
        check_folds(folds, classes, codes, weights)
        machines = self._solve(gram, codes, classes, weights)
        self.classes_ = classes
        self.machines_ = machines.sides
        self._set_machines(machines)
        if self.probability:
            self.calibration_ = self._calibrate(gram, codes, weights, folds)

    def _solve(self, gram: Matrix, codes: LabelCodes, classes: NDArray[Any], weights: Floats | None) -> Machines:
        class_weight = check_class_weight(self.class_weight, classes)
        return solve_classifier(gram, codes, self.strategy, self._solver(), class_weight=class_weight, weights=weights)

    def _calibrate(self, gram: Matrix, codes: LabelCodes, weights: Floats | None, folds: list[FoldRows]) -> Matrix:
        """Fit sigmoids to scores of rows that were left out, one fold after the other."""
        n_classes = len(self.classes_)
        scores = np.empty((len(gram), 1 if n_classes == 2 else n_classes))
        for train, test in folds:
            own = None if weights is None else weights[train]
            machines = self._solve(gram[np.ix_(train, train)], codes[train], self.classes_, own)
            values = machines.values(gram[np.ix_(test, train[machines.support])])
            scores[test] = class_scores(values, machines.sides, n_classes)
            self._n_early += machines.n_early
        positives = [1] if n_classes == 2 else range(n_classes)
        return np.array([fit_sigmoid(scores[:, k], codes == c, weights) for k, c in enumerate(positives)])
