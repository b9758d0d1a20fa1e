"""``VotedPerceptron``: choosing the best candidate of a group by the kernel perceptron of Collins and Duffy (2001)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from espalier.kernels.base import Kernel
from espalier.rerank.combination import Combination, combination
from espalier.rerank.training import Target, TrainingSet, intern_candidates, quality
from espalier.structures.groups import Group

Floats = NDArray[np.float64]

# How much the parser's scores may weigh, where the spread of the kernel's values inside groups weighs 1.
SCORE_SHARES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


class VotedPerceptron(BaseEstimator):  # type: ignore[misc]
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

    def fit(self, groups: Sequence[Group], y: None = None, *, development: Sequence[Group] | None = None) -> Self:
        """Learn from groups with gold trees.

        Parameters
        ----------
        groups
            Each with a gold tree.
        y
            Not used.
        development
            Groups with gold trees on which the weight of the parser's score is chosen. Where None, and it is to be
            chosen, a fifth of the groups is kept for that and not learned from.
        """
        self._check()
        groups = list(groups)
        rng = np.random.default_rng(self.random_state)
        chooses = self.score_weight == "chosen"
        if chooses and development is None:
            order = rng.permutation(len(groups))
            kept, learned = np.sort(order[: len(groups) // 5]), np.sort(order[len(groups) // 5 :])
            development, groups = [groups[row] for row in kept], [groups[row] for row in learned]
        self._learn(TrainingSet.of(groups, self.target, self.sample, rng))
        self.score_weight_ = 0.0 if chooses else float(self.score_weight)
        if chooses and development:
            self.score_weight_ = self._chosen_weight(development)
        return self

    def decision_function(self, groups: Sequence[Group]) -> list[Floats]:
        """The value of every candidate, the parser's score included; or how many perceptrons vote for it."""
        check_is_fitted(self, "score_weight_")
        groups = list(groups)
        if self.vote == "vote":
            return self._votes(groups)
        scores = [self.score_weight_ * np.array(group.scores) for group in groups]
        return [own + score for own, score in zip(self._values(groups), scores, strict=True)]

    def predict(self, groups: Sequence[Group]) -> NDArray[np.int64]:
        """The number of the candidate that is chosen in each group; the first of equals."""
        return np.array([int(values.argmax()) for values in self.decision_function(groups)], np.int64)

    def _check(self) -> None:
        if isinstance(self.epochs, bool) or not isinstance(self.epochs, int) or self.epochs < 1:
            raise ValueError(f"epochs must be a positive integer, got {self.epochs!r}.")
        if self.sample is not None and (not isinstance(self.sample, int) or self.sample < 1):
            raise ValueError(f"sample must be a positive integer or None, got {self.sample!r}.")
        for name, allowed in (("target", ("gold", "best")), ("vote", ("average", "last", "vote"))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}.")

    def _learn(self, data: TrainingSet) -> None:
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
        self._model: Combination = average if self.vote == "average" else model
        self._updates, self._lives = np.array(updates, np.int64).reshape(-1, 2), np.array(lives, np.float64)

    def _values(self, groups: Sequence[Group]) -> list[Floats]:
        """The kernel's part of the value of every candidate."""
        forest, start = intern_candidates(groups, self._forest.vocabulary)
        pairs = zip(start[:-1].tolist(), start[1:].tolist(), strict=True)
        return [self._model(forest, first, last) for first, last in pairs]

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

    def _chosen_weight(self, groups: Sequence[Group]) -> float:
        """The weight of the scores with which most constituents are right."""
        values, scores = self._values(groups), [np.array(group.scores) for group in groups]
        counts = [quality(group) for group in groups]
        unit = _spread(values) / (_spread(scores) or 1.0) or 1.0
        best, found = -1.0, 0.0
        for share in SCORE_SHARES:
            chosen = [int((v + share * unit * s).argmax()) for v, s in zip(values, scores, strict=True)]
            matched, gold, parsed = np.sum([c[:, k] for c, k in zip(counts, chosen, strict=True)], axis=0)
            f1 = 2.0 * matched / max(gold + parsed, 1)
            if f1 > best:
                best, found = f1, share * unit
        return float(found)


def _spread(values: Sequence[Floats]) -> float:
    """How far values of one group are apart, on average."""
    return float(np.mean([own.std() for own in values])) if values else 0.0
