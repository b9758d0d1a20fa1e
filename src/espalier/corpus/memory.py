"""What a machine has: cores, and amounts of memory as a caller writes them and as people read them."""

from __future__ import annotations

import os
import re

_UNITS = {"": 1, "b": 1} | {
    prefix + suffix: base**power
    for power, prefix in enumerate("kmgt", start=1)
    for suffix, base in (("", 1024), ("b", 1000), ("ib", 1024))
}


def parse_memory(memory: int | float | str | None) -> int:
    """Return a number of bytes: ``"2 GiB"``, ``"500 MB"``, an int, or a quarter of the machine's memory.

    Examples
    --------
    >>> parse_memory("1.5 KiB"), parse_memory(10)
    (1536, 10)
    """
    if memory is None:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([a-zA-Z]*)\s*", memory)
        unit = _UNITS.get(match[2].lower()) if match else None
        if match is None or unit is None:
            raise ValueError(f"memory must be a number of bytes or a text such as '2 GiB', got {memory!r}.")
        return parse_memory(float(match[1]) * unit)
    if not memory > 0:
        raise ValueError(f"memory must be positive, got {memory!r}.")
    return int(memory)


def n_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def show_bytes(n: float) -> str:
    """Write a number of bytes for people.

    Examples
    --------
    >>> show_bytes(1536), show_bytes(12)
    ('1.5 KiB', '12 bytes')
    """
    if n < 1024:
        return f"{int(n)} bytes"
    for unit in ("KiB", "MiB", "GiB"):
        n /= 1024
        if n < 1024:
            return f"{n:.1f} {unit}"
    return f"{n / 1024:.1f} TiB"
