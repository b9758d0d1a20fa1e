"""``RankingSVM``: choosing among candidates with a margin, the machine of Collins and Duffy (2001)."""

from __future__ import annotations

import itertools
import math
from dataclasses import KW_ONLY, dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from espalier.errors import warn_user
from espalier.jobs.schedule import Schedule
from espalier.rerank.chooser import Chooser, Fitted, Floats
from espalier.rerank.combination import GrowingSum, growing_sum
from espalier.rerank.training import TrainingSet

AT_HAND = 16384  # candidates whose matrix is kept for all passes if the model is not compressed: 2 GiB
MAX_PASSES = 100  # if the user names no other limit
TOLERANCE = 0.01  # of a margin, likewise
RESTS = 0.1  # a group waits for the next pass once it gains less than this share of the largest gain in its pass


@dataclass(eq=False, repr=False)
class RankingSVM(Chooser):
    r"""Learn a function whose value at the target exceeds that at every rival by 1, as far as possible.

    .. math:: \min_f \; \tfrac12 \|f\|^2 + C \sum_{\text{rivals}} \max(0, 1 - f(\text{target}) + f(\text{rival}))

    Parameters
    ----------
    C
        The penalty for a rival that comes too near.
    max_iterations
        The most passes over all groups; 100 if None. In a pass, groups that still gain are visited again, at most this
        many times.
    tolerance
        Learning ends if no dual weight can gain more than this share of a margin; 0.01 if None.
    kernel, sample, target, score_weight, random_state, n_threads, memory, progress, verbose
        As for every :class:`Chooser`.

    Attributes
    ----------
    n_passes_
        How many passes it took.
    gap_
        The largest gain that was left in the last pass; below ``tolerance`` if learning converged.

    Notes
    -----
    Coordinate ascent changes one dual weight at a time (Hsieh et al., 2008), group after group: a visit costs as much
    as scoring the group once, however many pairs there are, and no matrix of pairs is formed. A pass visits every
    group, then revisits those that still gain, until none does.

    If the model is not compressed, the matrix of all training candidates is computed once, up to 16,384 of them (2
    GiB). More are learned from in parts, and every pass computes their kernel values again: draw fewer with ``sample``,
    or use ``SubsetTree``.

    Examples
    --------
    >>> from espalier.kernels import SubsetTree
    >>> from espalier.structures.group import Group
    >>> right, wrong = "(S (NP (N cats)) (VP (V sleep)))", "(S (NP (N cats) (V sleep)))"
    >>> groups = [Group([wrong, right], gold=right)] * 5
    >>> RankingSVM(SubsetTree(0.5)).fit(groups).chosen(groups)
    array([1, 1, 1, 1, 1])
    """

    _: KW_ONLY
    C: float = 1.0
    max_iterations: int | None = None
    tolerance: float | None = None

    def _check(self) -> None:
        super()._check()
        self._check_whole("max_iterations", none=True)
        self._check_positive("C")
        self._check_positive("tolerance", none=True)

    def _learn(self, data: TrainingSet, rng: np.random.Generator, schedule: Schedule) -> Fitted:
        weights = [np.zeros(size - 1) for size in np.diff(data.start).tolist()]
        stop = None
        try:
            self._climb(data, weights, rng, schedule)
        except BaseException as error:
            if not any(own.any() for own in weights):  # nothing was learned
                raise
            stop = error
        return Fitted(np.concatenate([np.concatenate([[own.sum()], -own]) for own in weights]), stop, self.kernel)

    def _climb(self, data: TrainingSet, weights: list[Floats], rng: np.random.Generator, schedule: Schedule) -> None:
        """Improve the dual weights of all groups in place, until none gains or the limit of passes is reached."""
        threads, memory = schedule.n_threads, schedule.memory
        model = growing_sum(self.kernel, data.items, block=AT_HAND, n_threads=threads, memory=memory)
        start = data.start.tolist()
        tolerance = TOLERANCE if self.tolerance is None else self.tolerance
        max_passes = MAX_PASSES if self.max_iterations is None else self.max_iterations
        matrices = [model.matrix(first, last) for first, last in itertools.pairwise(start)]
        blocks = list(data.blocks(model.block))

        def visit(groups: list[int]) -> dict[int, float]:
            order = rng.permutation(groups).tolist()
            return {g: self._visit(model, start[g], matrices[g], weights[g]) for g in order}

        done = first = 0.0
        for n_passes in range(1, max_passes + 1):
            self.gap_, self.n_passes_ = 0.0, n_passes
            for b in rng.permutation(len(blocks)).tolist():
                block = blocks[b]
                model.open(start[block.start], start[block.stop])
                gains = visit(list(block))
                self.gap_ = max(self.gap_, *gains.values())
                enough = max(tolerance, RESTS * self.gap_)
                for _ in range(max_passes):
                    if not (active := [g for g, gain in gains.items() if gain >= enough]):
                        break
                    gains = visit(active)
            first = first or self.gap_
            done = max(done, n_passes / max_passes, self._nearness(first, tolerance))
            if schedule.tell is not None:
                schedule.tell(done)
            if self.gap_ < tolerance:
                break
        else:
            warn_user(
                f"Learning stopped after {n_passes} passes, with a gain of {self.gap_:.2g} of a margin left. Raise "
                "max_iterations or tolerance, or lower C.",
                ConvergenceWarning,
            )

    def _nearness(self, first: float, tolerance: float) -> float:
        """How near the end learning is, if ``first`` was the largest gain of the first pass."""
        # Gains fall by about the same factor in every pass.
        left = max(self.gap_, tolerance)
        return math.log(first / left) / math.log(first / tolerance) if first > tolerance else 0.0

    def _visit(self, model: GrowingSum, first: int, matrix: Floats, weights: Floats) -> float:
        """Improve the dual weights of one group's rivals, one after the other; return the largest possible gain."""
        values = model(first, first + len(matrix))
        largest = 0.0
        before = weights.copy()
        for k in range(len(weights)):
            length = matrix[0, 0] - 2.0 * matrix[0, k + 1] + matrix[k + 1, k + 1]
            if length <= 0.0:  # the kernel does not distinguish the two, so no weight changes the function
                continue
            slope = values[0] - values[k + 1] - 1.0  # of the dual, downhill where negative
            gain = min(slope, 0.0) if weights[k] == 0.0 else max(slope, 0.0) if weights[k] == self.C else slope
            largest = max(largest, abs(gain))
            if gain == 0.0:
                continue
            new = min(max(weights[k] - slope / length, 0.0), self.C)
            values += (new - weights[k]) * (matrix[:, 0] - matrix[:, k + 1])
            weights[k] = new
        change = weights - before
        if change.any():
            model.add(first, float(change.sum()))
            for k in np.flatnonzero(change).tolist():
                model.add(first + 1 + k, -float(change[k]))
        return largest
