"""What a class inherits to be saved: ``save`` and ``load``."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from espalier.storage.files import load, save
from espalier.storage.states import State


class Storable:
    """Something that one file can hold; a subclass has ``to_state`` and ``from_state``, and a line in ``homes.py``."""

    __slots__ = ()

    def save(self, path: str | Path) -> None:
        """Write this to one file (safetensors with a JSON header), whole or not at all; ``espalier.load`` reads it.

        What belongs to a machine or a run, such as ``n_threads``, ``memory`` and ``progress``, is not saved.
        """
        save(self, path, self.trained_on())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that :meth:`save` wrote; one that holds something else is an error that says what it holds."""
        return load(path, cls)

    def trained_on(self) -> dict[str, object]:
        """What a file says about the data that this was learned from: numbers and kinds of items, by name."""
        return {}

    def to_state(self) -> dict[str, object]:
        """Return what this is made of: values of JSON, arrays, and objects that can be saved."""
        raise NotImplementedError

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make this from the state in a file; whatever is wrong with it is an ``InputError``."""
        raise NotImplementedError
