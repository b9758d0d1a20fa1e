"""Saved files: safetensors with a JSON header. No code is ever loaded.

The header says what the file holds: the format and its version, the version of Espalier, the kind of object, and what
it was trained on. The array ``state`` is a JSON text that says what the object is made of and names the other arrays.
A file is read whole, so that changes on the disk during reading cannot hurt. Its checksum is verified before anything
else is used.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, overload

import numpy as np

from espalier.errors import InputError, warn_user
from espalier.storage.checksums import KEY, UNSEALED, check_seal, sealed
from espalier.storage.homes import class_of
from espalier.storage.old_files import FORMATS, translated
from espalier.storage.states import KIND, Arrays, Made, State, pack_object, require, restored
from espalier.structures.files import write_bytes

FORMAT, VERSION = "espalier", 1
STATE = "state"  # the array that holds the JSON text
# The exceptions that a garbled state causes in the code that reads it.
_WRONG = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True)
class Contents:
    """What a file holds: its header, the state of the object, and all arrays by name."""

    kind: str
    header: Mapping[str, Any]
    state: Mapping[str, Any]
    arrays: Arrays
    n_bytes: int


def save(value: object, path: str | Path, trained_on: Mapping[str, object]) -> None:
    """Write an object that can be saved, whole or not at all."""
    from safetensors.numpy import save as as_bytes

    from espalier import __version__

    arrays: Arrays = {}
    state = pack_object(value, arrays)
    header = {"format": FORMAT, "version": VERSION, "espalier": __version__, "kind": state.pop(KIND)}
    try:
        arrays[STATE] = np.frombuffer(json.dumps(state, ensure_ascii=False).encode(), np.uint8)
        text = json.dumps({KEY: UNSEALED, **header, "trained_on": dict(trained_on)}, ensure_ascii=False)
        data = sealed(as_bytes(arrays, metadata={"espalier": text}))
    except UnicodeEncodeError as error:
        raise InputError(
            f"{path} cannot be written: {error.object[error.start : error.end]!r} in a label is not valid UTF-8."
        ) from None
    write_bytes(path, data)


@overload
def load(path: str | Path) -> Any: ...
@overload
def load(path: str | Path, wanted: type[Made]) -> Made: ...
def load(path: str | Path, wanted: type[object] | None = None) -> object:
    """Read what a file holds: a model, a parser, a corpus, a kernel, or whatever else has a method ``save``.

    Only the file says which class that is, so without ``wanted``, the class that it should hold, the type of the result
    is Any. Files of Espalier 0.1 are read, too. An InputError says if the file is damaged, from another program or a
    later version, or does not hold a ``wanted``.
    """
    contents = read(path)
    try:
        found = class_of(contents.kind)
    except KeyError:
        written = contents.header.get("espalier")
        raise InputError(
            f"{path} holds a {contents.kind!r:.60}, which this version of Espalier does not have. It was written by "
            f"Espalier {written!r:.40}: use that version or a later one."
        ) from None
    if wanted is not None and not issubclass(found, wanted):
        raise InputError(f"{path} holds a {contents.kind}, no {wanted.__name__}. espalier.load(path) reads it.")
    try:
        return restored({KIND: contents.kind, **contents.state}, contents.arrays)
    except _WRONG as error:
        raise _damaged(path, error, f"the {contents.kind}") from None


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


def read(path: str | Path) -> Contents:
    """Read a file and verify its checksum, without making its object or importing other rooms."""
    if Path(path).is_dir():
        raise IsADirectoryError(21, "A saved file is one file, and this is a folder", os.fspath(path))
    data = Path(path).read_bytes()
    has_seal = check_seal(data, path)
    arrays, header = _arrays(data, path), _header(data)
    found = header.get("format")
    if found != FORMAT and not (isinstance(found, str) and found in FORMATS):
        raise InputError(f"{path} is a safetensors file, but not one that Espalier saved.")
    if header.get("version") != VERSION:
        raise InputError(
            f"{path} was written in version {header.get('version')!r:.40} of the format, and this Espalier reads "
            f"version {VERSION}. Use a later version of Espalier, or save it again with this one."
        )
    if not has_seal:
        _check_unsealed(path, header)
    header.pop(KEY, None)
    try:
        if found == FORMAT:
            kind, state = str(header["kind"]), json.loads(arrays.pop(STATE).tobytes())
        else:
            kind, state = translated(header, arrays, path)
            header = {"espalier": "0.1"}
        require(isinstance(state, dict), "its state is not a JSON object")
    except _WRONG as error:
        raise _damaged(path, error) from None
    return Contents(kind, header, state, arrays, len(data))


def _arrays(data: bytes, path: str | Path) -> Arrays:
    from safetensors import SafetensorError
    from safetensors.numpy import load as arrays_of

    try:
        return dict(arrays_of(data))
    except SafetensorError as error:
        raise InputError(f"{path} is not a safetensors file, or is damaged ({error}). Save it again.") from None
    except (AttributeError, KeyError, TypeError) as error:
        # Numbers that numpy does not have, such as bfloat16.
        raise InputError(f"{path} is not a file that Espalier saved: it has numbers of type {error}.") from None


def _header(data: bytes) -> dict[str, Any]:
    try:
        size = int.from_bytes(data[:8], "little")
        header = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["espalier"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return header if isinstance(header, dict) else {}


def _damaged(path: str | Path, error: Exception, what: str = "it") -> InputError:
    why = f"it lacks {error}" if isinstance(error, KeyError) else str(error).rstrip(".")
    return InputError(f"{path} is damaged: {why}. Save {what} again.")


def _check_unsealed(path: str | Path, header: Mapping[str, object]) -> None:
    """Warn about a file of version 0.1, which wrote no checksum; raise if a checksum is damaged."""
    if header.get("format") == FORMAT or next(iter(header)) != "format":
        raise InputError(f"{path} is damaged: its checksum cannot be read. Save it again.")
    warn_user(
        f"{path} has no checksum, because Espalier 0.1 or another program wrote it: damage would not be noticed. "
        "Save it again to add one."
    )
