"""Segments that six people corrected: what they read, how long each took, and how much each changed."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.structures import read_text
from espalier_experiments.data import data_folder

EDITORS = ("annotator1", "annotator2", "ann1", "ann2", "ann3", "ann4")
N_FILES, N_COLUMNS, N_SEGMENTS = 5, 40, 1047
PERSON, TIME, SOURCE, TRANSLATION, HTER = 2, 7, 29, 31, 34  # columns, counted from 0
WORD = re.compile(r"\w+(?:[.,'’-]\w+)*|[^\w\s]")


@dataclass(frozen=True, eq=False)
class PostEdits:
    """The segments, sorted by document and line, so that nothing depends on the order of the files.

    Attributes
    ----------
    source, translation
        English, and the Spanish of a machine, before it was corrected.
    seconds
        Seconds for each word of the translation: a row for each segment, a column for each of ``EDITORS``; NaN where a
        person did not correct a segment.
    hter
        Edits for each word of the corrected translation, in the same form.
    """

    source: list[str]
    translation: list[str]
    seconds: NDArray[np.float64]
    hter: NDArray[np.float64]

    def every(self, step: int) -> PostEdits:
        """Every so many segments."""
        return PostEdits(self.source[::step], self.translation[::step], self.seconds[::step], self.hter[::step])


def post_edits(folder: str | Path | None = None) -> PostEdits:
    """Read all segments; ``ann0`` holds two people, who shared the segments."""
    texts: dict[tuple[str, int], tuple[str, str]] = {}
    found: dict[tuple[tuple[str, int], str], tuple[float, float]] = {}
    for number in range(N_FILES):
        path = data_folder(folder) / "qe" / "post-editors" / f"ann{number}.tsv.gz"
        for line_number, line in enumerate(read_text(path).rstrip("\n").split("\n"), start=1):
            fields = line.split("\t")
            if len(fields) != N_COLUMNS:
                raise InputError(f"{path}, line {line_number}: expected {N_COLUMNS} fields, got {len(fields)}.")
            key, person = (fields[0], int(fields[1])), fields[PERSON]
            own = (_plain(fields[SOURCE]), _plain(fields[TRANSLATION]))
            if person not in EDITORS or (key, person) in found or texts.setdefault(key, own) != own:
                raise InputError(f"{path}, line {line_number}: {person} and segment {key} do not fit the others.")
            found[key, person] = float(fields[TIME]) / 1000, float(fields[HTER])
    if len(texts) != N_SEGMENTS:
        raise InputError(f"There are {len(texts):,} segments of post-editors, expected {N_SEGMENTS:,}.")
    keys = sorted(texts)
    none = (np.nan, np.nan)
    values = np.array([[found.get((key, person), none) for person in EDITORS] for key in keys])
    return PostEdits([texts[key][0] for key in keys], [texts[key][1] for key in keys], values[..., 0], values[..., 1])


def words_of(text: str) -> list[str]:
    """The words and signs of a text; numbers such as 20.53 stay whole.

    Examples
    --------
    >>> words_of("It's 20.53, old.")
    ["It's", '20.53', ',', 'old', '.']
    """
    return WORD.findall(text)


def _plain(text: str) -> str:
    """A text without the entities of HTML, which the files hold twice over."""
    return html.unescape(html.unescape(text))
