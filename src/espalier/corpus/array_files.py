"""Arrays in one file: safetensors, with a JSON header that says what they are. No code is ever loaded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.structures.files import write_bytes

Arrays = dict[str, NDArray[Any]]


def save_arrays(path: str | Path, arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> None:
    """Write arrays and a header, whole or not at all."""
    from safetensors.numpy import save

    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_bytes(path, save(whole, metadata={"espalier": json.dumps(header, ensure_ascii=False)}))


def load_arrays(path: str | Path, kind: str, form: str, version: int) -> tuple[Arrays, dict[str, Any]]:
    """Read arrays and their header; a file that is damaged, foreign or of another version is an error that says so."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise InputError(f"{path} is no safetensors file, or is damaged ({error}). Save the {kind} again.") from None
    try:
        header = json.loads(metadata.get("espalier", ""))
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != form:
        raise InputError(f"{path} is a safetensors file, but not a {kind} that Espalier saved.")
    if header.get("version") != version:
        raise InputError(
            f"{path} was written in version {header.get('version')!r} of the format, and this Espalier reads version "
            f"{version}. Save it again with this version of Espalier."
        )
    return arrays, header
