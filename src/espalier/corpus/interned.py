"""What every interned corpus is: arrays of numbers over a vocabulary, in views, in files and in pickles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from espalier.corpus.soundness import own_arrays, refuse, stored
from espalier.corpus.vocabulary import Vocabulary
from espalier.storage import Arrays, State, Storable, require
from espalier.structures.columns import read_only


class Corpus(Storable):
    """Rows as arrays of numbers over a vocabulary: read-only, and cheap to select from.

    A subclass names its arrays, checks them, and selects rows. Its settings, such as what a symbol is, are attributes.
    """

    __slots__ = ("_arrays", "_vocabulary")

    _rows: ClassVar[str]  # what rows are called
    _refusal: ClassVar[tuple[str, str]]  # what sound arrays are called, and how to make some
    _stored: ClassVar[tuple[str, ...]]  # the arrays from which all others follow
    _numbered: ClassVar[tuple[str, ...]] = ()  # the arrays of numbers in the vocabulary; -1 is none
    _settings: ClassVar[Mapping[str, str]] = {}  # the attribute of each setting, by its name in files
    _defaults: ClassVar[Mapping[str, object]] = {}  # settings that files of older versions lack
    _check: ClassVar[Callable[..., None]]  # takes the arrays, the number of labels, a function to refuse with, settings

    def _take(self, arrays: Mapping[str, object], vocabulary: Vocabulary, *settings: object) -> None:
        """Take arrays of a caller: checked, and copied if they could be changed from outside."""
        settings = self._checked_settings(*settings)
        refusing = refuse(*self._refusal)
        own = own_arrays(arrays, self._stored, vocabulary, refusing)
        self._check(own, len(vocabulary), refusing, *settings)
        self._set(self._completed(own), vocabulary, settings)

    @classmethod
    def _of(cls, arrays: Mapping[str, object], vocabulary: Vocabulary, *settings: object) -> Self:
        """Make a corpus from arrays that the library made or checked."""
        made = cls.__new__(cls)
        made._set(arrays, vocabulary, settings)
        return made

    def _set(self, arrays: Mapping[str, Any], vocabulary: Vocabulary, settings: tuple[object, ...]) -> None:
        self._arrays: Arrays = {name: read_only(array) for name, array in arrays.items()}
        self._vocabulary = vocabulary
        for attribute, value in zip(self._settings.values(), settings, strict=True):
            setattr(self, attribute, value)

    def _like(self, arrays: Mapping[str, object], vocabulary: Vocabulary | None = None) -> Self:
        """Make a corpus with the settings of this one, and its vocabulary unless another is given."""
        return self._of(arrays, self._vocabulary if vocabulary is None else vocabulary, *self._own_settings())

    def _own_settings(self) -> tuple[object, ...]:
        return tuple(getattr(self, attribute) for attribute in self._settings.values())

    @classmethod
    def _checked_settings(cls, *settings: Any) -> tuple[object, ...]:
        """Return sound settings, or refuse them."""
        return settings

    @classmethod
    def _completed(cls, arrays: Arrays) -> Arrays:
        """Return the stored arrays with those that follow from them."""
        return arrays

    @property
    def vocabulary(self) -> Vocabulary:
        """The labels, which every corpus compared with this one must share."""
        return self._vocabulary

    @property
    def shape(self) -> tuple[int]:
        """The number of rows; scikit-learn's splitters look for it, and then select."""
        return (len(self),)

    def __len__(self) -> int:
        return len(self._arrays["start"]) - 1

    def with_vocabulary(self, vocabulary: Vocabulary) -> Self:
        """Return the same rows over another vocabulary, which grows by the labels that it lacks."""
        used = np.unique(np.concatenate([self._arrays[name] for name in self._numbered]))
        used = used[used >= 0]
        number = np.full(len(self._vocabulary) + 1, -1, np.int32)  # the last is that of no label
        number[used] = [vocabulary._native.add(self._vocabulary[k]) for k in used.tolist()]
        return self._like(self._arrays | {name: number[self._arrays[name]] for name in self._numbered}, vocabulary)

    def to_state(self) -> dict[str, object]:
        """Return the settings, the vocabulary, and the arrays from which all others follow."""
        settings = dict(zip(self._settings, self._own_settings(), strict=True))
        return {**settings, "vocabulary": self._vocabulary, **{name: self._arrays[name] for name in self._stored}}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a corpus from the contents of a file."""
        lacking = {name: value for name, value in cls._defaults.items() if name not in state}
        own = [lacking[name] if name in lacking else state.value(name) for name in cls._settings]
        settings = cls._checked_settings(*own)
        vocabulary, arrays = state.object("vocabulary", Vocabulary), stored(state, cls._stored)
        cls._check(arrays, len(vocabulary), require, *settings)
        return cls._of(cls._completed(arrays), vocabulary, *settings)

    def trained_on(self) -> dict[str, object]:
        """How many rows there are, and of what."""
        return {"rows": len(self), "items": self._rows}

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (dict(self._arrays), self._vocabulary, *self._own_settings()))
