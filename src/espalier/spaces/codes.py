"""Many features as arrays of numbers, which mining lists, vectorizers count and files hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.selection import Rows, chosen_rows, ranges
from espalier.corpus.soundness import Require, refuse
from espalier.corpus.vocabulary import Vocabulary
from espalier.kept import kept
from espalier.storage import State, require
from espalier.structures.columns import read_only
from espalier.structures.fragment import Fragment
from espalier.structures.notation import escape_label
from espalier.structures.tree import Tree

OPEN, CLOSE, WORD, UNEXPANDED = range(4)  # the marks of a walk through a fragment

Integers = NDArray[Any]
AnyFeature = TypeVar("AnyFeature")


class Codes(Sequence[AnyFeature]):
    """Many features as codes, one after the other; a subclass defines what a code means.

    Attributes
    ----------
    labels
        The labels, which codes refer to by number.
    start, code
        The code of feature ``k`` is ``code[start[k] : start[k + 1]]``.
    """

    labels: tuple[str, ...]
    start: NDArray[np.int64]
    code: NDArray[np.int32]

    kind: ClassVar[str] = "fragment"  # what one feature is called
    _kinds: ClassVar[Mapping[str, type[Any]]] = {"start": np.int64, "code": np.int32}  # the arrays, in order
    _cuts: ClassVar[Mapping[str, str]] = {"start": "code"}  # which array cuts which into parts
    _labels: ClassVar[slice] = slice(None)  # which numbers of the code are those of labels

    def __init__(self, labels: Sequence[str], *arrays: Integers) -> None:
        """Copy a caller's arrays, and check them."""
        self._set(labels, map(np.array, arrays, self._kinds.values()))
        self._check_arrays(refuse("fragments", "Make a dictionary with from_fragments."))

    def _check_arrays(self, require: Require) -> None:
        """Check every invariant on which the compiled core relies; ``require`` raises if one is broken."""
        require(all(isinstance(label, str) for label in self.labels), "it has no list of labels")
        require(len(set(self.labels)) == len(self.labels), "a label is listed twice")
        for name, kind in self._kinds.items():
            array = getattr(self, name)
            require(array.ndim == 1 and array.dtype == kind, f"{name!r} must be a vector of {kind.__name__}")
        for starts, entries in self._cuts.items():
            start, size = getattr(self, starts), len(getattr(self, entries))
            # Compare, do not subtract: differences of large numbers wrap around.
            whole = len(start) > 0 and start[0] == 0 and start[-1] == size and (start[1:] > start[:-1]).all()
            require(whole, f"{starts!r} does not cut {entries!r} into parts")
        self._check(require)

    def _check(self, require: Require) -> None:
        """Check what must hold of a code."""
        raise NotImplementedError

    @classmethod
    def _of(cls, labels: Sequence[str], *arrays: Integers) -> Self:
        """Make features from arrays that the library made or checked."""
        made = cls.__new__(cls)
        made._set(labels, map(np.asarray, arrays, cls._kinds.values()))
        return made

    def _set(self, labels: Sequence[str], arrays: Iterable[Integers]) -> None:
        self.labels = tuple(labels)
        for name, array in zip(self._kinds, arrays, strict=True):
            setattr(self, name, read_only(array))

    def to_state(self) -> dict[str, object]:
        """Return the labels and the arrays."""
        return {"labels": self.labels, **{name: getattr(self, name) for name in self._kinds}}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the features that a file holds."""
        made = cls._of(state.texts("labels"), *(state.array(name, kind) for name, kind in cls._kinds.items()))
        made._check_arrays(require)  # a hostile file must not reach the compiled core
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.labels, *(getattr(self, name) for name in self._kinds))

    def __len__(self) -> int:
        return len(self.start) - 1

    @overload
    def __getitem__(self, rows: int) -> AnyFeature: ...
    @overload
    def __getitem__(self, rows: Rows) -> Self: ...
    def __getitem__(self, rows: int | Rows) -> AnyFeature | Self:
        if isinstance(rows, int | np.integer):
            if not -len(self) <= rows < len(self):
                raise IndexError(f"There is no fragment {rows}: the dictionary has {len(self):,}.")
            return self._feature(int(rows) % len(self))
        arrays = {name: getattr(self, name) for name in self._kinds}
        entries, arrays["start"] = ranges(self.start, chosen_rows(rows, len(self)))
        arrays["code"] = self.code[entries]
        return self._of(self.labels, *arrays.values())

    def _feature(self, row: int) -> AnyFeature:
        raise NotImplementedError

    def names(self) -> list[str]:
        """The features as people read them."""
        return [str(feature) for feature in self]

    def compact(self) -> Self:
        """Return the same features with only the labels that they use."""
        used = np.unique(self.code[self._labels])
        number = np.zeros(len(self.labels), np.int32)
        number[used] = np.arange(len(used))
        return self._of([self.labels[k] for k in used.tolist()], self.start, self._renumbered(number))

    @classmethod
    def joined(cls, lists: Sequence[Self]) -> tuple[Self, list[NDArray[np.int64]]]:
        """All features of several lists, each once, and the numbers of those of each list."""
        labels: dict[str, int] = {}
        codes = []
        for own in lists:
            number = np.array([labels.setdefault(label, len(labels)) for label in own.labels], np.int32)
            codes.append(own._renumbered(number))
        start, code, places = distinct_codes([own.start for own in lists], codes)
        return cls._of(list(labels), start, code), places

    def _renumbered(self, number: NDArray[np.int32]) -> Integers:
        """The code, with other numbers for the labels."""
        code = self.code.copy()
        code[self._labels] = number[code[self._labels]]
        return code

    @kept
    def _number_of_label(self) -> dict[str, int]:
        return {label: k for k, label in enumerate(self.labels)}

    def _labels_of(self, vocabulary: Vocabulary) -> NDArray[np.int32]:
        """The number here of every label of a vocabulary; -1 if no feature has it."""
        number = self._number_of_label
        return np.array([number.get(label, -1) for label in vocabulary], np.int32)


class FragmentCodes(Codes[Fragment]):
    """Many fragments as codes; a subclass defines what a walk through one of them meets."""

    def _walk(self, row: int) -> Iterator[tuple[int, int]]:
        """The fragment from left to right: kinds of marks, and the numbers of their labels."""
        raise NotImplementedError

    def names(self) -> list[str]:
        """The brackets of each fragment."""
        heads = [escape_label(label) for label in self.labels]
        return ["".join(_written(self._walk(row), heads)) for row in range(len(self))]

    def _feature(self, row: int) -> Fragment:
        stack: list[tuple[str, list[Tree]]] = [("", [])]
        unexpanded: list[int] = []
        n_leaves = 0
        for mark, label in self._walk(row):
            if mark == OPEN:
                stack.append((self.labels[label], []))
                continue
            if mark == CLOSE:
                node = Tree(*stack.pop())
            else:
                node = Tree(self.labels[label])
                if mark == UNEXPANDED:
                    unexpanded.append(n_leaves)
                n_leaves += 1
            stack[-1][1].append(node)
        return Fragment(stack[0][1][0], tuple(unexpanded))


def _written(walk: Iterator[tuple[int, int]], heads: list[str]) -> Iterator[str]:
    """The pieces of a fragment's brackets."""
    between = ""
    for mark, label in walk:
        if mark == CLOSE:
            yield ")"
        elif mark == OPEN:
            yield f"{between}({heads[label]}"
        else:
            yield f"{between}({heads[label]})" if mark == UNEXPANDED else f"{between}{heads[label]}"
        between = " "


def coded(features: Iterable[Any], code_of: Callable[[Any], Iterable[int]]) -> tuple[Integers, Integers]:
    """Where the code of each feature starts, and all codes one after the other."""
    start, code = [0], list[int]()
    for feature in features:
        code.extend(code_of(feature))
        start.append(len(code))
    return np.array(start), np.array(code, np.int32)


def distinct_codes(
    starts: Sequence[Integers], codes: Sequence[Integers]
) -> tuple[Integers, Integers, list[NDArray[np.int64]]]:
    """Codes of several lists, each once, in the order of first occurrence; and the numbers of those of each list."""
    known: dict[bytes, int] = {}
    places = []
    for start, code in zip(starts, codes, strict=True):
        data, bounds = np.ascontiguousarray(code, np.int32).tobytes(), (4 * start).tolist()
        own = [known.setdefault(data[a:b], len(known)) for a, b in pairwise(bounds)]
        places.append(np.array(own, np.int64))
    sizes = [len(code) // 4 for code in known]
    start = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    return start, np.frombuffer(b"".join(known), np.int32), places
