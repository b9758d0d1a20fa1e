"""Saved files taken apart and put together again, with a checksum that fits: for tests of what else is checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from espalier.storage.checksums import KEY, UNSEALED, sealed
from espalier.storage.files import STATE

FILE = "$file"  # where the header of the file stands in a state


def split(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The state of a file, with its header under the key ``$file``, and its arrays; of an old file its header."""
    from safetensors.numpy import load

    size = int.from_bytes(data[:8], "little")
    header = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["espalier"])
    header, arrays = {key: value for key, value in header.items() if key != KEY}, dict(load(data))
    if STATE not in arrays:
        return header, arrays
    return {FILE: header, **json.loads(arrays.pop(STATE).tobytes())}, arrays


def joined(state: Any, arrays: dict[str, np.ndarray]) -> bytes:
    """A file of this state and these arrays."""
    from safetensors.numpy import save

    header = state
    if isinstance(state, dict) and FILE in state:
        header = state[FILE]
        rest = {key: value for key, value in state.items() if key != FILE}
        arrays = {**arrays, STATE: np.frombuffer(json.dumps(rest).encode(), np.uint8)}
    if isinstance(header, dict):
        header = {KEY: UNSEALED, **header}
    return sealed(save(arrays, metadata={"espalier": json.dumps(header)}))


def rewrite(path: Path, change: Callable[[dict[str, Any], dict[str, np.ndarray]], Any]) -> None:
    """Let ``change`` work on the state and the arrays of a saved file."""
    state, arrays = split(path.read_bytes())
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(state, arrays)
    path.write_bytes(joined(state, arrays))
