"""Gap-weighted subsequences: the kernels of Lodhi et al. (2002) and Cancedda et al. (2003)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from espalier import _core
from espalier.corpus.sequences import Sequences, Unit, check_unit
from espalier.corpus.vocabulary import check_same_vocabulary
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.base import Kernel, Matrix, Plan, Pullback
from espalier.kernels.checks import check_cotangent, check_finite
from espalier.kernels.hyperparameters import Hyperparameter, PerDimension, hyperparameter
from espalier.kernels.inputs import Inputs
from espalier.kernels.order_weights import order_values, weights_by_length
from espalier.kernels.schedule import Schedule

DECAY_BOUNDS = (1e-6, 1.0)
ALL, SYMMETRIC, DIAGONAL = range(3)  # which pairs the core computes


@dataclass(frozen=True, repr=False)
class Subsequence(Kernel):
    r"""Count the subsequences two sequences share, gaps allowed.

    A subsequence keeps symbols in their order and may skip others in between. It weighs ``match_decay`` for each symbol
    on either side, ``gap_decay`` for each position skipped between its first and its last symbol on either side, and
    the weight of its length. With :math:`\mu` for match decay, :math:`\gamma` for gap decay and :math:`w_p` for the
    weight of length :math:`p`,

    .. math:: K(s, t) = \sum_{p \le n} w_p \sum_{I, J : s_I = t_J, |I| = p}
        \prod_{i \in I} \mu_{s_i} \prod_{j \in J} \mu_{t_j}
        \prod_{i \text{ inside } I} \gamma_{s_i} \prod_{j \text{ inside } J} \gamma_{t_j}

    over index sets :math:`I` of :math:`s` and :math:`J` of :math:`t`; a position is inside where it is skipped.

    Parameters
    ----------
    length
        The longest subsequences that count.
    gap_decay
        :math:`\gamma`: what a skipped position weighs. A number, or one for each symbol.
    match_decay
        :math:`\mu`: what a matched position weighs, on each side. A number, or one for each symbol.
    order_weights
        :math:`w`: one weight for each length, from 1: a tuple, or a number for all to start from. Each is learned,
        unless ``fixed``.
    of
        What a symbol is in texts, trees and tagged sequences: ``"words"``, ``"characters"`` or ``"tags"``.
    on
        The column to read where the input is a table.

    Notes
    -----
    A pair costs ``length`` times the product of the numbers of positions whose symbols the other side has too, and not
    of all positions. Memory is that of the corpus and of the matrix. Lodhi et al. weigh a subsequence by its span,
    decay to the power of matched and skipped positions: ``gap_decay`` and ``match_decay`` alike, and one length only.

    Examples
    --------
    >>> kernel = Subsequence(2, gap_decay=0.5, match_decay=1.0)
    >>> kernel(["the cat sleeps", "the old cat"])
    array([[5.25, 2.5 ],
           [2.5 , 5.25]])
    """

    length: int = 4
    gap_decay: Hyperparameter = hyperparameter(0.5, DECAY_BOUNDS)
    match_decay: Hyperparameter = hyperparameter(0.5, DECAY_BOUNDS, zero=False)
    order_weights: Any = hyperparameter(1.0)
    of: Unit = "words"
    on: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.length, bool) or not isinstance(self.length, int) or self.length < 1:
            raise ValueError(f"length must be a positive integer, got {self.length!r}.")
        check_unit(self.of)
        object.__setattr__(self, "order_weights", weights_by_length(self.order_weights, self.length))
        super().__post_init__()
        for name in ("gap_decay", "match_decay"):
            if isinstance(getattr(self, name), PerDimension):
                raise TypeError(f"{name} belongs to symbols, not dimensions: use PerLabel.")

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule) -> Plan:
        others = None if b is None else b.sequences(self.on, self.of)
        return SubsequencePlan(a.sequences(self.on, self.of), others, schedule)

    def _make_diagonal_plan(self, a: Inputs, schedule: Schedule) -> Plan:
        return SubsequencePlan(a.sequences(self.on, self.of), None, schedule, diagonal=True)


class SubsequencePlan(Plan):
    """Sequences to compare: two corpora, one with itself, or each sequence with itself."""

    def __init__(self, a: Sequences, b: Sequences | None, schedule: Schedule, *, diagonal: bool = False) -> None:
        self._schedule = schedule
        self._pairs = DIAGONAL if diagonal else SYMMETRIC if b is None else ALL
        self._sides = (a, a if b is None else b)
        self._vocabulary = check_same_vocabulary(a.vocabulary, self._sides[1].vocabulary)
        used = np.unique(np.concatenate([side.arrays[0] for side in self._sides]))
        self._used = used
        self._labels = [self._vocabulary[number] for number in used.tolist()]
        # Symbols as the core sees them: only those that occur.
        self._arrays = [(np.searchsorted(used, symbol).astype(np.int32), start) for symbol, start in self._each()]

    def _each(self) -> Any:
        return (side.arrays for side in self._sides)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the matrix, or of the diagonal."""
        n, m = (len(side) for side in self._sides)
        return (n,) if self._pairs == DIAGONAL else (n, m)

    @property
    def labels(self) -> list[str]:
        """The symbols of both sides."""
        return list(self._labels)

    def bind(self, kernel: Subsequence) -> Subsequence:
        changes = {
            name: hyper.bind_labels(getattr(kernel, name), self._labels, leaves=False)
            for name in ("gap_decay", "match_decay")
        }
        return replace(kernel, **changes)

    def matrix(self, kernel: Subsequence) -> Matrix:
        out = np.empty(self.shape)
        arguments: Any = (*self._arguments(kernel), out.reshape(-1))
        _core.subsequence_values(*arguments)
        self._schedule.done()
        check_finite(out, item="sequence", advice="Use a smaller match_decay, gap_decay or length.")
        return out

    def vjp(self, kernel: Subsequence) -> tuple[Matrix, Pullback]:
        return self.matrix(kernel), lambda cotangent: self._pull_back(kernel, cotangent)

    def _pull_back(self, kernel: Subsequence, cotangent: Matrix) -> dict[str, float]:
        cotangent = np.ascontiguousarray(check_cotangent(cotangent, self.shape))
        bars = [np.zeros(max(1, len(self._labels))) for _ in range(2)] + [np.zeros(kernel.length)]
        arguments: Any = (*self._arguments(kernel), cotangent.reshape(-1), *bars)
        _core.subsequence_pull_back(*arguments)
        self._schedule.done()
        out: dict[str, float] = {}
        for name, bar in zip(("gap_decay", "match_decay"), bars, strict=False):
            gradient = np.append(bar[: len(self._labels)], 0.0)  # the last would be the leaves'
            out.update(hyper.label_gradients(name, getattr(kernel, name), self._labels, gradient, leaves=False))
        if not hyper.is_fixed(kernel.order_weights):
            out.update({f"order_weights[{p}]": float(value) for p, value in enumerate(bars[2])})
        return out

    def _arguments(self, kernel: Subsequence) -> tuple[Any, ...]:
        gap, match = (hyper.label_values(getattr(kernel, name), self._labels) for name in ("gap_decay", "match_decay"))
        (symbols, starts), (other_symbols, other_starts) = self._arrays
        schedule = self._schedule
        return (
            symbols,
            starts,
            other_symbols,
            other_starts,
            self._pairs,
            gap,
            match,
            order_values(kernel.order_weights, kernel.length),
            schedule.n_threads,
            schedule.progress,
        )
