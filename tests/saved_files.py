"""Saved files taken apart and put together again, with a checksum that fits: for tests of what else is checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from espalier.corpus.checksums import KEY, UNSEALED, sealed


def split(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of a file."""
    from safetensors.numpy import load

    size = int.from_bytes(data[:8], "little")
    header = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["espalier"])
    return {key: value for key, value in header.items() if key != KEY}, load(data)


def joined(header: Any, arrays: dict[str, np.ndarray]) -> bytes:
    """A file of this header and these arrays."""
    from safetensors.numpy import save

    if isinstance(header, dict):
        header = {KEY: UNSEALED, **header}
    return sealed(save(arrays, metadata={"espalier": json.dumps(header)}))


def rewrite(path: Path, change: Callable[[dict[str, Any], dict[str, np.ndarray]], Any]) -> None:
    """Let ``change`` work on the header and the arrays of a saved file."""
    header, arrays = split(path.read_bytes())
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(header, arrays)
    path.write_bytes(joined(header, arrays))
