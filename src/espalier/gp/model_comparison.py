"""Choosing between models without a development set: evidence, leave-one-out density, leave-one-out error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from espalier.errors import InputError
from espalier.gp.latent_classes import LatentClasses
from espalier.gp.learned import Rows, aligned
from espalier.gp.regressor import GPRegressor

_WIDTH = 60  # characters of the first column


@dataclass(frozen=True)
class ComparisonRow:
    """How well one model fits the training data; densities and errors in the user's units."""

    name: str
    log_marginal_likelihood: float
    leave_one_out_density: float  # mean log density of a target given all others
    leave_one_out_mae: float  # of medians
    leave_one_out_rmse: float  # of means
    n_learned: int  # without those that have no effect
    at_bounds: int


class ModelComparison(Rows[ComparisonRow]):
    """Models side by side, the most probable first."""

    def __init__(self, rows: list[ComparisonRow]) -> None:
        super().__init__(sorted(rows, key=lambda row: -row.log_marginal_likelihood))

    @property
    def best(self) -> str:
        """The name of the model with the highest evidence."""
        return self.rows[0].name

    @property
    def best_predicting(self) -> str:
        """The name of the model with the highest leave-one-out density."""
        return max(self.rows, key=lambda row: row.leave_one_out_density).name

    def __repr__(self) -> str:
        columns = {
            "model": _column([row.name for row in self.rows]),
            "log evidence": [f"{row.log_marginal_likelihood:.2f}" for row in self.rows],
            "LOO log density": [f"{row.leave_one_out_density:.4f}" for row in self.rows],
            "LOO MAE": [f"{row.leave_one_out_mae:.4g}" for row in self.rows],
            "LOO RMSE": [f"{row.leave_one_out_rmse:.4g}" for row in self.rows],
            "learned": [str(row.n_learned) for row in self.rows],
            "at bounds": [str(row.at_bounds) for row in self.rows],
        }
        return aligned(columns, right=columns.keys() - {"model"})


@dataclass(frozen=True)
class ClassComparisonRow:
    """How well one classifier fits the training data."""

    name: str
    leave_one_out_density: float  # mean log probability of a label given all others; minus the log loss
    leave_one_out_accuracy: float
    log_marginal_likelihood: float  # of one function for each class against the rest: the sum over these
    n_learned: int  # without those that have no effect
    at_bounds: int


class ClassComparison(Rows[ClassComparisonRow]):
    """Classifiers side by side, the one first that predicts labels best from all others.

    Evidences compare only between models of the same kind: one function for each class against the rest explains each
    label several times, and a softmax or grades once.
    """

    def __init__(self, rows: list[ClassComparisonRow]) -> None:
        super().__init__(sorted(rows, key=lambda row: -row.leave_one_out_density))

    @property
    def best_predicting(self) -> str:
        """The name of the model with the highest leave-one-out density."""
        return self.rows[0].name

    def __repr__(self) -> str:
        columns = {
            "model": _column([row.name for row in self.rows]),
            "LOO log density": [f"{row.leave_one_out_density:.4f}" for row in self.rows],
            "LOO accuracy": [f"{row.leave_one_out_accuracy:.1%}" for row in self.rows],
            "log evidence": [f"{row.log_marginal_likelihood:.2f}" for row in self.rows],
            "learned": [str(row.n_learned) for row in self.rows],
            "at bounds": [str(row.at_bounds) for row in self.rows],
        }
        return aligned(columns, right=columns.keys() - {"model"})


@overload
def compare(models: Mapping[str, GPRegressor] | Iterable[GPRegressor]) -> ModelComparison: ...


@overload
def compare(models: Mapping[str, LatentClasses] | Iterable[LatentClasses]) -> ClassComparison: ...


def compare(models: Any) -> ModelComparison | ClassComparison:
    """Compare fitted models of the same targets by how well they fit the training data.

    Parameters
    ----------
    models
        Fitted models by name, or just models, which are then named by their kernels, or by all their settings if
        two have the same kernel. All are a ``GPRegressor``, or all a ``GPClassifier`` or ``GPOrdinal``.
    """
    if isinstance(models, GPRegressor | LatentClasses) or not isinstance(models, Iterable):
        raise TypeError(
            f"compare takes a list or a dict of fitted GPRegressors, got {models!r}. Write compare([model]) for one."
        )
    listed = list(models.values() if isinstance(models, Mapping) else models)
    if not listed:
        raise InputError("There are no models to compare.")
    kind = LatentClasses if isinstance(listed[0], LatentClasses) else GPRegressor
    for model in listed:
        if not isinstance(model, kind):
            raise TypeError(
                f"compare takes fitted GPRegressors, or fitted GPClassifiers and GPOrdinals, got {model!r}."
            )
        check_is_fitted(model)
    named = {str(name): model for name, model in models.items()} if isinstance(models, Mapping) else _named(listed)
    targets = [_targets(model) for model in named.values()]
    if any(not _equal(y, targets[0]) for y in targets):
        raise InputError("The models were fitted to different targets, so their evidence cannot be compared.")
    if kind is LatentClasses:
        return ClassComparison([_class_row(name, model) for name, model in named.items()])
    return ModelComparison([_row(name, model) for name, model in named.items()])


def _targets(model: Any) -> Any:
    """The training targets of a model, one for each row."""
    return model.classes_[model._codes] if isinstance(model, LatentClasses) else model._examples.targets


def _equal(y: Any, other: Any) -> bool:
    return np.array_equal(y, other, equal_nan=y.dtype.kind == other.dtype.kind == "f")


def _column(names: list[str]) -> list[str]:
    """The names of models, cut to their column; numbered if that makes them equal."""
    cut = [_short(name) for name in names]
    if len(set(cut)) == len(cut):
        return cut
    return [f"{k}: {_short(name, _WIDTH - 4)}" for k, name in enumerate(names, 1)]


def _named(models: list[Any]) -> dict[str, Any]:
    """Models by kernel; by all their settings if kernels are the same, and by number if those are, too."""
    names = [repr(model.kernel) for model in models]
    if len(set(names)) < len(names):
        names = [" ".join(repr(model).split()) for model in models]
    if len(set(names)) < len(names):
        names = [f"{k}: {name}" for k, name in enumerate(names)]
    return dict(zip(names, models, strict=True))


def _short(name: str, width: int = _WIDTH) -> str:
    """A name that fits its column; the middle of a long one is left out."""
    half = (width - 5) // 2
    return name if len(name) <= width else f"{name[:half]} ... {name[-half:]}"


def _row(name: str, model: GPRegressor) -> ComparisonRow:
    prediction, y = model.leave_one_out(), model._examples.targets
    known = ~np.isnan(y)  # of several targets of a row, some may be missing
    return ComparisonRow(
        name,
        model.log_marginal_likelihood_,
        float(prediction.log_density(y)[known].mean()),
        float(np.abs(prediction.median - y)[known].mean()),
        float(np.sqrt(((prediction.mean - y)[known] ** 2).mean())),
        model.learned_.n_effective,
        len(model.learned_.at_bounds),
    )


def _class_row(name: str, model: LatentClasses) -> ClassComparisonRow:
    p, codes = model.leave_one_out(), model._codes
    with np.errstate(divide="ignore"):
        density = np.log(p[np.arange(len(p)), codes])
    return ClassComparisonRow(
        name,
        float(density.mean()),
        float((p.argmax(axis=1) == codes).mean()),
        model.log_marginal_likelihood_,
        model.learned_.n_effective,
        len(model.learned_.at_bounds),
    )
