"""The database files of WordNet: which senses a word has, and what each is a kind of.

The format is that of ``wndb(5WN)``: ``index.*`` list the senses of each lemma, ``data.*`` the senses themselves with
pointers to others, ``*.exc`` irregular forms, ``cntlist.rev`` how often senses occur in tagged texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from espalier.errors import InputError

KINDS = ("noun", "verb")  # the parts of speech that have a hierarchy
_NUMBER = {"1": "noun", "2": "verb"}  # in keys of senses
_HYPERNYMS = ("@", "@i")
# Endings of inflected forms and what they replace, in the order in which they are tried.
_ENDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
}

Sense = tuple[str, int]  # a part of speech, and where its record starts in the data file
ROOT = -1  # above all senses of a part of speech that have nothing above them


@dataclass(frozen=True)
class Database:
    """Senses by lemma, most frequent first, and the sense that each is a kind of."""

    senses: Mapping[str, Mapping[str, tuple[int, ...]]] = field(repr=False)  # by part of speech and lemma
    parent: Mapping[str, Mapping[int, int]] = field(repr=False)  # by part of speech; the first of several
    irregular: Mapping[str, Mapping[str, tuple[str, ...]]] = field(repr=False)
    frequency: Mapping[tuple[str, str, int], int] = field(repr=False)  # of part of speech, lemma, number of the sense
    digest: str

    @staticmethod
    def read(folder: Path) -> Database:
        """Read the files of nouns and verbs."""
        files = [f"{part}.{kind}" for part in ("index", "data") for kind in KINDS]
        found = hashlib.blake2b(digest_size=16)
        for name in files:
            found.update((folder / name).read_bytes())
        return Database(
            {kind: dict(_senses(folder / f"index.{kind}")) for kind in KINDS},
            {kind: dict(_parents(folder / f"data.{kind}")) for kind in KINDS},
            {kind: dict(_irregular(folder / f"{kind}.exc")) for kind in KINDS},
            dict(_frequencies(folder / "cntlist.rev")),
            found.hexdigest(),
        )

    def senses_of(self, word: str) -> list[Sense]:
        """The senses of a word in any of its forms, the most frequent first."""
        lemma = word.lower().replace(" ", "_")
        ranked = []
        for order, kind in enumerate(KINDS):
            base = self._base(lemma, kind)
            for number, place in enumerate(self.senses[kind].get(base, ()), start=1):
                ranked.append((-self.frequency.get((kind, base, number), 0), order, number, (kind, place)))
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


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line; lines that begin with a space are the licence."""
    try:
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.startswith(" ") and line.strip():
                    yield number, line.split(" | ")[0].split()
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a file of WordNet: {error.reason}.") from None


def _senses(path: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    for number, fields in _records(path):
        try:
            n_senses, n_pointers = int(fields[2]), int(fields[3])
            places = tuple(map(int, fields[6 + n_pointers :]))
            if len(places) != n_senses:
                raise ValueError
        except (ValueError, IndexError):
            raise _broken(path, number) from None
        yield fields[0], places


def _parents(path: Path) -> Iterator[tuple[int, int]]:
    for number, fields in _records(path):
        try:
            place, n_words = int(fields[0]), int(fields[3], 16)
            first = 5 + 2 * n_words
            pointers = [fields[k : k + 4] for k in range(first, first + 4 * int(fields[first - 1]), 4)]
            above = [int(target) for symbol, target, *_ in pointers if symbol in _HYPERNYMS]
        except (ValueError, IndexError):
            raise _broken(path, number) from None
        yield place, above[0] if above else ROOT


def _irregular(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    if path.exists():
        for _, fields in _records(path):
            yield fields[0], tuple(fields[1:])


def _frequencies(path: Path) -> Iterator[tuple[tuple[str, str, int], int]]:
    if not path.exists():
        return
    for line_number, fields in _records(path):
        try:
            lemma, key = fields[0].rsplit("%", 1)
            number, count = int(fields[1]), int(fields[2])
        except (ValueError, IndexError):
            raise _broken(path, line_number) from None
        if (kind := _NUMBER.get(key.split(":")[0])) is not None:
            yield (kind, lemma, number), count


def _broken(path: Path, line: int) -> InputError:
    return InputError(f"{path}, line {line}: this is not a record of a WordNet database.")
