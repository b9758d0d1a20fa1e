"""The checksum inside a saved file: SHA-256 over all of its bytes, so that no flipped bit goes unnoticed.

A saved file is safetensors whose metadata hold one JSON text. The first entry of that text is the checksum, 64
hexadecimal digits. It is computed over the whole file with zeros in the place of these digits, so it covers lengths,
names, types and padding as well as numbers. A checksum finds damage. It proves nothing about who wrote a file, so
readers check everything in it again.
"""

from __future__ import annotations

import hashlib
import re

from espalier.errors import InputError

KEY = "sha256"
UNSEALED = "0" * 64
# Quotes inside a JSON string are escaped, so no label can be mistaken for the start of the text.
_PLACE = re.compile(rb'"espalier": ?"\{\\"sha256\\": ?\\"([0-9a-f]{64})\\"')


def sealed(data: bytes) -> bytes:
    """The same file with its checksum filled in; unchanged if it has no place for one."""
    place = _place(data)
    if place is None:
        return data
    first, last = place
    return data[:first] + _digest(data, first, last).encode() + data[last:]


def check_seal(data: bytes, path: object) -> bool:
    """Whether a file has a checksum; raise if it does not match the contents."""
    place = _place(data)
    if place is None:
        return False
    first, last = place
    if _digest(data, first, last).encode() != data[first:last]:
        raise InputError(
            f"{path} is damaged: its SHA-256 checksum is not that of its contents. Copy the file again from an intact "
            "copy, or save it again."
        )
    return True


def _place(data: bytes) -> tuple[int, int] | None:
    """The place of the digits."""
    found = _PLACE.search(data, 8, min(8 + int.from_bytes(data[:8], "little"), len(data)))
    return None if found is None else found.span(1)


def _digest(data: bytes, first: int, last: int) -> str:
    whole = memoryview(data)
    digest = hashlib.sha256(whole[:first])
    digest.update(UNSEALED.encode())
    digest.update(whole[last:])
    return digest.hexdigest()
