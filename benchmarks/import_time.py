"""What ``import espalier`` costs: CPU seconds of fresh processes, and what they spend them on.

Run it with ``python -m benchmarks.import_time``. CPU time of a process (user and system) is steadier than the
clock on the wall; the best of several runs is the one least disturbed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

LIMIT = 0.3  # CPU seconds that the import may take
RUNS = 7


def cpu_seconds(statement: str, *, runs: int = RUNS) -> float:
    """CPU seconds of a fresh interpreter that runs ``statement``: the best of several."""
    best = float("inf")
    for _ in range(runs):
        process = subprocess.Popen([sys.executable, "-c", statement], env=_environment())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{statement!r} ended with status {process.returncode}.")
        best = min(best, usage.ru_utime + usage.ru_stime)
    return best


def _environment() -> dict[str, str]:
    """An environment that keeps bytecode, as an installed package does, in a folder of its own."""
    folder = os.path.join(tempfile.gettempdir(), f"espalier-bytecode-{os.getuid()}")
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | {
        "PYTHONPYCACHEPREFIX": folder
    }


def slowest_modules(statement: str, *, n: int = 8) -> list[tuple[float, str]]:
    """The modules whose own code took longest to import, with milliseconds."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", statement], capture_output=True, text=True, check=True
    )
    rows = []
    for line in done.stderr.splitlines():
        own, _, rest = line.removeprefix("import time:").partition("|")
        if own.strip().isdigit():
            rows.append((int(own) / 1000, rest.rpartition("|")[2].strip()))
    return sorted(rows, reverse=True)[:n]


def main() -> None:
    cpu_seconds("import espalier", runs=1)  # compiles bytecode and warms the file cache
    bare = cpu_seconds("pass")
    numpy = cpu_seconds("import numpy")
    whole = cpu_seconds("import espalier")
    print(f"CPU seconds of a fresh process, best of {RUNS}:")
    print(f"  python alone        {bare:.3f}")
    print(f"  import numpy        {numpy:.3f}")
    print(f"  import espalier     {whole:.3f}   of which {whole - numpy:.3f} beyond numpy")
    verdict = "within" if whole - bare < LIMIT else "OVER"
    print(f"  the import alone    {whole - bare:.3f}   {verdict} the limit of {LIMIT} s")
    print("The modules that took longest, in milliseconds of their own:")
    for milliseconds, module in slowest_modules("import espalier"):
        print(f"  {milliseconds:7.1f}  {module}")


if __name__ == "__main__":
    main()
