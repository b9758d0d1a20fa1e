"""The targets of a learner, one for each row, checked before anything is computed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError, warn_user
from espalier.structures.columns import refuse_masked
from espalier.structures.table import refuse_lazy

Floats = NDArray[np.float64]


def target_column(y: object, n_rows: int, rows: NDArray[np.intp] | None = None, *, warns: bool = True) -> NDArray[Any]:
    """Return the targets as one column, a label or a number for each row.

    No target may be masked; if ``rows`` are given, none in these rows.
    """
    if y is None:
        raise InputError(
            "This estimator requires y to be passed, but the target y is None. Give one label or number per row."
        )
    refuse_lazy(y)
    if hasattr(y, "tocsr"):
        raise InputError("y is a sparse matrix; give a list or an array with one label or number per row.")
    refuse_masked(y, "y", rows)
    try:
        column = np.asarray(y)
    except ValueError:
        raise InputError("y must hold one label or number per row, got a ragged list.") from None
    if column.ndim == 2 and column.shape[1] == 1:
        if warns:
            from sklearn.exceptions import DataConversionWarning

            warn_user(
                f"A column-vector y was passed when a 1d array was expected: y has shape {column.shape}. "
                "It is read as one target per row; pass y.ravel() to avoid this warning.",
                DataConversionWarning,
            )
        column = column.ravel()
    if column.ndim != 1:
        raise InputError(f"y must hold one label or number per row, of shape ({n_rows},), got shape {column.shape}.")
    if len(column) != n_rows:
        raise InputError(f"X has {n_rows:,} rows, but y has {len(column):,} targets. Give one target for each row.")
    if n_rows == 0:
        raise InputError("There are no rows to learn from or to score: X is empty.")
    if column.dtype.kind == "c":
        raise InputError("Complex data not supported: y must hold labels or real numbers.")
    return column


def check_numbers(y: object, n_rows: int, rows: NDArray[np.intp] | None = None, *, warns: bool = True) -> Floats:
    """Return the targets of a regression as finite float64; only those of ``rows`` if these are given."""
    column = target_column(y, n_rows, rows, warns=warns)
    numbers = target_numbers(column if rows is None else column[rows], rows)
    check_finite_numbers(numbers, "y", rows)
    return numbers


def target_numbers(y: object, rows: NDArray[np.intp] | None = None) -> Floats:
    """Return targets as float64, those of ``rows`` if these are given; for text the error names the classifiers."""
    refuse_masked(y, "y")
    if not isinstance(y, np.ndarray) or y.dtype.kind in "OUST":
        for place, value in enumerate(np.asarray(y, dtype=object).ravel().tolist()):
            if isinstance(value, str | bytes):
                raise InputError(
                    f"y must hold real numbers, one per row, got text, {value!r:.40} in row "
                    f"{place if rows is None else rows[place]}. For classes use a classifier, KernelSVC or "
                    "LinearizedTreeClassifier. Convert numbers that are written as text: [float(value) for value in y]."
                )
    return real_numbers(y, "y")


def label_column(y: object, n_rows: int, *, warns: bool = True) -> NDArray[Any]:
    """Return the targets as one column of labels, which are all text or all numbers; none may be missing."""
    labels = target_column(y, n_rows, warns=warns)
    if labels.dtype.kind == "f":
        check_finite_numbers(labels, "y")
        return labels
    if isinstance(y, np.ndarray) and y.dtype.kind in "biuUS":
        return labels
    # numpy would turn 1 and 'a' into text.
    listed = np.asarray(y, dtype=object).ravel().tolist()
    for row, label in enumerate(listed):
        if _is_missing(label) or label != label:
            raise InputError(f"Row {row} of y has no label, got {label!r}. Drop the row or fill it in.")
    first = isinstance(listed[0], str)
    for row, label in enumerate(listed):
        if isinstance(label, str) != first:
            raise InputError(
                f"Labels must be all text or all numbers, got {listed[0]!r} in row 0 and {label!r} in row {row}."
            )
    if labels.dtype == object and not first:  # an array of objects is read as a list of them
        numbers = np.asarray(listed)
        if numbers.dtype.kind == "f":
            check_finite_numbers(numbers, "y")
        if numbers.dtype.kind in "biuf":
            return numbers
    return labels


def without_gaps(y: object, weights: object) -> object:
    """Return y with each missing target of a row of weight 0 replaced by the first target of a row with weight.

    Rows of weight 0 are not used, so a missing target there is not an error, and its replacement has no effect. None,
    NaN, infinity, pandas' NA and masked values are missing. The checks that follow deal with everything else.

    Examples
    --------
    >>> without_gaps(["yes", None, "no"], [1.0, 0.0, 1.0])
    ['yes', 'yes', 'no']
    """
    gaps = gaps_without_weight(y, weights)
    if not len(gaps):
        return y
    gone, given = _missing(y), np.asarray(y, dtype=object)
    known = np.flatnonzero((np.asarray(weights, np.float64) > 0) & ~gone)
    if not len(known):
        return y
    filled = given.ravel().copy()
    filled[gaps] = filled[known[0]]
    if isinstance(y, list | tuple):  # numpy finds the type of the remaining targets
        return filled.reshape(given.shape).tolist()
    values = filled.astype(np.asarray(y).dtype).reshape(given.shape)
    if not isinstance(y, np.ma.MaskedArray):
        return values
    mask = np.ma.getmaskarray(y).copy()
    mask[gaps] = False
    return np.ma.MaskedArray(values, mask=mask)


def gaps_without_weight(y: object, weights: object) -> NDArray[np.intp]:
    """The rows of weight 0 whose target is missing; none if y is not a column with a target for each weight."""
    none = np.empty(0, np.intp)
    if y is None or hasattr(y, "tocsr"):
        return none
    given, weights = np.asarray(y, dtype=object), np.asarray(weights, np.float64)
    if given.ndim == 0 or given.size != len(given) or weights.shape != (len(given),):
        return none
    return np.flatnonzero((weights == 0) & _missing(y))


def _missing(y: object) -> NDArray[np.bool_]:
    """For each row of a column whether its target is missing."""
    gone = np.array([_is_missing(target) for target in np.asarray(y, dtype=object).ravel().tolist()], bool)
    return gone | np.ma.getmaskarray(y).ravel() if isinstance(y, np.ma.MaskedArray) else gone


def _is_missing(target: object) -> bool:
    # pandas' own missing value cannot be compared, so it is recognised by the name of its type.
    if target is None or target is np.ma.masked or type(target).__name__ == "NAType":
        return True
    return isinstance(target, float | np.floating) and not math.isfinite(target)


def real_numbers(given: object, name: str, rows: NDArray[np.intp] | None = None) -> Floats:
    """Return an array of float64; raise for words, dates, complex numbers and masked values (in ``rows``)."""
    refuse_masked(given, name, rows)
    kind = type(given).__name__
    try:
        array = np.asarray(given)
        kind = f"an array of {array.dtype}"
        if array.dtype.kind not in "biufO" or any(isinstance(x, str) for x in array.flat if array.dtype == object):
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must hold real numbers, one per row, got {kind}. Convert it.") from None


def check_finite_numbers(values: Floats, name: str, rows: NDArray[np.intp] | None = None) -> None:
    """Refuse NaN and infinity, and name the row of the first; if ``rows`` are given, one of these."""
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        row = bad[0] if rows is None else rows[bad[0]]
        more = f" ({len(bad):,} values are not finite)" if len(bad) > 1 else ""
        kind = "NaN" if np.isnan(values[bad[0]]) else "infinity"
        raise InputError(
            f"Input {name} contains {kind}: row {row} must be a finite number{more}. Drop the row or fill it in."
        )


def row_numbers(values: object, n: int, name: str, rows: NDArray[np.intp] | None = None) -> Floats:
    """Return one number for each row, finite and at least 0, such as a weight; only of ``rows`` if these are given."""
    out = real_numbers(values, name, rows)
    if out.ndim == 0:
        out = np.full(n, float(out))
    if out.shape != (n,):
        raise InputError(f"{name} must hold one number for each of the {n:,} rows, got shape {out.shape}.")
    kept = np.arange(n) if rows is None else rows
    check_finite_numbers(out[kept], name, kept)
    bad = kept[out[kept] < 0]
    if len(bad):
        raise InputError(f"{name}[{bad[0]}] is {out[bad[0]]:.6g}; it must not be below 0.")
    return out[kept]
