"""Checks of the labels, numbers and weights of the rows, before any matrix is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.gram.targets import Floats, label_column, row_numbers
from espalier.structures.numbers import finite_number

LabelCodes = NDArray[np.intp]
FoldRows = tuple[NDArray[np.intp], NDArray[np.intp]]  # the rows to learn from, and those that are left out


def check_labels(y: object, n_rows: int) -> tuple[NDArray[Any], LabelCodes]:
    """Return the classes in order, and for each row the number of its class.

    Examples
    --------
    >>> check_labels(["yes", "no", "yes"], 3)
    (array(['no', 'yes'], dtype='<U3'), array([1, 0, 1]))
    """
    labels = label_column(y, n_rows)
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        raise InputError(
            "Unknown label type: continuous. y contains numbers that are not integers, so they are not classes. "
            "Use GPRegressor or KernelSVR for numbers, turn them into labels, or list them if they are ordered grades, "
            "GPOrdinal(kernel, grades=[0.5, 1.0, 1.5])."
        )
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.intp)


def check_weights(sample_weight: object, n_rows: int) -> Floats | None:
    """Return one weight per row, finite and not negative; None if all rows count the same."""
    if sample_weight is None:
        return None
    weights = row_numbers(sample_weight, n_rows, "sample_weight")
    if not weights.any():
        raise InputError("Every weight is zero, so no row is left to learn from. Give some row a positive weight.")
    return weights


def check_classes(classes: NDArray[Any], codes: LabelCodes, weights: Floats | None) -> None:
    """Refuse weights that leave a class without rows to learn from."""
    if len(classes) < 2:
        raise InputError(
            f"All rows belong to one class, {shown_label(classes[0])}; a classifier needs at least two classes. "
            "Add rows of another class."
        )
    if weights is not None and len(empty := _without_weight(classes, codes, weights)):
        raise InputError(
            f"Every row of class {shown_label(classes[empty[0]])} has the weight 0. "
            "Drop these rows, or give some of them a positive weight."
        )


def check_folds(folds: list[FoldRows], classes: NDArray[Any], codes: LabelCodes, weights: Floats | None) -> None:
    """Refuse folds for calibration if leaving one out takes all the weight of a class."""
    if weights is None:
        return
    for number, (train, _) in enumerate(folds, start=1):
        if len(empty := _without_weight(classes, codes[train], weights[train])):
            raise InputError(
                f"probability=True leaves out {len(folds)} folds in turn, and without fold {number} every row of class "
                f"{shown_label(classes[empty[0]])} has the weight 0. Drop the rows of weight 0, give more rows of this "
                "class a positive weight, or another random_state, which shuffles the folds."
            )


def check_class_weight(class_weight: object, classes: NDArray[Any]) -> Floats | str | None:
    """Return the weight of each class, ``"balanced"`` if it follows from the rows, or None if there is none."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return class_weight
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict of weights by class, got {class_weight!r}.")
    known = set(classes.tolist())
    # A part of the rows may lack a class, so a name too many is an error only where another got no weight.
    if not known <= set(class_weight) and not set(class_weight) <= known:
        unknown = next(name for name in class_weight if name not in known)
        raise ValueError(f"class_weight names the class {unknown!r}, but the classes are {sorted(known)}.")
    weights = [class_weight.get(name, 1.0) for name in classes.tolist()]
    for weight, label in zip(weights, classes, strict=True):
        finite_number(f"The weight of class {shown_label(label)}", weight)
    return np.array(weights, np.float64)


def _without_weight(classes: NDArray[Any], codes: LabelCodes, weights: Floats) -> LabelCodes:
    """The numbers of the classes whose rows all have the weight 0."""
    return np.flatnonzero(np.bincount(codes, weights, minlength=len(classes)) == 0)


def shown_label(label: object) -> str:
    """Show a label as Python writes it, whatever array it came from."""
    return repr(label.item() if hasattr(label, "item") else label)
