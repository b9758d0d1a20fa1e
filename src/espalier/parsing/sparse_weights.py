"""The weights of a linear classifier of many classes, of which each feature concerns few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.kept import kept
from espalier.storage import State, require
from espalier.structures.columns import read_only

_KINDS = {"key": np.uint64, "start": np.int64, "of_class": np.int32, "weight": np.float32}


@dataclass(frozen=True, eq=False, repr=False)
class SparseWeights:
    """One row for each feature: its key, and weights for some of the classes.

    Parameters
    ----------
    key
        The keys of the features, all different.
    start
        Where the entries of each row start, and the end of all.
    of_class, weight
        For each entry, the class and its weight.
    """

    key: NDArray[np.uint64]
    start: NDArray[np.int64]
    of_class: NDArray[np.int32]
    weight: NDArray[np.float32]

    def __post_init__(self) -> None:
        for name in _KINDS:
            read_only(getattr(self, name))

    def __reduce__(self) -> tuple[object, ...]:
        return SparseWeights, tuple(getattr(self, name) for name in _KINDS)

    @kept
    def core(self) -> _core.SparseClassifier:
        """The classifier in the compiled core, which finds rows by their keys."""
        return _core.SparseClassifier(self.key, self.start, self.of_class, self.weight)

    def to_state(self) -> dict[str, object]:
        """Return the arrays."""
        return {name: getattr(self, name) for name in _KINDS}

    @classmethod
    def from_part(cls, state: State, n_classes: int) -> SparseWeights:
        """Read the weights from a part of a file, for so many classes."""
        arrays: dict[str, NDArray[Any]] = {name: state.array(name, kind) for name, kind in _KINDS.items()}
        start, n_entries = arrays["start"], len(arrays["weight"])
        require(len(start) == len(arrays["key"]) + 1 and len(arrays["of_class"]) == n_entries, "its rows do not fit")
        require(start[0] == 0 and start[-1] == n_entries and np.all(np.diff(start) >= 0), "its rows are out of order")
        require(len(np.unique(arrays["key"])) == len(arrays["key"]), "two features of it have one key")
        require(np.all((arrays["of_class"] >= 0) & (arrays["of_class"] < n_classes)), "a class is out of range")
        require(np.isfinite(arrays["weight"]).all(), "a weight is not a number")
        return cls(**arrays)
