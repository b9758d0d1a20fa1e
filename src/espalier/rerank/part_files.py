"""Finished parts of a long call in files: an interrupted call goes on where it stopped.

A folder holds one file of groups for each finished part, and a description of the call. A file appears whole or not at
all, so a part is finished if its file is there. Parts of calls with other settings or other data are never mixed.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from espalier.errors import InputError
from espalier.structures.files import read_text, write_text
from espalier.structures.group import Candidate, Group
from espalier.structures.group_records import group_record
from espalier.structures.groups import read_groups, write_groups
from espalier.structures.limits import ReadLimits

DESCRIPTION = "description.json"
_N_SHOWN = 200  # characters of a setting; of a longer one there is a digest
_UNLIMITED = ReadLimits(None, None, None)  # the files were written here


class PartFolder:
    """The finished parts of one call.

    Parameters
    ----------
    folder
        Made if it does not exist.
    settings
        All on which the groups depend, by name, as :func:`described` writes it.
    n_parts
        How many parts there are.

    Raises
    ------
    InputError
        If the folder holds parts of a call with other settings, or something else.
    """

    def __init__(self, folder: str | os.PathLike[str], settings: Mapping[str, str], n_parts: int) -> None:
        self._folder, self._n_parts = Path(folder), n_parts
        if self._folder.exists() and not self._folder.is_dir():
            raise InputError(f"{self._folder} is a file, and a folder is needed for the parts. Name another.")
        self._folder.mkdir(parents=True, exist_ok=True)
        if parts := sorted(self._folder.glob("part-*.jsonl")):
            self._check(settings, parts[0].name)
        else:
            write_text(self._folder / DESCRIPTION, json.dumps({"settings": settings}, indent=2) + "\n")

    def read(self, part: int, golds: Sequence[Candidate]) -> list[Group] | None:
        """Return the groups of a part, which have these gold trees; None if it is not finished."""
        path = self._path(part)
        if not path.exists():
            return None
        remedy = "Delete it, and the part is computed again."
        try:
            groups = read_groups(path, limits=_UNLIMITED)
        except InputError as error:
            raise InputError(f"{path} is damaged: {error} {remedy}") from None
        if [group.gold for group in groups] != list(golds):
            raise InputError(f"{path} does not hold the {len(golds):,} sentences of its part. {remedy}")
        return groups

    def write(self, part: int, groups: Iterable[Group]) -> None:
        """Keep the groups of a finished part."""
        write_groups(groups, self._path(part))

    def _path(self, part: int) -> Path:
        return self._folder / f"part-{part + 1}-of-{self._n_parts}.jsonl"

    def _check(self, settings: Mapping[str, str], part: str) -> None:
        """Refuse a folder whose description has other settings, and say which."""
        path = self._folder / DESCRIPTION
        if not path.exists():
            raise InputError(f"{self._folder} has parts, such as {part}, but no {DESCRIPTION}. Use another folder.")
        try:
            there = json.loads(read_text(path))["settings"].items()
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise InputError(f"{path} does not describe parts. Use another folder.") from None
        found = dict(there)
        differences = [
            f"{name} is {_said(found.get(name))} there and {_said(settings.get(name))} here"
            for name in dict.fromkeys((*settings, *found))
            if found.get(name) != settings.get(name)
        ]
        if differences:
            raise InputError(
                f"{self._folder} holds parts of another call: {'; '.join(differences)}. Use another folder, or the "
                "same settings and data."
            )


def described(name: str, value: Any) -> str:
    """Write a setting so that equal settings have equal texts in every process; raise if that cannot be."""
    if isinstance(value, functools.partial):
        parts = [described(name, value.func), *(described(name, own) for own in value.args)]
        parts += [f"{key}={described(key, own)}" for key, own in value.keywords.items()]
        return _shortened(f"partial({', '.join(parts)})")
    if hasattr(value, "__qualname__"):
        return _named(name, value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple | list):
        return _shortened(f"({', '.join(described(name, own) for own in value)})")
    if isinstance(value, set | frozenset):
        return _shortened(f"{{{', '.join(sorted(described(name, own) for own in value))}}}")
    if isinstance(value, dict):
        return _shortened(f"{{{', '.join(f'{key!r}: {described(name, own)}' for key, own in value.items())}}}")
    if isinstance(value, np.ndarray):
        return f"array of {value.dtype} {value.shape}, digest {digest([value.tobytes()])}"
    text = repr(value)
    if " at 0x" in text:
        raise TypeError(
            f"{name} is {text:.80}, which cannot be compared with that of another call, as folder needs it. Give "
            "numbers, texts or functions of a module, or leave folder out."
        )
    return _shortened(text)


def settings_of(
    golds: Sequence[Candidate],
    documents: Sequence[Hashable] | None,
    rows: Sequence[int] | None,
    others: Mapping[str, object],
) -> dict[str, str]:
    """Write all on which the groups of a call depend, by name; data by its size and a digest."""
    from espalier import __version__

    groups = [Group([gold]) for gold in golds]
    kinds = " and ".join(sorted({group.kind for group in groups}))
    records = (json.dumps(group_record(group)).encode() for group in groups)
    # Only which trees are in one document matters, not what the documents are called.
    number: dict[Hashable, int] = {}
    own = [number.setdefault(document, len(number)) for document in documents or ()]
    return {
        "espalier": repr(__version__),
        "trees": f"{len(golds)} {kinds}, digest {digest(records)}",
        "documents": "None" if documents is None else f"{len(number)}, digest {digest([repr(own).encode()])}",
        "rows": "all" if rows is None else f"{len(rows)}, digest {digest([repr(rows).encode()])}",
        **{name: described(name, value) for name, value in others.items()},
    }


def _named(name: str, function: Any) -> str:
    """The module and the name of a function, by which it is found again."""
    module = getattr(function, "__module__", None)
    found: Any = sys.modules.get(str(module))
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is None or found != function:
        raise TypeError(
            f"{name} must be a function of a module if folder is given, such as PCFG.from_treebank, so that it can be "
            f"compared with that of another call, got {function!r:.80}."
        )
    return f"{module}.{function.__qualname__}"


def _said(setting: object) -> str:
    return "missing" if setting is None else repr(setting)


def _shortened(text: str) -> str:
    return text if len(text) <= _N_SHOWN else f"{text[:_N_SHOWN]}..., digest {digest([text.encode()])}"


def digest(pieces: Iterable[bytes]) -> str:
    found = hashlib.blake2b(digest_size=16)
    for piece in pieces:
        found.update(len(piece).to_bytes(8, "little"))
        found.update(piece)
    return found.hexdigest()
