"""Names in the compiled core: the linker keeps one of two functions of one name, whatever their types hold."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

NATIVE = Path(__file__).resolve().parents[2] / "native"


def types_of(path: Path) -> list[str]:
    """The types that a file defines and other files could define too: those in no unnamed namespace."""
    found, spaces = [], []
    for line in path.read_text("utf-8").splitlines():
        if opened := re.match(r"namespace ?(.*?) ?\{", line):
            spaces.append(opened[1])
        elif line.startswith("}  // namespace"):
            spaces.pop()
        elif (named := re.match(r"(?:struct|class|enum class|enum) (\w+)\b(?!<)[^;]*$", line)) and "" not in spaces:
            found.append("::".join([*spaces, named[1]]))
    return found


@pytest.mark.skipif(not NATIVE.is_dir(), reason="the core is not part of this copy")
def test_no_two_types_of_the_core_have_one_name():
    places = defaultdict(list)
    for path in sorted(NATIVE.glob("*/*.?pp")):
        for name in types_of(path):
            places[name].append(str(path.relative_to(NATIVE)))
    assert len(places) > 50
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


@pytest.mark.skipif(not NATIVE.is_dir(), reason="the core is not part of this copy")
def test_no_python_object_of_the_core_outlives_the_interpreter():
    # One at the scope of a namespace would be destroyed when the process ends, after the interpreter.
    paths = sorted(NATIVE.glob("bindings/*.?pp"))
    assert len(paths) > 5
    kept = [
        line
        for path in paths
        for line in re.findall(r"^(?:static |inline )*nb::\w+ \w+[;={].*", path.read_text("utf-8"), re.M)
    ]
    assert kept == []
