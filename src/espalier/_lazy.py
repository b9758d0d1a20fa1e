"""Names that are loaded when they are first used, so that the import stays quick.

A package lists its public names once, in its stub ``__init__.pyi``, as explicit re-exports:
``from espalier.gp import GPRegressor as GPRegressor``. Type checkers read the stub, and so does the package itself.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

Names = tuple[Callable[[str], object], Callable[[], list[str]], list[str]]


def names_of_stub(package: str, file: str) -> Names:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, from the stub beside its file."""
    homes: dict[str, str] = {}
    rooms: list[str] = []  # subpackages: they are listed, but a star import leaves them alone
    for statement in ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ImportFrom) and statement.module is not None:
            for name in statement.names:
                if statement.module == package:
                    rooms.append(name.name)
                else:
                    homes[name.name] = statement.module

    def load(name: str) -> object:
        if name in homes:
            value: object = getattr(import_module(homes[name]), name)
        elif name in rooms:
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}.{_hint(name, package, rooms)}")
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        return sorted([*homes, *rooms, *(name for name in vars(sys.modules[package]) if name.startswith("__"))])

    return load, listed, sorted(homes)


def _hint(name: str, package: str, rooms: list[str]) -> str:
    """Where a public name lives that is not at the top."""
    if name.startswith("_"):
        return ""
    found = [room for room in rooms if name in getattr(import_module(f"{package}.{room}"), "__all__", ())]
    return f" It is {package}.{found[0]}.{name}." if found else ""
