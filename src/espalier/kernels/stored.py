"""Kernels and similarities in files: the name of a class of Espalier, and its fields. No expression is parsed."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, Self

from espalier.errors import InputError
from espalier.storage import State, Storable, require

MAX_INTEGERS = 2_000_000  # the sum of all in a kernel, which may hold a number for each length or round
MAX_NESTED = 10  # kernels inside kernels: each may compute its inner one twice, for the matrix and for its diagonal


class StorableFields(Storable):
    """A dataclass whose fields are numbers, texts, hyperparameters, arrays, and other values that a file can hold."""

    def to_state(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self) if field.init}  # type: ignore[arg-type]

    @classmethod
    def from_state(cls, state: State) -> Self:
        return cls(**state.values())


class StorableKernel(StorableFields):
    """A kernel in a file, within limits."""

    def to_state(self) -> dict[str, Any]:
        if _depth(self) > MAX_NESTED:
            raise InputError(f"A kernel with more than {MAX_NESTED} kernels inside each other cannot be saved.")
        return super().to_state()

    @classmethod
    def from_state(cls, state: State) -> Self:
        total = sum(_integers([state.json(name) for name in state.names()]))
        require(total <= MAX_INTEGERS, f"the integers of its kernel add up to more than {MAX_INTEGERS:,}")
        kernel = super().from_state(state)
        hash(kernel)  # kernels are hashable: this fails if a field cannot be part of a kernel
        require(_depth(kernel) <= MAX_NESTED, f"more than {MAX_NESTED} kernels are nested in each other")
        return kernel


def written(value: Any, *first: str) -> str:
    """The call that makes a dataclass, without arguments that equal their defaults or print like them.

    ``first`` are the arguments without a default, as they are written; if it is empty, these are written by name.
    """
    shown = list(first)
    for field in fields(value):
        setting = getattr(value, field.name)
        is_written = first and field.default is MISSING
        if not is_written and setting != field.default and repr(setting) != repr(field.default):
            shown.append(f"{field.name}={setting!r}")
    return f"{type(value).__name__}({', '.join(shown)})"


def columns_read(kernel: object) -> set[str | None]:
    """The columns of a table that a kernel, one inside it, or a mean reads."""
    on = getattr(kernel, "on", None)
    own: set[str | None] = set(on) if isinstance(on, tuple) else {on}
    children = kernel._children() if hasattr(kernel, "_children") else []
    return own.union(*(columns_read(child) for _, child in children))


def _depth(kernel: Any) -> int:
    return 1 + max((_depth(child) for _, child in kernel._children()), default=0)


def _integers(value: object) -> list[int]:
    if isinstance(value, dict | list):
        inside = value.values() if isinstance(value, dict) else value
        return [number for part in inside for number in _integers(part)]
    return [abs(value)] if type(value) is int else []
