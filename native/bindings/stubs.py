"""Writes the types of the compiled module to a file: `python native/bindings/stubs.py src/espalier/_core.pyi`.

nanobind takes them from the bindings. This leaves out its notes on the shape and the order of each array, which no
type checker reads, and lets ruff format the rest.
"""

import re
import subprocess
import sys

from nanobind.stubgen import StubGen

from espalier import _core

NOTED_ARRAY = r"Annotated\[(NDArray\[[\w.]+\]), dict\(shape=\([^)]*\)[^)]*\)\]"


def generated() -> str:
    stubs = StubGen(_core, include_docstrings=False, quiet=True)
    stubs.put(_core)
    text = re.sub(NOTED_ARRAY, r"\1", stubs.get())
    for long, short in [("Annotated, ", ""), ("import numpy.typing\n", ""), ("numpy.typing.NDArray", "NDArray")]:
        text = text.replace(long, short)
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "_core.pyi", "--line-length", "120", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(generated())
