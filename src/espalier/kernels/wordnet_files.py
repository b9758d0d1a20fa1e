"""The database files of WordNet: which senses a word has, and what each is a kind of.

The format is that of ``wndb(5WN)``: ``index.*`` list the senses of each lemma, ``data.*`` the senses themselves with
pointers to others, ``*.exc`` irregular forms, ``cntlist.rev`` how often senses occur in tagged texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from espalier.errors import InputError

KINDS = {"noun": "1", "verb": "2"}  # the parts of speech that have a hierarchy, and their numbers in keys of senses
FILES = tuple(f"{part}.{kind}" for part in ("index", "data") for kind in KINDS)  # those that must not be missing
_HYPERNYMS = ("@", "@i")
# Endings of inflected forms and what they replace, in the order in which they are tried.
_ENDINGS = {
    "noun": (
        *(("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh")),
        *(("men", "man"), ("ies", "y")),
    ),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
}

Record = TypeVar("Record")
Sense = tuple[str, int]  # a part of speech, and where its record starts in the data file
ROOT = -1  # above all senses of a part of speech that have nothing above them


@dataclass(frozen=True)
class Database:
    """Senses by lemma, most frequent first, and the sense that each is a kind of."""

    senses: Mapping[str, Mapping[str, tuple[int, ...]]] = field(repr=False)  # by part of speech and lemma
    parent: Mapping[str, Mapping[int, int]] = field(repr=False)  # by part of speech; the first of several
    irregular: Mapping[str, Mapping[str, tuple[str, ...]]] = field(repr=False)
    frequency: Mapping[tuple[str, str, int], int] = field(repr=False)  # by number of a part of speech, lemma, sense
    digest: str

    @staticmethod
    def read(folder: Path) -> Database:
        """Read the files of nouns and verbs."""
        found = hashlib.blake2b(digest_size=16)
        for name in FILES:
            found.update((folder / name).read_bytes())
        return Database(
            {kind: dict(_records(folder / f"index.{kind}", _senses)) for kind in KINDS},
            {kind: dict(_records(folder / f"data.{kind}", _parent)) for kind in KINDS},
            {kind: dict(_records(folder / f"{kind}.exc", _irregular)) for kind in KINDS},
            dict(_records(folder / "cntlist.rev", _frequency)),
            found.hexdigest(),
        )

    def senses_of(self, word: str) -> list[Sense]:
        """The senses of a word in any of its forms, the most frequent first."""
        lemma = word.lower().replace(" ", "_")
        ranked = []
        for order, kind in enumerate(KINDS):
            base = self._base(lemma, kind)
            for number, place in enumerate(self.senses[kind].get(base, ()), start=1):
                ranked.append((-self.frequency.get((KINDS[kind], base, number), 0), order, number, (kind, place)))
        return [sense for *_, sense in sorted(ranked)]

    def chain(self, sense: Sense) -> list[Sense]:
        """The sense, what it is a kind of, and so on to the root."""
        kind, place = sense
        above, seen = self.parent[kind], [place]
        while (place := above.get(place, ROOT)) != ROOT and place not in seen:  # WordNet 3.0 has a cycle of two verbs
            seen.append(place)
        # Nouns have a single root; verbs have many, so one is added above them.
        return [(kind, place) for place in (seen if kind == "noun" else [*seen, ROOT])]

    def _base(self, lemma: str, kind: str) -> str:
        known = self.senses[kind]
        if lemma in known:
            return lemma
        for form in self.irregular[kind].get(lemma, ()):
            if form in known:
                return form
        for ending, other in _ENDINGS[kind]:
            form = lemma[: len(lemma) - len(ending)] + other
            if lemma.endswith(ending) and form in known:
                return form
        return lemma


def _records(path: Path, read: Callable[[list[str]], Record]) -> Iterator[Record]:
    """What each line says; lines that begin with a space are the licence."""
    if not path.exists():  # irregular forms and frequencies may be missing
        return
    try:
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.startswith(" ") and line.strip():
                    try:
                        yield read(line.split(" | ")[0].split())
                    except (ValueError, IndexError):
                        raise InputError(
                            f"{path}, line {number}: this is not a record of a WordNet database."
                        ) from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a file of WordNet: {error.reason}.") from None


def _senses(fields: list[str]) -> tuple[str, tuple[int, ...]]:
    n_senses, n_pointers = int(fields[2]), int(fields[3])
    places = tuple(map(int, fields[6 + n_pointers :]))
    if len(places) != n_senses:
        raise ValueError
    return fields[0], places


def _parent(fields: list[str]) -> tuple[int, int]:
    place, n_words = int(fields[0]), int(fields[3], 16)
    first = 5 + 2 * n_words
    pointers = [fields[k : k + 4] for k in range(first, first + 4 * int(fields[first - 1]), 4)]
    above = [int(target) for symbol, target, *_ in pointers if symbol in _HYPERNYMS]
    return place, above[0] if above else ROOT


def _irregular(fields: list[str]) -> tuple[str, tuple[str, ...]]:
    return fields[0], tuple(fields[1:])


def _frequency(fields: list[str]) -> tuple[tuple[str, str, int], int]:
    lemma, key = fields[0].rsplit("%", 1)
    return (key.split(":")[0], lemma, int(fields[1])), int(fields[2])
