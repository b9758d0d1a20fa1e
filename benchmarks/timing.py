"""Measuring: alternating runs, the best of several, and peak memory in fresh processes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any


def best(*functions: Callable[[], Any], runs: int = 5) -> list[float]:
    """Seconds of each function, the best of several; runs alternate, so that all meet the same machine."""
    seconds = [float("inf")] * len(functions)
    for _ in range(runs):
        for k, function in enumerate(functions):
            start = time.perf_counter()
            function()
            seconds[k] = min(seconds[k], time.perf_counter() - start)
    return seconds


def resident(peak: bool = False) -> int:
    """Bytes this process holds now, or held at most."""
    name = "VmHWM" if peak else "VmRSS"
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(name))


def reset_peak() -> None:
    """Forget the peak so far."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def fresh_process(module: str, *arguments: str) -> dict[str, Any]:
    """What ``python -m module arguments`` printed as JSON."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
