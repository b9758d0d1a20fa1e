"""Taggers on disk: counts of trigrams as arrays, words and tags in a JSON header. No code is ever loaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.array_files import Arrays, load_arrays, save_arrays
from espalier.errors import InputError
from espalier.parsing.storage import are_counts, are_texts
from espalier.parsing.suffixes import SuffixLexicon

if TYPE_CHECKING:
    from espalier.parsing.tagger import Tagger

FORMAT, VERSION = "espalier.tagger", 1
_OTHERS = {"espalier.reranker": "Reranker.load", "espalier.pcfg": "PCFG.load"}


def save_tagger(tagger: Tagger, path: str | Path) -> None:
    """Write the counts of a tagger, whole or not at all."""
    lexicon = tagger.lexicon
    header = {
        "format": FORMAT,
        "version": VERSION,
        "tags": tagger.tags,
        "words": {
            word: {tagger.tags[tag]: count for tag, count in counts.items()} for word, counts in lexicon.words.items()
        },
        "suffix": lexicon.suffix,
        "rare": lexicon.rare,
        "smoothing": lexicon.smoothing,
    }
    seen = np.argwhere(tagger.trigrams).astype(np.int32)
    save_arrays(path, {"trigram": seen, "count": tagger.trigrams[tuple(seen.T)]}, header)


def load_tagger(path: str | Path) -> Tagger:
    """Read a tagger; a file that is damaged, foreign or from another version is an error that says so."""
    from espalier.parsing.tagger import MAX_TAGS, Tagger

    arrays, header = load_arrays(path, "tagger", FORMAT, VERSION, _OTHERS)

    def require(condition: bool, what: str) -> None:
        if not condition:
            raise InputError(f"{path} is damaged: {what}. Save the tagger again.")

    tags: Any = header.get("tags")
    require(are_texts(tags) and 0 < len(tags) == len(set(tags)), "tags must be a list of different texts")
    require(len(tags) <= MAX_TAGS, f"it has {len(tags)} tags, and {MAX_TAGS} are possible")
    for name in ("suffix", "rare"):
        require(type(header.get(name)) is int and header[name] >= 0, f"{name} is out of range")
    smoothing: Any = header.get("smoothing")
    require(type(smoothing) in (int, float) and 0 <= smoothing < float("inf"), "smoothing is out of range")
    words = _words(header.get("words"), tags, require)
    lexicon = SuffixLexicon(len(tags), words, header["suffix"], header["rare"], smoothing)
    trigrams = _trigrams(arrays, len(tags), require)
    ends = trigrams.sum((0, 1))
    agree = np.array_equal(ends[:-1], lexicon.tag_counts) and bool(np.all(ends > 0))
    require(agree, "words and trigrams do not belong together")
    return Tagger(tags, trigrams, lexicon)


def _words(table: Any, tags: list[str], require: Any) -> dict[str, dict[int, int]]:
    number = {tag: n for n, tag in enumerate(tags)}
    require(isinstance(table, dict) and all(map(are_counts, table.values())), "its words have no counts")
    require(all(tag in number for counts in table.values() for tag in counts), "a word has an unknown tag")
    require(sum(count for counts in table.values() for count in counts.values()) < 2**62, "its counts are too large")
    return {word: {number[tag]: count for tag, count in counts.items()} for word, counts in table.items()}


def _trigrams(arrays: Arrays, n_tags: int, require: Any) -> NDArray[np.int64]:
    trigram, count = arrays.get("trigram"), arrays.get("count")
    kinds = [None if array is None else array.dtype for array in (trigram, count)]
    require(kinds == [np.int32, np.int64], "its trigrams are missing or of another kind")
    assert trigram is not None and count is not None
    fits = trigram.ndim == 2 and trigram.shape[1] == 3 and count.shape == (len(trigram),)
    require(fits, "each trigram needs three tags and one count")
    require(bool(np.all((trigram >= 0) & (trigram <= n_tags))), "a tag of a trigram is out of range")
    require(bool(np.all((count > 0) & (count < 2**40))), "the count of a trigram is out of range")
    require(len(np.unique(trigram, axis=0)) == len(trigram), "a trigram stands there twice")
    out = np.zeros((n_tags + 1,) * 3, np.int64)
    out[tuple(trigram.T)] = count
    return out
