"""Arrays in one file: safetensors, with a JSON header that says what they are. No code is ever loaded.

A file is read whole and then looked at: what happens to it on the disk meanwhile cannot hurt. Its checksum is verified
before anything else is believed.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.storage.checksums import KEY, UNSEALED, check_seal, sealed
from espalier.structures.files import write_bytes

Arrays = dict[str, NDArray[Any]]


def save_arrays(path: str | Path, arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> None:
    """Write arrays and a header with a checksum over both, whole or not at all."""
    from safetensors.numpy import save

    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    try:
        data = save(whole, metadata={"espalier": json.dumps({KEY: UNSEALED, **header}, ensure_ascii=False)})
    except UnicodeEncodeError as error:
        raise InputError(
            f"{path} cannot be written: {error.object[error.start : error.end]!r} in a label is no character of UTF-8."
        ) from None
    write_bytes(path, sealed(data))


def load_arrays(
    path: str | Path, kind: str, form: str, version: int, readers: Mapping[str, str] | None = None
) -> tuple[Arrays, dict[str, Any]]:
    """Read arrays and their header; a file that is damaged, foreign or of another version is an error that says so.

    Parameters
    ----------
    path
        The file.
    kind, form, version
        What the file should hold, in a word for messages; the name of its format, and the version.
    readers
        By the names of formats that this one may be taken for: what reads them.
    """
    arrays, header = _read(path, kind)
    found = header.get("format") if isinstance(header, dict) else None
    if isinstance(found, str) and found != form and found in (readers or {}):
        raise InputError(f"{path} holds no {kind}, but what {(readers or {})[found]} reads.")
    if not isinstance(header, dict) or found != form:
        raise InputError(f"{path} is a safetensors file, but not a {kind} that Espalier saved.")
    if header.get("version") != version:
        raise InputError(
            f"{path} was written in version {header.get('version')!r} of the format, and this Espalier reads version "
            f"{version}. Save it again with this version of Espalier."
        )
    return arrays, header


def _read(path: str | Path, kind: str) -> tuple[Arrays, Any]:
    """All arrays, and the header as JSON without its checksum; None where there is none."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    if Path(path).is_dir():
        raise IsADirectoryError(21, f"A {kind} is one file, and this is a folder", os.fspath(path))
    data = Path(path).read_bytes()
    has_seal = check_seal(data, path)
    try:
        arrays = load(data)
    except SafetensorError as error:
        raise InputError(f"{path} is no safetensors file, or is damaged ({error}). Save the {kind} again.") from None
    except (AttributeError, KeyError, TypeError) as error:
        # Numbers that numpy does not have, such as bfloat16.
        raise InputError(f"{path} is not a {kind} that Espalier saved: it has numbers of type {error}.") from None
    header = _header(data)
    if isinstance(header, dict) and not has_seal:
        _check_unsealed(path, kind, header)
    return arrays, {key: value for key, value in header.items() if key != KEY} if isinstance(header, dict) else None


def _header(data: bytes) -> Any:
    try:
        size = int.from_bytes(data[:8], "little")
        return json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["espalier"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _check_unsealed(path: str | Path, kind: str, header: dict[str, Any]) -> None:
    """Tell a file of version 0.1, which wrote no checksum, from one whose checksum is damaged."""
    if next(iter(header), "format") != "format":
        raise InputError(f"{path} is damaged: its checksum cannot be read. Save the {kind} again.")
    warnings.warn(
        f"{path} has no checksum, because Espalier 0.1 or another program wrote it: damage would not be noticed. "
        f"Save the {kind} again to add one.",
        UserWarning,
        stacklevel=6,
    )
