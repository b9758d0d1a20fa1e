"""``VotedPerceptron``: choosing the best candidate of a group by the kernel perceptron of Collins and Duffy (2001)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from espalier.corpus.rows import rows_state
from espalier.jobs.progress import Tell
from espalier.jobs.schedule import Schedule
from espalier.kernels.inputs import Inputs
from espalier.rerank.chooser import Chooser, Fitted, Floats, stored_candidates
from espalier.rerank.combination import GrowingSum, growing_sum
from espalier.rerank.training import TrainingSet
from espalier.storage import State, require
from espalier.structures.group import Group

Updates = Literal["all", "best"]


@dataclass(eq=False, repr=False)
class VotedPerceptron(Chooser):
    """Learn to choose among candidates: if a rival wins, its tree is subtracted and the target's added.

    Parameters
    ----------
    epochs
        How many passes over all groups to make.
    updates
        Which rivals are subtracted: ``"all"`` goes through those of a group in order and subtracts each that does not
        score lower than the target before it considers the next, as figure 3 of the paper does; ``"best"`` considers
        only the rival that scores highest. A step is a rival with ``"all"``, and a group with ``"best"``.
    vote
        ``"average"``: the mean of the perceptrons after each step, one function. ``"last"``: the last perceptron.
        ``"vote"``: each perceptron votes, weighted by how many steps it was right in a row; this keeps every update and
        is slower, and the value of a candidate is then the number of its votes.
    kernel, sample, target, score_weight, random_state, n_threads, memory, progress, verbose
        As for every :class:`Chooser`.

    Attributes
    ----------
    n_mistakes_
        In how many groups a rival won, in each epoch.

    Examples
    --------
    >>> from espalier.kernels import SubsetTree
    >>> right, wrong = "(S (NP (N cats)) (VP (V sleep)))", "(S (NP (N cats) (V sleep)))"
    >>> groups = [Group([wrong, right], gold=right)] * 5
    >>> model = VotedPerceptron(SubsetTree(0.5)).fit(groups)
    >>> print(model.predict(groups)[0])
    (S (NP (N cats)) (VP (V sleep)))
    >>> model.chosen(groups)
    array([1, 1, 1, 1, 1])
    """

    _: KW_ONLY
    epochs: int = 1
    updates: Updates = "best"
    vote: Literal["average", "last", "vote"] = "average"

    def _check(self) -> None:
        super()._check()
        self._check_whole("epochs")
        self._check_choice("updates", "all", "best")
        self._check_choice("vote", "average", "last", "vote")

    def _learn(self, data: TrainingSet, rng: np.random.Generator, schedule: Schedule) -> Fitted:
        model = growing_sum(self.kernel, data.items, n_threads=schedule.n_threads, memory=schedule.memory)
        course = Course(data, self.epochs, self.updates)
        self.n_mistakes_, stop = [], None
        try:
            for _ in range(self.epochs):
                self.n_mistakes_.append(course.epoch(model, schedule.tell))
        except BaseException as error:
            if not course.updates:  # nothing was learned
                raise
            stop = error
        if self.vote == "vote":
            updates = np.array(course.updates, np.int64).reshape(-1, 2)
            named, place = np.unique(updates, return_inverse=True)
            self._voters = [data.items[row] for row in named.tolist()]
            self._updates, self._lives = place.reshape(updates.shape), np.array(course.lives)
        return Fitted(course.average() if self.vote == "average" else course.last, stop, self.kernel)

    def _voices(self, groups: Sequence[Group]) -> Iterator[Floats]:
        """For each group, the value that each perceptron of the training gives to each candidate."""
        check_is_fitted(self, "_voters", msg="Only the sum of the perceptrons was kept. Fit again with vote='vote'.")
        support = Inputs.of(self._voters)
        for group in groups:
            values = np.zeros((len(group), len(self._lives)))
            if self._voters:
                rows = Inputs.of(list(group.candidates), like=support, translates=True)
                matrix = self.kernel(rows, support, n_threads=self.n_threads, memory=self.memory)
                np.cumsum(matrix[:, self._updates[:, 0]] - matrix[:, self._updates[:, 1]], axis=1, out=values[:, 1:])
            yield values

    def _votes(self, group: Group, voices: Floats, score_weight: float) -> Floats:
        """For each candidate, the total number of steps that the perceptrons that choose it were right."""
        chosen = (voices + score_weight * np.array(group.scores)[:, None]).argmax(axis=0)
        return np.bincount(chosen, self._lives, minlength=len(group)).astype(np.float64)

    def _totals(
        self, groups: Sequence[Group], weights: Sequence[float], values: Sequence[Floats] | None = None
    ) -> Iterator[Floats]:
        if self.vote != "vote":
            yield from super()._totals(groups, weights, values)
            return
        for group, voices in zip(groups, self._voices(groups), strict=True):
            yield np.array([self._votes(group, voices, weight) for weight in weights])

    def to_state(self) -> dict[str, object]:
        """Return what every chooser returns, and what voting needs in addition."""
        state = super().to_state()
        if self.vote == "vote":
            state |= {"updates": self._updates, "lives": self._lives, "voters": rows_state(self._voters)}
        return state

    def _set_own_state(self, state: State) -> None:
        if self.vote != "vote":
            return
        self._voters = stored_candidates(state.part("voters"))
        self._updates, self._lives = state.array("updates", np.int64, 2), state.array("lives", np.float64)
        require(self._updates.shape == (len(self._lives) - 1, 2), "its updates do not fit")
        named = (self._updates >= 0) & (self._updates < len(self._voters))
        require(named.all(), "its updates name candidates that it does not have")


class Course:
    """The training of a perceptron on its groups: the last perceptron, and those of all steps before.

    Attributes
    ----------
    last
        Coefficients of the last perceptron.
    updates
        For each update its target and its rival.
    lives
        How many steps each perceptron was right; the first perceptron has no trees.
    """

    def __init__(self, data: TrainingSet, epochs: int, updates: Updates) -> None:
        self._data, self._takes_all = data, updates == "all"
        n_rivals = len(data.items) - len(data)
        self._step, self._n_steps = 0, epochs * (n_rivals if self._takes_all else len(data))
        self.last = np.zeros(len(data.items))
        self.updates: list[tuple[int, int]] = []
        self.lives = [0.0]

    def average(self) -> Floats:
        """Coefficients of the mean of the perceptrons after each step so far."""
        # An update counts in all the steps that follow.
        out = np.zeros(len(self._data.items))
        seen = np.cumsum(self.lives)
        for (target, rival), before in zip(self.updates, seen[:-1].tolist(), strict=True):
            share = (seen[-1] - before) / seen[-1] if seen[-1] else 1.0
            out[target] += share
            out[rival] -= share
        return out

    def epoch(self, model: GrowingSum, tell: Tell | None = None) -> int:
        """Pass over all groups once; return in how many of them a rival won."""
        start = self._data.start.tolist()
        mistakes = 0
        for block in self._data.blocks(model.block):
            model.open(start[block.start], start[block.stop])
            for group in block:
                mistakes += self._see(model, start[group], start[group + 1])
                if tell is not None and group % 64 == 63:
                    tell(self._step / self._n_steps)
        return mistakes

    def _see(self, model: GrowingSum, first: int, last: int) -> bool:
        """Compare the target of a group, its first item, with its rivals; return whether one has won."""
        values = model(first, last)
        rivals = range(first + 1, last) if self._takes_all else [first + 1 + int(values[1:].argmax())]
        n_before = len(self.updates)
        for rival in rivals:
            if values[rival - first] >= values[0]:
                self._update(model, first, rival)
                if rival + 1 < last and self._takes_all:
                    values = model(first, last)
            self.lives[-1] += 1
            self._step += 1
        return len(self.updates) > n_before

    def _update(self, model: GrowingSum, target: int, rival: int) -> None:
        for row, sign in ((target, 1.0), (rival, -1.0)):
            model.add(row, sign)
            self.last[row] += sign
        self.updates.append((target, rival))
        self.lives.append(0.0)
