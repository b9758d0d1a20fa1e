"""Gap-weighted subsequences: the kernels of Lodhi et al. (2002) and Cancedda et al. (2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from espalier import _core
from espalier.corpus.sequences import Unit, check_unit
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Reads
from espalier.kernels.block_plan import DECAY_BOUNDS, Corpora, Floats, Native
from espalier.kernels.hyperparameters import Fixed, Hyperparameter, hyperparameter
from espalier.kernels.order_weights import SubsequenceWeights, order_values, weights_by_length
from espalier.kernels.sequence_memory import Grids, Shared, sizes_of
from espalier.kernels.sequence_plan import SequenceKernel
from espalier.kernels.similarity import Similarity, check_similarity
from espalier.structures.numbers import whole_number


@dataclass(frozen=True, repr=False)
class Subsequence(SequenceKernel):
    r"""Count the subsequences two sequences share, gaps allowed.

    A subsequence keeps symbols in their order and may skip others in between. It weighs ``match_decay`` for each symbol
    on either side, ``gap_decay`` for each position skipped between its first and its last symbol on either side, and
    the weight of its length. With :math:`\mu` for match decay, :math:`\gamma` for gap decay and :math:`w_p` for the
    weight of length :math:`p`,

    .. math:: K(s, t) = \sum_{p \le n} w_p \sum_{I, J : s_I = t_J, |I| = p}
        \prod_{i \in I} \mu_{s_i} \prod_{j \in J} \mu_{t_j}
        \prod_{i \text{ inside } I} \gamma_{s_i} \prod_{j \text{ inside } J} \gamma_{t_j}

    over index sets :math:`I` of :math:`s` and :math:`J` of :math:`t`; skipped positions are inside. With a similarity
    :math:`\sigma`, unequal symbols match too: all index sets of one length count, with a factor
    :math:`\sigma(s_i, t_j)` for each pair of matched positions.

    Parameters
    ----------
    length
        The length of the longest subsequences that count.
    gap_decay
        :math:`\gamma`: the weight of a skipped position. A number, or one for each symbol.
    match_decay
        :math:`\mu`: the weight of a matched position, on each side. A number, or one for each symbol.
    order_weights
        :math:`w`: one weight for each length, from 1: a tuple, or one number at which all start. Each is learned,
        unless ``fixed``.
    similarity
        How similar unequal symbols are: an :class:`Embedding`, :class:`LatentSemantic`, :class:`WordNet` or
        :class:`SimilarityTable`. None matches equal symbols only.
    mix
        The share of exact matching: symbols match by ``mix * [x = y] + (1 - mix) * similarity``. Fixed at 0; write a
        number and it is learned.
    of
        What a symbol is in texts, trees and tagged sequences: ``"words"``, ``"characters"`` or ``"tags"``.
    on
        The column to read if the input is a table.

    Notes
    -----
    A pair costs ``length`` times the product of the numbers of positions whose symbols the other side has too, not of
    all positions. Memory is that of the corpus and of the matrix, and with a similarity 8 bytes for each pair of
    symbols, within the memory budget. Lodhi et al. weigh a subsequence by its span, decay to the power of matched and
    skipped positions: here this means equal ``gap_decay`` and ``match_decay``, and one length only.

    Examples
    --------
    >>> kernel = Subsequence(2, gap_decay=0.5, match_decay=1.0)
    >>> kernel(["the cat sleeps", "the old cat"])
    array([[5.25, 2.5 ],
           [2.5 , 5.25]])
    """

    _unlabelled: ClassVar = ("order_weights", "mix")
    _when_too_large: ClassVar = "Use a smaller match_decay, gap_decay or length."
    _takes_similarity: ClassVar = True

    length: int = 4
    gap_decay: Hyperparameter = hyperparameter(0.5, DECAY_BOUNDS)
    match_decay: Hyperparameter = hyperparameter(0.5, DECAY_BOUNDS, zero=False)
    order_weights: Any = hyperparameter(1.0)
    similarity: Similarity | None = None
    mix: Hyperparameter = hyperparameter(Fixed(0.0), (1e-6, 1.0))
    of: Unit = "words"
    on: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", whole_number("length", self.length))
        check_unit(self.of)
        check_similarity(self.similarity, self.mix)
        object.__setattr__(self, "order_weights", weights_by_length(self.order_weights, self.length))
        super().__post_init__()

    def reads(self) -> Reads:
        return self.of

    def feature_space(self) -> str | None:
        return "subsequences" if self.similarity is None else None  # soft matches have no features of their own

    def _subsequence_weights(self, labels: list[str]) -> SubsequenceWeights:
        gap, match = (hyper.label_values(setting, labels)[:-1] for setting in (self.gap_decay, self.match_decay))
        return SubsequenceWeights(match, gap, np.sqrt(order_values(self.order_weights, self.length)))

    def _units(self) -> tuple[Unit, ...]:
        return (self.of,)

    def _others(self) -> list[tuple[str, Floats]]:
        mix = np.array([hyper.number_of(self.mix)])
        return [("order_weights", order_values(self.order_weights, self.length)), ("mix", mix)]

    def _grids(self, a: Corpora, b: Corpora, *, pulling_back: bool) -> Grids:
        # A grid is kept once for matches and once for each length, and three times more for gradients. It has a row
        # for each position whose symbol the other side has too, and columns likewise; if soft, for each position.
        bytes_per_cell = 8 * (self.length + 1 + (3 if pulling_back else 0))
        sides = a[0].arrays, b[0].arrays
        cells = Shared(*sides).grid if self.similarity is None else None
        return Grids(sizes_of(*sides), bytes_per_cell, cells)

    def _native(self) -> tuple[Native, Native]:
        return _core.subsequence_values, _core.subsequence_pull_back
