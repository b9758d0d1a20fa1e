"""Spaces whose features grow atom by atom: what the selection of features needs of a space.

An *atom* is the smallest feature: what a template says about an arc, a dimension, a production, a token. A feature of
order r has r atoms, and grows in one way only, so that a trie holds it: its parent, the place where it grew, and the
atom that was added. A space reads items into graphs of positions that have atoms, and writes features as text. The
growth itself is compiled (``native/selection``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.errors import InputError
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.storage import require

Integers = NDArray[np.int64]
Path = Sequence[tuple[int, int]]  # of a feature: the place and the number of each atom
Places = tuple[int, ...]  # of one occurrence of a feature: where each atom is in the item, as the space numbers it
Locate = Callable[[Path], list[Places]]  # finds the occurrences of a feature in one item
NO_FEATURE = 0xFFFFFFFF
ARCS, SETS, SEQUENCES, PRODUCTIONS = -1, 0, 1, 2  # how features grow


@dataclass(frozen=True, eq=False)
class Atoms:
    """The atoms that were met in training, numbered by their codes in increasing order, and the texts in them.

    Attributes
    ----------
    codes
        What each atom is; the space reads them.
    texts
        Words, tags or labels by name of the list; codes refer to them by number, counted from 1.
    top
        Of productions: for each atom, the number of the same production as the top of a fragment.
    """

    codes: NDArray[np.uint64]
    texts: Mapping[str, tuple[str, ...]]
    top: NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))

    def __len__(self) -> int:
        return len(self.codes)

    def numbers(self, codes: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """The number of the atom with each code; ``NO_FEATURE`` for a code that is not known."""
        place = np.searchsorted(self.codes, codes)
        known = place < len(self.codes)
        known[known] = self.codes[place[known]] == codes[known]
        return np.where(known, place, NO_FEATURE).astype(np.uint32)

    def ids(self, name: str) -> dict[str, int]:
        """The number of each text of a list, counted from 1."""
        return {text: number for number, text in enumerate(self.texts[name], 1)}


class GrownSpace(ABC):
    """The features of one kernel, as selection grows them.

    Parameters
    ----------
    kernel
        Its settings say what counts. Its decays and weights play no part.
    """

    kind: ClassVar[int]  # how features grow: ARCS, SETS, SEQUENCES or PRODUCTIONS
    what: ClassVar[str]  # what one feature is called

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    @property
    def largest_order(self) -> int | None:
        """The largest order that the kernel counts, if it has a limit."""
        return None

    @abstractmethod
    def learned(self, inputs: Inputs, bounds: Integers, threshold: float, schedule: Schedule) -> Atoms:
        """The atoms that occur in more than ``threshold`` examples: others can never be selected.

        Row ``bounds[k]`` of the inputs is the first of example ``k``, and the next bound is behind its last.
        """

    @abstractmethod
    def graphs(
        self, inputs: Inputs, bounds: Integers, atoms: Atoms, schedule: Schedule
    ) -> _core.ArcUnions | _core.SlotGraphs:
        """The examples as graphs of positions."""

    def templates_of(self, atoms: Atoms) -> Integers:
        """By atom the number of its template, if the space has templates: what is left without words and tags."""
        return np.zeros(len(atoms), np.int64)

    @abstractmethod
    def write(self, atoms: Atoms, path: Path) -> str:
        """A feature as text."""

    @abstractmethod
    def locator(self, atoms: Atoms, item: Any) -> Locate:
        """Return a function that finds where a feature occurs in an item.

        It is slow and needs no trie: for features that are shown to people. A feature has as many occurrences as it
        counts in this item.
        """

    @abstractmethod
    def shown(self, item: Any, places: Places) -> str:
        """An item as text, in which one occurrence of a feature is marked."""

    def item_of(self, inputs: Inputs, row: int) -> Any:
        """One row of the inputs, as :meth:`locator` and :meth:`shown` take it."""
        return next(iter(inputs.rows(np.array([row])).column(self.kernel.on)))

    def check(self, atoms: Atoms) -> None:
        """Refuse atoms of a file that are not of this space: an InputError says why."""
        require(not len(atoms.top), f"a {self.what} has no tops")
        self._check_codes(atoms)

    @abstractmethod
    def _check_codes(self, atoms: Atoms) -> None:
        """Refuse codes that name texts which are not there."""


def check_numbers(numbers: NDArray[np.uint64], atoms: Atoms, name: str, least: int = 1) -> None:
    """Refuse numbers of texts, counted from 1, that are not in a list of these."""
    require(name in atoms.texts, f"it lacks {name}")
    most = len(atoms.texts[name])
    require(((numbers >= least) & (numbers <= most)).all(), f"an atom is of {name} that are not there")


def in_enough_examples(codes: NDArray[np.uint64], example: Integers, threshold: float) -> NDArray[np.uint64]:
    """The codes that occur in more than ``threshold`` examples, sorted."""
    if not len(codes):
        return np.empty(0, np.uint64)
    distinct, number = np.unique(codes, return_inverse=True)
    n = int(example[-1]) + 1 if len(example) else 1
    pairs = np.unique(number.reshape(-1).astype(np.int64) * n + example)
    counts = np.bincount(pairs // n, minlength=len(distinct))
    kept: NDArray[np.uint64] = distinct[counts > threshold]
    return kept


def check_atoms(codes: NDArray[np.uint64], threshold: float, advice: str = "Use a larger C.") -> None:
    """Refuse more atoms than can be numbered."""
    if len(codes) > _core.MOST_ATOMS:
        raise InputError(
            f"There are {len(codes):,} different features of order 1 in more than {threshold:g} examples, and at most "
            f"{_core.MOST_ATOMS:,} can be combined. {advice}"
        )


def check_candidates(bounds: Integers) -> None:
    """Refuse groups of more candidates than a mask has bits."""
    n = int(np.diff(bounds).max(initial=0))
    if n > _core.MOST_CANDIDATES:
        raise InputError(
            f"A group has {n} candidates, with its gold one, and features are selected among at most "
            f"{_core.MOST_CANDIDATES}. Keep the best of each group."
        )


def masks_of(bounds: Integers, row: Integers) -> NDArray[np.uint64]:
    """For each row of the inputs the bit of its candidate, given the rows of positions."""
    first = np.repeat(bounds[:-1], np.diff(bounds))
    bit: NDArray[np.uint64] = np.uint64(1) << (row - first[row]).astype(np.uint64)
    return bit


def space_for(kernel: Kernel) -> GrownSpace:
    """The space in which features of a kernel are selected; an InputError if there is none."""
    from espalier.spaces.grown_arc_sets import ArcSetSpace
    from espalier.spaces.grown_arcs import ArcSpace
    from espalier.spaces.grown_productions import FragmentSpace
    from espalier.spaces.grown_sequences import SequenceSpace, SubsequenceSpace, TaggingSpace
    from espalier.spaces.grown_sets import SetSpace

    spaces: dict[str, type[GrownSpace]] = {
        "DependencySubtree": ArcSpace,
        "Polynomial": SetSpace,
        "Power": ArcSetSpace,
        "Spectrum": SequenceSpace,
        "Subsequence": SubsequenceSpace,
        "Tagging": TaggingSpace,
        "SubsetTree": FragmentSpace,
    }
    name = type(kernel).__name__
    if name not in spaces:
        known = ", ".join(own for own in spaces if own != "Power")
        raise InputError(f"Features of {kernel!r} cannot be selected. Those of {known} can.")
    return spaces[name](kernel)
