"""States: what an object is made of, as JSON with references to arrays, and objects inside objects.

``pack`` turns what ``to_state`` returns into JSON and arrays. :class:`State` reads it back and checks every value that
it hands out, because a file may be damaged or made by a stranger.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.storage.homes import class_of, kind_of

ARRAY, KIND, PAIRS = "$array", "$kind", "$pairs"  # the last is a mapping whose keys are not texts
MAX_NESTED = 40  # objects inside objects

Arrays = dict[str, NDArray[Any]]
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Made = TypeVar("Made")


def pack(value: object, arrays: Arrays, path: str = "", depth: int = 0) -> Json:
    """Return a value as JSON; its arrays are added to ``arrays`` under their paths."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays[path] = np.ascontiguousarray(value)
        return {ARRAY: path}
    if isinstance(value, list | tuple):
        return [pack(item, arrays, f"{path}[{k}]", depth) for k, item in enumerate(value)]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return _packed(value, arrays, path, depth)
    if isinstance(value, Mapping):
        return {PAIRS: pack(list(value.items()), arrays, path, depth)}
    return pack_object(value, arrays, path, depth)


def pack_object(value: Any, arrays: Arrays, path: str = "", depth: int = 0) -> dict[str, Json]:
    """Return the kind of an object and its state: what ``to_state`` returns, or the fields of a dataclass."""
    kind = kind_of(value)
    if depth >= MAX_NESTED:
        raise InputError(f"More than {MAX_NESTED} objects enclose this {kind}, which is too many for a file.")
    if hasattr(value, "to_state"):
        state: Mapping[str, object] = value.to_state()
    else:
        state = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    return {KIND: kind, **_packed(state, arrays, path, depth + 1)}


def _packed(state: Mapping[str, object], arrays: Arrays, path: str, depth: int) -> dict[str, Json]:
    prefix = f"{path}." if path else ""
    return {key: pack(item, arrays, prefix + key, depth) for key, item in state.items()}


class State:
    """The state of one object, as a file holds it.

    Its methods raise ``InputError`` if a value is missing or of another kind. The messages do not name the file; the
    reader of the file adds its name.
    """

    def __init__(self, content: object, arrays: Mapping[str, NDArray[Any]], depth: int = 0) -> None:
        if not isinstance(content, dict):
            raise InputError(f"a JSON object was expected in place of {content!r:.60}")
        if depth > MAX_NESTED:
            raise InputError(f"more than {MAX_NESTED} objects are nested in each other")
        self._content: dict[str, object] = content
        self._arrays, self._depth = arrays, depth

    def __contains__(self, name: str) -> bool:
        return name in self._content

    def names(self) -> list[str]:
        """The names of all values."""
        return [name for name in self._content if name != KIND]

    def json(self, name: str) -> object:
        """A value as it is in the file."""
        if name not in self._content:
            raise InputError(f"it lacks {name!r}")
        return self._content[name]

    def value(self, name: str) -> object:
        """A value of any kind: lists become tuples, references arrays, and states objects."""
        return self._made(self.json(name))

    def values(self) -> dict[str, object]:
        """All values by name, each of any kind."""
        return {name: self.value(name) for name in self.names()}

    def object(self, name: str, *kinds: type[Made]) -> Made:
        """An object of one of these classes."""
        made = self.value(name)
        if not isinstance(made, kinds):
            raise InputError(f"{name!r} must be a {kinds[0].__name__}, got {type(made).__name__}")
        return made

    def part(self, name: str) -> State:
        """The state inside this one."""
        return State(self.json(name), self._arrays, self._depth + 1)

    def parts(self, name: str) -> list[State]:
        """The states of a list."""
        return [State(item, self._arrays, self._depth + 1) for item in self._list(name)]

    def array(self, name: str, kind: Any, n_axes: int = 1) -> NDArray[Any]:
        """An array of numbers of one type with ``n_axes`` axes."""
        array = self._made(self._content.get(name))
        if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != n_axes:
            shape = {1: "vector", 2: "matrix"}.get(n_axes, f"array with {n_axes} axes")
            raise InputError(f"the array {name!r} is missing, or no {shape} of {np.dtype(kind).name}")
        return array

    def texts(self, name: str) -> list[str]:
        """A list of texts."""
        listed = self._list(name)
        require(all(isinstance(text, str) for text in listed), f"{name!r} must be a list of texts")
        return listed

    def text(self, name: str, *allowed: str) -> str:
        """A text, one of those that are allowed."""
        text = self.json(name)
        require(isinstance(text, str), f"{name!r} must be a text")
        require(not allowed or text in allowed, f"{name!r} must be one of {', '.join(allowed)}")
        return str(text)

    def whole(self, name: str, least: int = 0, most: float = math.inf) -> int:
        """An integer within limits."""
        number = self.json(name)
        if type(number) is not int or not least <= number <= most:
            raise InputError(f"{name} is out of range")
        return number

    def number(self, name: str, least: float = -math.inf) -> float:
        """A finite number that is not below the least."""
        number: Any = self.json(name)
        sound = type(number) in (int, float) and math.isfinite(number) and number >= least
        require(sound, f"{name} is out of range, or no number")
        return float(number)

    def truth(self, name: str) -> bool:
        """True or False."""
        value = self.json(name)
        require(type(value) is bool, f"{name!r} must be true or false")
        return bool(value)

    def _list(self, name: str) -> list[Any]:
        listed = self.json(name)
        if not isinstance(listed, list):
            raise InputError(f"{name!r} must be a list")
        return listed

    def _made(self, value: Any) -> Any:
        if isinstance(value, list):
            return tuple([self._made(item) for item in value])
        if not isinstance(value, dict):
            return value
        if KIND in value:
            return restored(value, self._arrays, self._depth + 1)
        if set(value) == {ARRAY}:
            if not isinstance(value[ARRAY], str) or value[ARRAY] not in self._arrays:
                raise InputError(f"the array {value[ARRAY]!r:.60} is missing")
            return self._arrays[value[ARRAY]]
        if set(value) == {PAIRS}:
            return {self._made(key): self._made(item) for key, item in value[PAIRS]}
        return {name: self._made(item) for name, item in value.items()}


def restored(content: object, arrays: Mapping[str, NDArray[Any]], depth: int = 0) -> object:
    """The object that a state describes."""
    state = State(content, arrays, depth)
    kind = state.text(KIND)
    try:
        made = class_of(kind)
    except KeyError:
        raise InputError(f"it holds a {kind!r:.60}, which this version of Espalier does not have") from None
    if hasattr(made, "from_state"):
        return made.from_state(state)
    require(is_dataclass(made), f"it holds a {kind!r}")
    return made(**state.values())


def require(condition: object, what: str) -> None:
    """Raise if a condition that a file must meet is not true; ``what`` is the reason."""
    if not bool(condition):
        raise InputError(what)
