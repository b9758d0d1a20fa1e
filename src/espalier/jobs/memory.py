"""The cores and the memory that a process may use, and amounts of memory as text."""

from __future__ import annotations

import functools
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from numbers import Integral, Real
from pathlib import Path

_UNITS = {"": 1, "b": 1} | {
    prefix + suffix: base**power
    for power, prefix in enumerate("kmgt", start=1)
    for suffix, base in (("", 1024), ("b", 1000), ("ib", 1024))
}
_MOST = 2**62  # more than any machine has, but the compiled core can add to it without overflow
_ALLOWED = "memory must be a positive whole number of bytes or a text such as '2 GiB'"


def parse_memory(memory: int | float | str | None) -> int:
    """Return a number of bytes: ``"2 GiB"``, ``"500 MB"``, an int, or a quarter of what the process may use.

    Examples
    --------
    >>> parse_memory("1.5 KiB"), parse_memory(10)
    (1536, 10)
    """
    if memory is None:
        return max(1, usable_memory() // 4)
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([a-zA-Z]*)\s*", memory, re.ASCII)
        unit = _UNITS.get(match[2].lower()) if match else None
        n_bytes = 0 if match is None or unit is None else int(Fraction(match[1]) * unit)
    elif isinstance(memory, bool) or not isinstance(memory, Real):
        raise TypeError(f"{_ALLOWED}, got {memory!r}.")
    else:
        is_whole = isinstance(memory, Integral) or float(memory).is_integer()
        n_bytes = int(memory) if is_whole else 0
    if n_bytes < 1:
        raise ValueError(f"{_ALLOWED}, got {memory!r}.")
    return min(n_bytes, _MOST)


def usable_memory(root: Path = Path("/")) -> int:
    """How many bytes this process may use: the least of the machine's memory, its control groups' limits and its own.

    ``root`` is the folder that contains ``proc`` and ``sys``.
    """
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *_limits_of_process(), *_limits_of_groups(int(time.monotonic()), root)])


def _limits_of_process() -> Iterator[int]:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    for kind in ("RLIMIT_AS", "RLIMIT_DATA"):
        limit = resource.getrlimit(getattr(resource, kind))[0] if hasattr(resource, kind) else resource.RLIM_INFINITY
        if limit != resource.RLIM_INFINITY:
            yield limit


@functools.lru_cache(maxsize=1)
def _limits_of_groups(second: int, root: Path) -> list[int]:
    """The limits of the control groups of this process and of all groups above them, of both versions.

    They are read at most once a second, because reading takes longer than comparing a few trees.
    """
    try:
        groups = (root / "proc/self/cgroup").read_text("utf-8").splitlines()
    except OSError:
        return []
    limits = []
    for line in groups:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            top, name = root / "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            top, name = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        group = top / path.strip("/")
        # In a container the path may be that of the host, while the container's own group is mounted at the top.
        for folder in (group, *group.parents):
            with suppress(OSError):
                text = (folder / name).read_text("utf-8").strip()
                limits += [int(text)] if text.isascii() and text.isdigit() else []
            if folder == top:
                break
    return limits


def n_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def show_bytes(n: float) -> str:
    """Format a number of bytes for people.

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
