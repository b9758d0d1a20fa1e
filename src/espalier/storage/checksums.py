"""The checksum inside a saved file: SHA-256 over all of its bytes, so that no flipped bit goes unnoticed.

A saved file is safetensors whose metadata hold one JSON text. The first entry of that text is the checksum, 64
hexadecimal digits. It is taken over the whole file with zeros in the place of these digits: lengths, names, types and
padding count as well as numbers. A checksum finds damage. It proves nothing about who wrote a file, so that everything
in it is checked again by those who read it.
"""

from __future__ import annotations

import hashlib
import re

from espalier.errors import InputError

KEY = "sha256"
UNSEALED = "0" * 64
# Quotes inside a JSON string are escaped, so that no label can be taken for the start of the text.
_PLACE = re.compile(rb'"espalier": ?"\{\\"sha256\\": ?\\"([0-9a-f]{64})\\"')


def sealed(data: bytes) -> bytes:
    """The same file with the checksum that belongs to it; the file as it is where it has no place for one."""
    place = _place(data)
    if place is None:
        return data
    first, last = place
    return data[:first] + _digest(data, first, last).encode() + data[last:]


def check_seal(data: bytes, path: object) -> bool:
    """Whether a file has a checksum; an error if it does not fit the file."""
    place = _place(data)
    if place is None:
        return False
    first, last = place
    if _digest(data, first, last).encode() != data[first:last]:
        raise InputError(
            f"{path} is damaged: its SHA-256 checksum is not that of its contents. Copy the file again from where it "
            "is whole, or save it again."
        )
    return True


def _place(data: bytes) -> tuple[int, int] | None:
    """Where the digits stand."""
    found = _PLACE.search(data, 8, min(8 + int.from_bytes(data[:8], "little"), len(data)))
    return None if found is None else found.span(1)


def _digest(data: bytes, first: int, last: int) -> str:
    whole = memoryview(data)
    digest = hashlib.sha256(whole[:first])
    digest.update(UNSEALED.encode())
    digest.update(whole[last:])
    return digest.hexdigest()
