"""Methods that exist only with some settings; without these, an error says which are needed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any


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
