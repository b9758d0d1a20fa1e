"""``VotedPerceptron``: choosing the best candidate of a group by the kernel perceptron of Collins and Duffy (2001)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from espalier.kernels.base import Kernel
from espalier.rerank.chooser import Chooser, Floats
from espalier.rerank.combination import combination
from espalier.rerank.training import Target, TrainingSet, intern_candidates
from espalier.structures.groups import Group


class VotedPerceptron(Chooser):
    """Learn to choose among candidates: where a rival wins, the target's tree is added and the rival's taken away.

    Parameters
    ----------
    kernel
        What trees have in common. With ``SubsetTree``, normalized or not, the model is compressed to one forest of
        weighted subtrees.
    epochs
        How often all groups are seen.
    sample
        Learn from so many candidates of each group, drawn at random; None takes all.
    target
        What is to win: ``"gold"``, the gold tree, added where it is no candidate; or ``"best"``, the candidate that is
        most like it.
    vote
        ``"average"``: all perceptrons on the way speak together, in one function. ``"last"``: only the last does.
        ``"vote"``: each chooses, and counts as often as it was right in a row; this keeps every update and is slower.
    score_weight
        What the parser's score weighs beside the kernel's value; ``"chosen"`` takes what is best on development data.
    random_state
        A seed for what is drawn.
    progress
        Called with the fraction done.

    Attributes
    ----------
    score_weight_
        The weight of the parser's score.
    n_mistakes_
        How many groups were decided wrongly in each epoch.

    Examples
    --------
    >>> from espalier.kernels import SubsetTree
    >>> right, wrong = "(S (NP (N cats)) (VP (V sleep)))", "(S (NP (N cats) (V sleep)))"
    >>> groups = [Group([wrong, right], gold=right)] * 5
    >>> VotedPerceptron(SubsetTree(0.5)).fit(groups).predict(groups)
    array([1, 1, 1, 1, 1])
    """

    def __init__(
        self,
        kernel: Kernel,
        *,
        epochs: int = 1,
        sample: int | None = 20,
        target: Target = "gold",
        vote: Literal["average", "last", "vote"] = "average",
        score_weight: float | Literal["chosen"] = "chosen",
        random_state: Any = None,
        progress: Callable[[float], object] | None = None,
    ) -> None:
        self.kernel = kernel
        self.epochs = epochs
        self.sample = sample
        self.target = target
        self.vote = vote
        self.score_weight = score_weight
        self.random_state = random_state
        self.progress = progress

    def decision_function(self, groups: Sequence[Group]) -> list[Floats]:
        """The value of every candidate, the parser's score included; or how many perceptrons vote for it."""
        if self.vote != "vote":
            return super().decision_function(groups)
        check_is_fitted(self, "score_weight_")
        return self._votes(list(groups))

    def _check(self) -> None:
        super()._check()
        self._check_integer("epochs", least=1)
        self._check_choice("vote", ("average", "last", "vote"))

    def _learn(self, data: TrainingSet, rng: np.random.Generator) -> None:
        forest, start = data.forest, data.start.tolist()
        model = combination(self.kernel, forest)
        average = combination(self.kernel, forest)
        updates: list[tuple[int, int]] = []
        lives = [0]  # how long each perceptron was right, the first being that of no tree
        self.n_mistakes_ = []
        n_steps, step = self.epochs * len(data), 0
        for _ in range(self.epochs):
            mistakes = 0
            for first, last in itertools.pairwise(start):
                values = model(forest, first, last)
                rival = first + 1 + int(values[1:].argmax())
                if values[rival - first] >= values[0]:
                    mistakes += 1
                    for row, sign in ((first, 1.0), (rival, -1.0)):
                        model.add(forest, row, sign)
                        # The average over all steps: an update counts for the rest of them.
                        average.add(forest, row, sign * (n_steps - step) / n_steps)
                    updates.append((first, rival))
                    lives.append(0)
                lives[-1] += 1
                step += 1
                if self.progress is not None and step % 64 == 0:
                    self.progress(step / n_steps)
            self.n_mistakes_.append(mistakes)
        self._forest = forest
        self._model = average if self.vote == "average" else model
        self._updates, self._lives = np.array(updates, np.int64).reshape(-1, 2), np.array(lives, np.float64)

    def _votes(self, groups: Sequence[Group]) -> list[Floats]:
        forest, start = intern_candidates(groups, self._forest.vocabulary)
        support, place = np.unique(self._updates, return_inverse=True)
        place = place.reshape(self._updates.shape)
        out: list[Floats] = []
        for group, first, last in zip(groups, start[:-1].tolist(), start[1:].tolist(), strict=True):
            values = np.zeros((last - first, len(self._lives)))
            if len(support):
                matrix = self.kernel(forest[first:last], self._forest[support])
                np.cumsum(matrix[:, place[:, 0]] - matrix[:, place[:, 1]], axis=1, out=values[:, 1:])
            values += self.score_weight_ * np.array(group.scores)[:, None]
            votes = np.bincount(values.argmax(axis=0), self._lives, minlength=last - first)
            out.append(votes.astype(np.float64))
        return out
