"""Runs and subsequences of symbols: the n-grams of ``Spectrum``, and what ``Subsequence`` and ``Tagging`` count.

The slot of an atom is the place of its token. A token of a tagged sequence has two atoms: its tag alone, and its tag
with its word. Codes are numbers of texts, counted from 1; that of a tag with a word has the tag in its upper half.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from espalier.corpus.sequences import Sequences
from espalier.errors import InputError
from espalier.kernels.hyperparameters import Fixed
from espalier.kernels.inputs import Inputs
from espalier.spaces.grown import SEQUENCES, Atoms, Integers, Locate, Path, Places, check_numbers
from espalier.spaces.grown_slots import Occurrences, SlotSpace, Texts, one_row
from espalier.spaces.marked_words import marked_words

_ANY_GAP = 1 << 30
_TAG_SHIFT = 32


class _TokenSpace(SlotSpace):
    """Features whose atoms are of tokens, in their order."""

    kind: ClassVar = SEQUENCES

    def locator(self, atoms: Atoms, item: Any) -> Locate:
        """As for every space; the place of an atom is the number of its token, counted from 0."""
        known = self._occurrences(one_row(item), atoms.texts)
        with_atom: dict[int, list[int]] = {}
        for atom, slot in zip(atoms.numbers(known.code).tolist(), known.slot.tolist(), strict=True):
            with_atom.setdefault(atom, []).append(slot)

        def locate(path: Path) -> list[Places]:
            found: list[Places] = [(slot,) for slot in with_atom.get(path[0][1], ())]
            for number, (_, atom) in enumerate(path[1:], 1):
                slots = with_atom.get(atom, ())
                found = [
                    (*taken, slot)
                    for taken in found
                    for slot in slots
                    if taken[-1] < slot <= taken[0] + number + self.gap
                ]
            return found

        return locate

    def shown(self, item: Any, places: Places) -> str:
        """The words, characters or tags of the item, with those of the feature marked."""
        blank = "" if getattr(self.kernel, "of", None) == "characters" else " "
        return marked_words(self._tokens(one_row(item)), places, blank)

    @abstractmethod
    def _tokens(self, inputs: Inputs) -> tuple[str, ...]:
        """What a row consists of, as people read it."""


class SequenceSpace(_TokenSpace):
    """The n-grams that a ``Spectrum`` counts, of every length up to its own."""

    what: ClassVar = "n-gram"

    @property
    def largest_order(self) -> int | None:
        return int(self.kernel.length)

    def write(self, atoms: Atoms, path: Path) -> str:
        """The symbols in their order, with ``...`` between them if others may be between them."""
        texts = atoms.texts[self.kernel.of]
        blank = "" if self.kernel.of == "characters" else " "
        return _joined([texts[int(atoms.codes[atom]) - 1] for _, atom in path], blank, self.gap > 0)

    def _tokens(self, inputs: Inputs) -> tuple[str, ...]:
        return inputs.sequences(self.kernel.on, self.kernel.of)[0]

    def _check_codes(self, atoms: Atoms) -> None:
        check_numbers(atoms.codes, atoms, self.kernel.of)

    def _texts(self, inputs: Inputs) -> Texts:
        return {self.kernel.of: _symbols_of(inputs.sequences(self.kernel.on, self.kernel.of))}

    def _occurrences(self, inputs: Inputs, texts: Texts) -> Occurrences:
        sequences = inputs.sequences(self.kernel.on, self.kernel.of)
        row, slot = _places(sequences)
        number = _numbers(sequences, texts[self.kernel.of])
        known = number > 0
        return Occurrences(row[known], slot[known], number[known].astype(np.uint64))


class SubsequenceSpace(SequenceSpace):
    """The subsequences that a ``Subsequence`` counts; runs alone if its ``gap_decay`` is fixed at 0."""

    what: ClassVar = "subsequence"

    def __init__(self, kernel: Any) -> None:
        super().__init__(kernel)
        if kernel.similarity is not None:
            raise InputError(
                f"Features of {kernel!r} cannot be selected: symbols that are only similar share no feature. Leave out "
                "the similarity."
            )

    @property
    def gap(self) -> int:
        return _gap_of(self.kernel)


class TaggingSpace(_TokenSpace):
    """The runs of tags that a ``Tagging`` counts, each tag with or without its word; subsequences if it has gaps."""

    what: ClassVar = "run of tags"

    @property
    def gap(self) -> int:
        return _gap_of(self.kernel)

    def write(self, atoms: Atoms, path: Path) -> str:
        """The tags in their order, those with a word as ``N/dog``; with ``...`` between if others may be between."""
        tags, words = atoms.texts["tags"], atoms.texts["words"]
        told = []
        for _, atom in path:
            tag, word = divmod(int(atoms.codes[atom]), 1 << _TAG_SHIFT)
            told.append(f"{tags[tag - 1]}/{words[word - 1]}" if word else tags[tag - 1])
        return _joined(told, " ", self.gap > 0)

    def _tokens(self, inputs: Inputs) -> tuple[str, ...]:
        _, words = self.kernel._corpora(inputs)
        found: tuple[str, ...] = words[0]
        return found

    def _check_codes(self, atoms: Atoms) -> None:
        check_numbers(atoms.codes >> np.uint64(_TAG_SHIFT), atoms, "tags")
        check_numbers(atoms.codes & np.uint64((1 << _TAG_SHIFT) - 1), atoms, "words", least=0)

    def _texts(self, inputs: Inputs) -> Texts:
        tags, words = self.kernel._corpora(inputs)
        return {"tags": _symbols_of(tags), "words": _symbols_of(words)}

    def _occurrences(self, inputs: Inputs, texts: Texts) -> Occurrences:
        tags, words = self.kernel._corpora(inputs)
        row, slot = _places(tags)
        tag, word = _numbers(tags, texts["tags"]), _numbers(words, texts["words"])
        alone, both = np.flatnonzero(tag > 0), np.flatnonzero((tag > 0) & (word > 0))
        token = np.concatenate([alone, both])
        code = np.concatenate([tag[alone] << _TAG_SHIFT, tag[both] << _TAG_SHIFT | word[both]])
        order = np.argsort(token, kind="stable")
        token = token[order]
        return Occurrences(row[token], slot[token], code[order].astype(np.uint64))


def _gap_of(kernel: Any) -> int:
    is_run = isinstance(kernel.gap_decay, Fixed) and kernel.gap_decay.value == 0
    return 0 if is_run else _ANY_GAP


def _joined(told: list[str], blank: str, has_gaps: bool) -> str:
    return (f"{blank}...{blank}" if has_gaps else blank).join(told)


def _symbols_of(sequences: Sequences) -> tuple[str, ...]:
    """The different symbols, sorted."""
    used = np.unique(sequences.arrays[0]).tolist()
    return tuple(sorted(sequences.vocabulary[number] for number in used))


def _numbers(sequences: Sequences, texts: tuple[str, ...]) -> Integers:
    """For each token the number of its text, counted from 1; 0 if it is not known."""
    known = {text: number for number, text in enumerate(texts, 1)}
    used, which = np.unique(sequences.arrays[0], return_inverse=True)
    numbers = np.array([known.get(sequences.vocabulary[symbol], 0) for symbol in used.tolist()], np.int64)
    return numbers[which.reshape(-1)]


def _places(sequences: Sequences) -> tuple[Integers, Integers]:
    """The row of each token, and its place in the sequence."""
    symbol, start = sequences.arrays
    sizes = np.diff(start)
    first = start[0]
    row = np.repeat(np.arange(len(sizes)), sizes)
    return row, np.arange(len(symbol)) - np.repeat(start[:-1] - first, sizes)
