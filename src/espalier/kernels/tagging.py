"""Tagged sequences: the kernel of Collins and Duffy (2001) for tagging."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from espalier import _core
from espalier.corpus.sequences import Sequences, Unit
from espalier.errors import InputError
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Reads
from espalier.kernels.block_plan import DECAY_BOUNDS, Corpora, Native
from espalier.kernels.hyperparameters import Fixed, Hyperparameter, hyperparameter
from espalier.kernels.inputs import Inputs
from espalier.kernels.sequence_memory import NO_GRIDS, Grids, Shared, sizes_of
from espalier.kernels.sequence_plan import SequenceKernel


@dataclass(frozen=True, repr=False)
class Tagging(SequenceKernel):
    r"""Count the runs of tags two tagged sequences share, each tag with or without its word, perhaps with gaps.

    A fragment is a run of tags without gaps, in which some of the tags keep their words. It weighs ``decay`` for each
    tag and ``word_weight`` for each word that it keeps. With decay :math:`\lambda_x` and word weight :math:`\omega_x`
    of the tag :math:`x`,

    .. math:: K(s, t) = \sum_{i, j} C(i, j), \qquad
        C(i, j) = \lambda_x \bigl(1 + \omega_x [\text{words equal}]\bigr) \bigl(1 + C(i + 1, j + 1)\bigr)

    if the tags at :math:`i` and :math:`j` are equal, and 0 otherwise. With both numbers at 1 these are the counts of
    the paper.

    With a ``gap_decay`` above 0 a fragment is any subsequence of the tags, and also weighs ``gap_decay`` for each
    position skipped between its first and its last tag, on either side, as in :class:`Subsequence`.

    Parameters
    ----------
    decay
        :math:`\lambda`: the weight of one tag. A number, or one for each tag.
    word_weight
        :math:`\omega`: the weight of a word that a fragment keeps. A number, or one for each tag.
    gap_decay
        The weight of a skipped position. A number, or one for each tag; fixed at 0 by default, so that only runs count.
    on
        The column to read if the input is a table.

    Notes
    -----
    The paper speaks of subsequences, and its examples are runs; by default the fragments here are runs too.
    Items are tagged sequences, trees (their words and the labels above them) or dependency trees with tags; plain texts
    have no tags and are an error. A pair takes one step for each pair of positions with equal tags; with gaps, for each
    pair of positions. An empty sequence shares nothing, not even with itself.

    Examples
    --------
    >>> from espalier import TaggedSequence
    >>> s = TaggedSequence(["the", "cat"], ["D", "N"])
    >>> t = TaggedSequence(["the", "dog"], ["D", "N"])
    >>> Tagging(decay=1.0, word_weight=1.0)([s, t])
    array([[8., 5.],
           [5., 8.]])
    >>> u = TaggedSequence(["the", "old", "dog"], ["D", "J", "N"])
    >>> Tagging(1.0, 1.0).value(s, u), Tagging(1.0, 1.0, gap_decay=0.5).value(s, u)
    (3.0, 4.0)
    """

    _when_too_large: ClassVar = "Use a smaller decay or gap_decay."

    decay: Hyperparameter = hyperparameter(0.5, DECAY_BOUNDS, zero=False)
    word_weight: Hyperparameter = hyperparameter(1.0)
    gap_decay: Hyperparameter = hyperparameter(Fixed(0.0), DECAY_BOUNDS)
    on: str | None = None

    def reads(self) -> Reads:
        return "tagged words"

    def _units(self) -> tuple[Unit, ...]:
        return ("tags", "words")

    def _corpora(self, inputs: Inputs) -> Corpora:
        column = inputs.sequence_items(self.on)
        place = "" if self.on is None else f"Column {self.on!r}: "
        if not isinstance(column, Sequences):  # Sequences record whether they hold tags
            for row, item in enumerate(column):
                if isinstance(item, str | list | tuple):
                    raise InputError(
                        f"{place}Row {row} has no tags: it is {item!r:.60}. Pass TaggedSequence(words, tags), a tree "
                        "or a dependency tree."
                    )
        found = super()._corpora(inputs)
        n_tags, n_words = sizes_of(*(corpus.arrays for corpus in found))
        wrong = np.flatnonzero(n_tags != n_words)
        if len(wrong):
            row = int(wrong[0])
            raise InputError(
                f"{place}Row {row} has {n_tags[row]} tags and {n_words[row]} words: every word needs one tag."
            )
        return found

    def _grids(self, a: Corpora, b: Corpora, *, pulling_back: bool) -> Grids:
        if not pulling_back:
            return NO_GRIDS
        sides = a[0].arrays, b[0].arrays
        if hyper.default_of(self.gap_decay) > 0 or bool(getattr(self.gap_decay, "values", ())):
            return Grids(sizes_of(*sides), 2 * 8)  # two grids over all positions
        # A list of all positions with equal tags: 32 bytes each, and lists grow by doubling.
        return Grids(sizes_of(*sides), 64, Shared(*sides).equal)

    def _native(self) -> tuple[Native, Native]:
        return _core.tagging_values, _core.tagging_pull_back
