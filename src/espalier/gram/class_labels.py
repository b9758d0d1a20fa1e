"""The labels of classes in a saved file: strings, numbers or booleans, as numpy held them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.storage import State, require

# The most characters in the name of a class: numpy reserves the space of the longest for every prediction.
LONGEST = 1_000
# How numpy holds the classes, and what each of them is.
TYPES: dict[str, type[object]] = {
    "str": str,
    "object": str,
    "bool": bool,
    "float32": float,
    "float64": float,
    **{f"{sign}int{bits}": int for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


def classes_state(classes: NDArray[Any]) -> dict[str, object]:
    """The labels of classes as JSON values, and their type in numpy."""
    labels = classes.tolist()
    if classes.dtype.kind in "OU" and any(len(str(label)) > LONGEST for label in labels):
        raise InputError(f"The name of a class has more than {LONGEST:,} characters. Train with shorter names.")
    held = "str" if classes.dtype.kind == "U" else classes.dtype.name
    for label in labels:
        if held not in TYPES or not isinstance(label, TYPES[held]):
            raise InputError(
                f"Classes can be saved if they are strings, numbers or booleans, not {label!r} of type "
                f"{type(label).__name__}. Train with such labels."
            )
    return {"type": held, "labels": labels}


def classes_of(state: State) -> NDArray[Any]:
    """Read the labels of two or more classes from a file."""
    held = state.text("type", *TYPES)
    labels: Any = state.json("labels")
    sound = isinstance(labels, list) and len(labels) >= 2 and all(type(label) is TYPES[held] for label in labels)
    require(sound, f"it has no list of two or more classes of type {held}")
    require(len(set(labels)) == len(labels), "a class is listed twice")
    if TYPES[held] is str:
        short = all(len(label) <= LONGEST for label in labels)
        require(short, f"the name of a class has more than {LONGEST:,} characters")
    classes: NDArray[Any] = np.array(labels, held)
    require(classes.tolist() == labels, f"a class is not of type {held}")
    return classes
