"""Values that are computed once and then kept.

``functools.cached_property`` holds one lock for all objects of a class before Python 3.12. A child that is forked while
another thread computes such a value would inherit the lock and wait for it for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class kept(Generic[T]):  # noqa: N801  a decorator, as property is
    """A property that is computed when it is first read; two threads may both compute it, and one value stays."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> kept[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> kept[T] | T:
        if instance is None:
            return self
        # Without __set__, the entry hides this property from the next reader.
        value: T = instance.__dict__.setdefault(self._name, self._compute(instance))
        return value
