"""Checks of numbers, truth values and choices that a caller passes, and of numbers in texts.

Numbers of numpy are accepted and become numbers of Python, which print as they are read. Truth values
are not numbers, and numbers are not truth values.
"""

from __future__ import annotations

import math
import re
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError

LARGEST = 2**31 - 1  # what the compiled core counts with
_SPELLED = re.compile(
    r"\s*[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)\s*", re.ASCII | re.IGNORECASE
)


def is_whole(value: object) -> bool:
    """True for integers of Python and of numpy."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def whole_number(
    name: str, value: Any, least: int = 1, most: float = LARGEST, *, none: bool = False, wanted: str | None = None
) -> int:
    """Return an argument from ``least`` to ``most`` as an integer of Python, or say what is wrong with it.

    With ``none`` the message says that None is allowed too, which the caller handles. ``wanted`` says in words what is
    allowed, if the default message would say it badly.

    Examples
    --------
    >>> whole_number("k", np.int32(3))
    3
    >>> whole_number("k", 2**40)
    Traceback (most recent call last):
      ...
    ValueError: k must be a positive integer, at most 2,147,483,647, got 1099511627776.
    """
    if is_whole(value) and least <= value <= most:
        return int(value)
    if wanted is None:
        wanted = "a positive integer" if least == 1 else f"an integer of at least {least}"
        if is_whole(value) and value > most:
            wanted += f", at most {most:,}"
        wanted += " or None" if none else ""
    raise ValueError(f"{name} must be {wanted}, got {shown(value)}.")


def finite_number(name: str, value: object, *, zero: bool = False) -> float:
    """Return an argument that is a positive finite number, or with ``zero`` also 0; or say what is wrong with it."""
    number = as_float(value) if isinstance(value, Real) and not isinstance(value, bool | np.bool_) else math.nan
    if 0 < number < math.inf or (zero and number == 0):
        return number
    raise ValueError(f"{name} must be {'0 or ' if zero else ''}a positive finite number, got {shown(value)}.")


def check_finite(name: str, value: object, *, words: tuple[str, ...] = ()) -> None:
    """Refuse an argument that is no finite number, of either sign, and none of some words."""
    is_number = isinstance(value, Real) and not isinstance(value, bool | np.bool_) and math.isfinite(as_float(value))
    if not is_number and not (isinstance(value, str) and value in words):
        wanted = " or ".join([*map(repr, words), "a finite number"])
        raise ValueError(f"{name} must be {wanted}, got {shown(value)}.")


def truth_value(name: str, value: object) -> bool:
    """Return an argument as a truth value of Python; 1 and "no" are none."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise TypeError(f"{name} must be True or False, got {shown(value)}.")


def check_choice(name: str, value: object, *allowed: object) -> None:
    """Refuse an argument that is none of some values."""
    if value not in allowed:
        *others, last = map(repr, allowed)
        raise ValueError(f"{name} must be {', '.join(others)} or {last}, got {value!r}.")


def as_float(value: Any) -> float:
    """Return a number as a float; infinite if no float is large enough."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value > 0 or -1)


def number_in_text(text: str) -> float:
    """The number that a field of a file spells, in ASCII and between ASCII blanks; others are a ValueError.

    ``float`` alone also reads ``1_000``, digits of other scripts, and numbers between no-break spaces, which belong to
    words. As for ``float``, a number may be too large, infinite or NaN; the caller handles these.
    """
    if _SPELLED.fullmatch(text) is None:
        raise ValueError(f"{text[:40]!r} is not a number.")
    return float(text)


def finite_in_text(text: str) -> float | None:
    """The finite number that a field of a file spells, as :func:`number_in_text` reads it; None if there is none."""
    try:
        number = number_in_text(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def float_array(given: object, name: str) -> NDArray[np.float64]:
    """Return a new array of float64; an integer that is too large for a float64 raises an error with its name."""
    try:
        return np.array(given, np.float64)
    except OverflowError:
        raise InputError(f"{name} contains an integer that is too large for a float64. Use smaller numbers.") from None


def shown(value: object) -> str:
    """Show a value in a message; of an integer with very many digits, show only their number."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return f"an integer of about {math.ceil(value.bit_length() * math.log10(2)):,} digits"
    return repr(value)
