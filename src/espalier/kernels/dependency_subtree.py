"""Sub-feature-trees of dependency trees: the kernel of Qian and Liu (2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.corpus.arc_templates import check_templates
from espalier.corpus.arcs import Arcs
from espalier.corpus.soundness import FEATURE
from espalier.corpus.vocabulary import check_same_vocabulary
from espalier.jobs.schedule import Schedule
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Reads
from espalier.kernels.block_plan import DECAY_BOUNDS, Block, BlockKernel, Corpora, Floats, Native, PairBlock, Sums
from espalier.kernels.hyperparameters import Fixed, Hyperparameter, Number, PerDimension, PerLabel, hyperparameter
from espalier.kernels.inputs import Inputs
from espalier.kernels.sequence_memory import Grids, which_pairs
from espalier.structures.numbers import truth_value, whole_number

_CONTEXTS = (
    *("words", "tags", "head word, tag", "head tag, word"),
    *("head tag -1, tag", "head tag -1, word", "head tag, tag -1", "head word, tag -1"),
    *("head tag +1, tag", "head tag +1, word", "head tag, tag +1", "head word, tag +1"),
    *("head tag -1, head tag, tag", "head tag, head tag +1, tag", "head tag, tag -1, tag", "head tag, tag, tag +1"),
)
# The 33 templates of table 1 of Qian and Liu (2015), in its order: pairs and triples of words and tags, each of them
# again with length and direction, and the tags between head and modifier.
ARC_TEMPLATES: tuple[str, ...] = (
    *_CONTEXTS,
    *(f"{template}, length, direction" for template in _CONTEXTS),
    "head tag, between tag, tag",
)


@dataclass(frozen=True, repr=False)
class DependencySubtree(BlockKernel):
    r"""Count the subtrees two dependency trees share; arcs match if they share a feature.

    A subtree is a head with some of its children, which are neighbours in the sentence's order, and below each of them
    nothing or again a subtree. A *sub-feature-tree* picks one feature for each of its arcs; it weighs ``decay`` for
    each arc, times the weight of the template that the feature comes from. With :math:`m(x, y)` for the total weight of
    the features that the arcs to :math:`x` and :math:`y` share,

    .. math:: E(x, y) = m(x, y) (1 + \Delta(x, y)), \quad R(x_i, y_j) = E(x_i, y_j) (1 + R(x_{i-1}, y_{j-1})), \quad
        \Delta(u, v) = \sum_{i, j} R(x_i, y_j)

    over the children of :math:`u` and :math:`v`; the kernel is the sum of :math:`\Delta` over all pairs of heads.

    Parameters
    ----------
    features
        The templates of features that an arc has. A template joins one or more different parts by ``", "``:
        ``"head word"``, ``"head tag"``, ``"head tag -1"``, ``"head tag +1"`` (the tags to the left and right of the
        head), ``"word"``, ``"tag"``, ``"tag -1"``, ``"tag +1"`` (of the child), ``"between tag"`` (one feature for each
        different tag between head and child), ``"relation"``, ``"length"`` (1 to 5, 6 to 10, or more) and
        ``"direction"``. ``"words"`` means ``"head word, word"``, and ``"tags"`` means ``"head tag, tag"``, also inside
        of a longer template. ``"distance"`` is another name of the template ``"length"``. The template ``"own"`` stands
        for the features that a :class:`DependencyTree` brings along for its arcs. ``espalier.kernels.ARC_TEMPLATES``
        is table 1 of the paper.
    decay
        The weight of one arc; 1 gives the paper's counts.
    weight
        The weight of a template. ``PerLabel(1.0)`` learns one for each.
    contiguous
        Whether the children that a subtree keeps must be neighbours, as in the paper's recursion.
    on
        The column to read if the input is a table.
    root
        Whether the arc to a root counts like any other: its head is ROOT, which stands before the first word, and its
        head's word and tag are ``"ROOT"``. Several roots are siblings.
    max_arcs
        Count only subtrees of at most so many arcs. With 1, the kernel is the number of features of arcs that two trees
        share, and ``Power(Constant(1.0) + DependencySubtree(max_arcs=1), 2)`` counts pairs of these.

    Notes
    -----
    A pair of trees costs time for each two arcs that share a feature; with ``contiguous=False``, for each two arcs. It
    takes the product of the sizes in memory, for each thread; a pair beyond the budget raises a MemoryBudgetError.
    Without ``root``, the arc to a root has no head and does not count. There may be several
    roots, and arcs may cross: children are in the order of the sentence, wherever their head is. The tag to the left of
    the first word is ``"ROOT"``, with and without ``root``; the tags to the left of ROOT and to the right of the last
    word are empty. ``decay`` and ``weight`` are not in the paper, which does not say how it groups lengths, either.

    Examples
    --------
    >>> from espalier import DependencyTree
    >>> tree = DependencyTree(["cats", "sleep"], ["NNS", "VBP"], [2, 0], ["nsubj", "root"])
    >>> DependencySubtree(("tags", "relation"), decay=1.0).value(tree, tree)
    2.0
    >>> DependencySubtree(("tags, direction", "relation"), decay=1.0, root=True).value(tree, tree)
    8.0
    """

    _item: ClassVar = "tree"
    _labelled: ClassVar = "templates"
    _unlabelled: ClassVar = ("decay",)
    _when_too_large: ClassVar = "Use a smaller decay or weight."

    features: tuple[str, ...] = ("words", "tags", "relation", "direction")
    decay: Number = hyperparameter(0.5, DECAY_BOUNDS, zero=False)
    weight: Hyperparameter = hyperparameter(Fixed(1.0))
    contiguous: bool = True
    on: str | None = None
    root: bool = False
    max_arcs: int | None = None

    def __post_init__(self) -> None:
        check_templates(self.features)
        object.__setattr__(self, "features", tuple(self.features))
        super().__post_init__()
        object.__setattr__(self, "contiguous", truth_value("contiguous", self.contiguous))
        object.__setattr__(self, "root", truth_value("root", self.root))
        if self.max_arcs is not None:
            object.__setattr__(self, "max_arcs", whole_number("max_arcs", self.max_arcs, none=True))
            if not self.contiguous:
                raise ValueError("max_arcs limits subtrees of neighbours only: leave out contiguous=False or max_arcs.")
        if isinstance(self.decay, PerLabel | PerDimension):
            raise TypeError("decay is one number for all arcs; weight may be PerLabel, by template.")
        if isinstance(self.weight, PerLabel):
            groups = dict(self.weight.groups)
            named = [name for name, _ in self.weight.values if name not in groups]
            for name in [*named, *(member for group in groups.values() for member in group)]:
                if name not in self.features:  # all templates are known beforehand
                    known = ", ".join(map(repr, self.features))
                    raise ValueError(f"weight names {name!r}, which is not a template of this kernel; it has {known}.")

    def reads(self) -> Reads:
        return "arcs"

    def _corpora(self, inputs: Inputs) -> Corpora:
        return (inputs.arcs(self.on, self.features, self.root),)

    def _others(self) -> list[tuple[str, Floats]]:
        return [("decay", np.array([hyper.number_of(self.decay)]))]

    def _block(self, a: Corpora, b: Corpora | None, *, diagonal: bool) -> Block:
        return ArcBlock(a[0], None if b is None else b[0], diagonal=diagonal)

    def _labels_of(self, a: Corpora, b: Corpora | None) -> list[str]:
        return list(a[0].templates)

    def _grids(self, a: Corpora, b: Corpora, *, pulling_back: bool) -> Grids:
        # Tables of numbers over both trees, and as many again for their gradient weights.
        n_numbers = 3 if self.contiguous else 4
        if self.max_arcs is not None:
            n_numbers = 1 + 2 * self.max_arcs
        bytes_per_cell = 8 * n_numbers * (2 if pulling_back else 1)
        return Grids((np.diff(a[0].arrays["start"]), np.diff(b[0].arrays["start"])), bytes_per_cell)

    def _native(self) -> tuple[Native, Native]:
        return _core.dependency_subtree_values, _core.dependency_subtree_pull_back


class ArcBlock(PairBlock):
    """Dependency trees whose features have one number each."""

    def __init__(self, a: Arcs, b: Arcs | None, *, diagonal: bool) -> None:
        self._pairs = which_pairs(b is None, diagonal)
        sides = (a, a if b is None else b)
        vocabulary = check_same_vocabulary(a.vocabulary, sides[1].vocabulary)
        self.labels = list(a.templates)
        self._arrays, self._part = _with_numbered_features(sides, len(vocabulary) + 1)

    def pull_back(self, kernel: DependencySubtree, schedule: Schedule, cotangent: Floats, sums: Sums) -> None:
        super().pull_back(kernel, schedule, cotangent, (sums[1], sums[0]))  # the core has the decay first

    def _arguments(self, kernel: DependencySubtree, schedule: Schedule) -> tuple[object, ...]:
        (weight,), decay = self._by_label(kernel), hyper.number_of(kernel.decay)
        options = (kernel.contiguous, kernel.max_arcs or 0, schedule.n_threads, schedule.tell)
        return (*self._arrays, self._pairs, decay, weight, self._part, *options)


def _with_numbered_features(
    sides: tuple[Arcs, Arcs], n_texts: int
) -> tuple[list[dict[str, NDArray[Any]]], NDArray[np.int32]]:
    """The arrays of both sides with one number for each different feature, and the template of each."""
    keys = []
    for side in sides if sides[0] is not sides[1] else sides[:1]:
        template, first, second = (side.arrays[name].astype(np.int64) for name in FEATURE)
        keys.append((template * n_texts + first + 1) * n_texts + second)
    used, number = np.unique(np.concatenate(keys), return_inverse=True)
    numbers = np.split(number.reshape(-1).astype(np.int32), [len(keys[0])])
    arrays = [
        {name: array for name, array in side.arrays.items() if name not in FEATURE}
        | {"feature": numbers[k % len(keys)]}
        for k, side in enumerate(sides)
    ]
    return arrays, (used // n_texts**2).astype(np.int32)
