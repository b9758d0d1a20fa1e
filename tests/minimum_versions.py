"""The least versions that `pyproject.toml` asks for, as constraints of pip: ``python tests/minimum_versions.py``."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path


def minimum_versions() -> dict[str, str | None]:
    """By library, the version after ``>=`` or ``==``; none where it is not bounded from below."""
    project = tomllib.loads((Path(__file__).resolve().parent.parent / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    found = {}
    for requirement in asked:
        name, version = re.fullmatch(r"([\w-]+)(?:\[.*\])?(?:[>=]=([\w.]+)(?:\.\*)?)?", requirement).groups()
        if name != "espalier":
            found[name.lower()] = version
    return found


if __name__ == "__main__":
    sys.stdout.writelines(f"{name}=={version}\n" for name, version in minimum_versions().items())
