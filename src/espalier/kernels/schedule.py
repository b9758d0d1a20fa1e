"""How a matrix is computed: threads, memory and progress. What is computed never depends on it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

Progress = Callable[[float], object]

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


@dataclass(frozen=True)
class Schedule:
    """Threads, a memory budget in bytes, whom to tell about progress, and whether to warn."""

    n_threads: int
    memory: int
    progress: Progress | None = None
    warns: bool = True

    @staticmethod
    def of(
        n_threads: int | None = None,
        memory: int | float | str | None = None,
        progress: Progress | None = None,
    ) -> Schedule:
        """Check what a caller asked for and fill in what was left out."""
        if n_threads is None:
            n_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if isinstance(n_threads, bool) or not isinstance(n_threads, int) or n_threads < 1:
            raise ValueError(f"n_threads must be a positive integer or None, got {n_threads!r}.")
        return Schedule(n_threads, parse_memory(memory), progress)

    def part(self, k: int, n: int) -> Schedule:
        """The schedule of part ``k`` of ``n``, whose progress is that part of the whole."""
        return self if n == 1 else self.between(k / n, (k + 1) / n)

    def share(self, k: int, n: int) -> Schedule:
        """The schedule of part ``k`` of ``n`` that are held at the same time: an equal share of the memory."""
        return replace(self.part(k, n), memory=max(1, self.memory // n))

    def between(self, start: float, end: float) -> Schedule:
        """The schedule of a part whose progress takes the whole from ``start`` to ``end``."""
        whole = self.progress
        if whole is None:
            return self
        return replace(self, progress=lambda fraction: whole(start + (end - start) * fraction))

    def done(self) -> None:
        """Say that this part is finished."""
        if self.progress is not None:
            self.progress(1.0)

    def quietly(self) -> Schedule:
        """The schedule of a part whose warnings another part gives: one call warns once."""
        return replace(self, warns=False)
