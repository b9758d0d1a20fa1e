"""WordNet: words are similar if their senses are near each other in its hierarchy."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.kernels.similarity import Floats, Similarity
from espalier.kernels.stored import written
from espalier.kernels.wordnet_files import FILES, Database, Sense
from espalier.storage import State, require
from espalier.structures.numbers import check_choice, whole_number

_USUAL_FOLDERS = ("/usr/share/wordnet", "/usr/share/wordnet/dict", "/usr/local/share/wordnet/dict")


@dataclass(eq=False, repr=False)
class WordNet(Similarity):
    """How near two words are among the kinds of things and actions in WordNet.

    Nouns and verbs have a hierarchy; a word in any form (``geese``, ``went``) has its most frequent sense. Other words
    match only themselves.

    Parameters
    ----------
    measure
        ``"wu-palmer"``: twice the depth of the common ancestor, divided by the sum of both depths (Wu and Palmer 1994).
        ``"path"``: 1 / (1 + steps from one to the other).
    senses
        How many senses of a word count, most frequent first; the nearest pair decides. None counts all. With one sense
        the hierarchy is a tree and both measures are kernels; with more they may not be, and the error then offers the
        nearest kernel.
    power
        Raise the similarity to this power: larger powers make weak similarities weaker.
    folder
        The folder of the database files. If None, the environment variable ``WNSEARCHDIR`` names it; otherwise it is
        where Debian's package ``wordnet-base`` installs them.

    Notes
    -----
    If a sense has several parents, only the one that is listed first counts.
    """

    measure: Literal["wu-palmer", "path"] = "wu-palmer"
    _: KW_ONLY
    senses: int | None = 1
    power: int = 1
    folder: str | Path | None = None

    _advice = ", or senses=1"

    def __post_init__(self) -> None:
        check_choice("measure", self.measure, "wu-palmer", "path")
        self.senses = None if self.senses is None else whole_number("senses", self.senses)
        self.power = whole_number("power", self.power)
        self._database = Database.read(_found(self.folder))

    @property
    def is_positive(self) -> bool:
        return self.senses == 1

    def compared(self, a: list[str], b: list[str]) -> Floats:
        (words_a, senses_a), (words_b, senses_b) = self._senses_of(a), self._senses_of(b)
        values = np.zeros((len(a), len(b)))
        if not senses_a or not senses_b:
            return values
        near = self._between(senses_a, senses_b)
        rows, first_rows = np.unique(words_a, return_index=True)
        columns, first_columns = np.unique(words_b, return_index=True)
        best = np.maximum.reduceat(np.maximum.reduceat(near, first_rows, axis=0), first_columns, axis=1)
        values[np.ix_(rows, columns)] = best
        return values

    def _senses_of(self, words: list[str]) -> tuple[NDArray[np.int64], list[Sense]]:
        """All senses of the words that count, and the word of each."""
        found = [self._database.senses_of(word)[: self.senses] for word in words]
        owner = np.repeat(np.arange(len(words)), [len(senses) for senses in found])
        return owner, [sense for senses in found for sense in senses]

    def _between(self, a: list[Sense], b: list[Sense]) -> Floats:
        from scipy.sparse import csr_array

        place: dict[Sense, int] = {}
        sides = []
        for senses in (a, b):
            chains = [
                [place.setdefault(above, len(place)) for above in self._database.chain(sense)] for sense in senses
            ]
            start = np.cumsum([0, *map(len, chains)])
            sides.append((np.concatenate(chains), start))
        rows, columns = (
            csr_array((np.ones(len(index)), index, start), shape=(len(start) - 1, len(place))) for index, start in sides
        )
        common: Floats = (rows @ columns.T).toarray()
        depths = np.diff(sides[0][1])[:, None] + np.diff(sides[1][1])[None, :]
        if self.measure == "wu-palmer":
            near: Floats = 2.0 * common / depths
            return near
        return np.where(common > 0.0, 1.0 / (1.0 + depths - 2.0 * common), 0.0)

    def content(self) -> Hashable:
        return (self._database.digest, self.measure, self.senses, self.power)

    def to_state(self) -> dict[str, object]:
        """Return the measure and the digest of the database; the database itself is not saved."""
        fields = super().to_state()
        del fields["folder"]
        return fields | {"database": self._database.digest}

    @classmethod
    def from_state(cls, state: State) -> WordNet:
        """Make the similarity that a file holds; the database is read from the usual folder, not from one in the file.

        ``WNSEARCHDIR`` names another folder.
        """
        measure: Any = state.text("measure", "wu-palmer", "path")
        senses: Any = state.json("senses")
        made = saved_wordnet(measure, senses=senses, power=state.whole("power", 1))
        same = made._database.digest == state.text("database")
        require(same, "it needs another version of WordNet: the installed one gives other similarities")
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return partial(WordNet, **super().to_state()), ()

    def __repr__(self) -> str:
        return written(self)


def saved_wordnet(
    measure: Any = "wu-palmer", *, senses: int | None = 1, power: int = 1, folder: str | None = None
) -> WordNet:
    """Make what a file describes; it may name no folder but ``WNSEARCHDIR`` and those where packages install."""
    if folder not in (None, *_USUAL_FOLDERS, os.environ.get("WNSEARCHDIR")):
        raise InputError(
            f"a file may not choose the folder from which WordNet is read, and this one names {folder!r}. If you trust "
            "that folder, set the environment variable WNSEARCHDIR to it"
        )
    try:
        return WordNet(measure, senses=senses, power=power, folder=folder)
    except OSError as error:
        raise InputError(f"it needs WordNet, which cannot be read here: {error}") from None


def _found(folder: str | Path | None) -> Path:
    """The folder that holds the database."""
    given = folder or os.environ.get("WNSEARCHDIR")
    tried = [Path(given)] if given else [Path(usual) for usual in _USUAL_FOLDERS]
    for path in tried:
        if all((path / name).is_file() for name in FILES):
            return path
    raise FileNotFoundError(
        f"There are no database files of WordNet (index.noun, data.noun and more) in {', '.join(map(str, tried))}. "
        "Install them, on Debian by `apt install wordnet-base`, or pass folder=."
    )
