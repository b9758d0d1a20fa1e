"""``FeatureReranker``: choosing the best candidate of a group by weights of selected features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from espalier import _core
from espalier.errors import InputError, warn_user
from espalier.gp.sampling import generator
from espalier.gram.estimator import Learner
from espalier.jobs.schedule import Schedule
from espalier.rerank.chooser import SCORE_SHARES, Choosing, Floats, held_out_fifth, spread
from espalier.rerank.extracted import ExtractedGroups
from espalier.rerank.listed import Cost, ListedGroups
from espalier.rerank.quality import chosen_f1, quality
from espalier.rerank.score_weights import score_weights, summed_scores, total_scores
from espalier.rerank.training import Target, check_kind, check_learned_kind, check_readable, checked
from espalier.spaces.selected import SelectedFeatures
from espalier.storage import State, require
from espalier.structures.group import KINDS, Group
from espalier.structures.numbers import check_finite

Loss = Literal["risk", "softmax", "perceptron"]
Keep = Literal["chosen", "survivors", "weighted"]
_LOSSES = ("perceptron", "softmax", "risk")  # in the order of the core
_DEVELOPMENT_SHARE = 4  # one part in so many of the memory is for the features of development groups


class _Choice(NamedTuple):
    """What was best on development groups so far."""

    quality: float
    weights: NDArray[np.float32]
    score_weight: float
    epoch: int
    keep: str


@dataclass(eq=False, repr=False)
class FeatureReranker(Choosing, Learner):
    """Learn to choose among candidates by weights of selected features, beside the parser's score.

    Features are extracted once from a graph of all candidates of a group, so that what candidates share costs nothing.
    Weights move after each group, and are averaged over all steps.

    Parameters
    ----------
    features
        What a :class:`~espalier.selection.KernelSpaceSelector` has selected: its ``features_``, or the selector. One
        that is not fitted yet is copied and selects from the groups that are learned from.
    loss
        What a step reduces. ``"risk"``: the expected number of errors, if a candidate is chosen with a probability
        that grows with its score. ``"softmax"``: the negative logarithm of the probability of the right candidate.
        ``"perceptron"``: the lead of the best candidate over the right one, as in the paper; a tie with a candidate
        that costs something is a mistake, too.
    epochs
        How many passes over all groups to make at most; development groups choose after which to stop.
    step
        The size of a step, which is divided by the mean number of features that tell the candidates of a group apart.
    margin
        How much each error of a candidate adds to its score while learning, with ``"softmax"`` and ``"perceptron"``.
    decay
        A feature of order r counts ``decay ** (r - 1)``: there are very many large features, and each says little.
    l1, l2
        Penalties that all weights pay at each step, 0 for none.
    keep
        Which features to learn on: all ``"survivors"`` of the selection, the ``"weighted"`` ones whose weight was not 0
        at its end, or what is better on development groups, ``"chosen"``.
    learning_score_weight
        The weight of the parser's score while learning. Scores of another parser may have another unit: try some
        weights on development groups.
    score_weight
        The weight of the parser's score in what is chosen; ``"chosen"`` picks the best on development groups.
    cost
        What a wrong candidate costs: the number of its errors (``"errors"``), or 1 (``"zero-one"``).
    target
        What should win: ``"gold"``, the gold tree, added if it is not a candidate; or ``"best"``, the candidate that is
        most like it. A selector that is not fitted yet gets the same target.
    random_state, n_threads, memory, progress, verbose
        As for every learner: see :class:`~espalier.gram.estimator.Learner`. If the features of all groups exceed the
        memory, each epoch extracts them anew, a part of the groups at a time, with the same result.

    Attributes
    ----------
    features_
        The features that have a weight, with their weights.
    score_weight_, epoch_, keep_
        What was chosen on development groups; ``epoch_`` counts from 1.
    score_weights_
        If candidates have further scores, the weight of each beside the parser's, which has 1; see
        :func:`~espalier.rerank.score_weights`. ``score_weight_`` is the weight of their sum. It is empty if these
        weights make worse choices on development groups than the parser's score alone.
    kind_
        What the candidates were that it has learned from, such as ``"dependency trees"``; it chooses among no others.
    selector_
        If a selector was copied and interrupted: this copy, with what it has selected so far. It can be passed as
        ``features``.
    n_mistakes_
        In how many groups another candidate than the right one was best while learning, in each epoch.
    """

    features: Any
    _: KW_ONLY
    loss: Loss = "risk"
    epochs: int = 4
    step: float = 5.0
    margin: float = 1.0
    decay: float = 1.0
    l1: float = 0.0
    l2: float = 0.0
    keep: Keep = "survivors"
    learning_score_weight: float = 1.0
    score_weight: float | Literal["chosen"] = "chosen"
    cost: Cost = "errors"
    target: Target = "gold"
    random_state: object = 0

    def fit(self, groups: Sequence[Group], y: None = None, *, development: Sequence[Group] | None = None) -> Self:
        """Learn from groups with gold trees.

        Parameters
        ----------
        groups
            Each with a gold tree. A gold tree that is not a candidate is added, with the lowest score of its group;
            ``jackknifed(..., add_gold=True)`` adds it with its own score.
        y
            Not used.
        development
            Groups with gold trees on which to choose the epoch, the features and the weight of the parser's score. If
            None, a fifth of the groups is held out for this and not learned from, groups of the same words together;
            with fewer than five groups none is held out. The last epoch then counts, the survivors unless ``keep`` is
            ``"weighted"``, and the weight of the score while learning.

        Raises
        ------
        KeyboardInterrupt
            If learning is interrupted; any error of ``progress`` is passed on, too. The model then keeps the best so
            far, if it got through one epoch; before that, ``selector_``.
        """
        self._check()
        groups = checked(groups, "learned from", gold="to learn from")
        if development is None:
            held_out = held_out_fifth(groups, generator(self.random_state))
            development = [group for row, group in enumerate(groups) if row in held_out]
            groups = [group for row, group in enumerate(groups) if row not in held_out]
        elif not len(development := checked(development, "developed on", gold="to choose by")):
            raise InputError("There are no development groups to choose by. Pass None.")
        check_kind(development, "Groups to learn from hold", groups, "development group")
        check_learned_kind(getattr(self.features, "kind_", None), groups, "The selector")
        if (kernel := getattr(self.features, "kernel", None)) is not None:
            check_readable(kernel, groups)
        development = [group.as_proposed() for group in development]
        weights = _useful(score_weights([group.as_proposed() for group in groups]), development)
        groups, development = (summed_scores(own, weights) for own in (groups, development))
        features = self._selected(groups)
        keeps = [self.keep if self.keep != "chosen" else "survivors"]
        if self.keep == "chosen" and development and features.weights.any():
            keeps.append("weighted")
        with self._scheduled("learning to choose") as schedule:
            data = ListedGroups.of(groups, self.cost, self.target)
            self._score_weights = weights
            best: _Choice | None = None
            self._best: _Choice | None = None
            self._kind = groups[0].kind if groups else None
            self.n_mistakes_: list[int] = []
            try:
                for k, keep in enumerate(keeps):
                    own = features.weighted() if keep == "weighted" else features
                    best = self._learned(own, data, development, best, keep, schedule.part(k, len(keeps)))
            finally:
                if self._best is not None:
                    self._set(self._best, data)
            schedule.done()
        if not len(self.features_):
            warn_user(
                "No feature has a weight: the right candidate was always the best, or all candidates of a group have "
                "the same features. Only the parser's score chooses."
            )
        return self

    def __sklearn_clone__(self) -> Self:
        # A copy of a fitted selector would not be fitted.
        return type(self)(
            **{
                name: value if name == "features" else clone(value, safe=False)
                for name, value in self.get_params(deep=False).items()
            }
        )

    def decision_function(self, groups: Sequence[Group]) -> list[Floats]:
        """The value of every candidate, the parser's score included; the largest is chosen."""
        groups = checked(groups, "chosen among")
        values = self.feature_values(groups)
        totals = total_scores(groups, self.score_weights_)
        return [own + self.score_weight_ * total for own, total in zip(values, totals, strict=True)]

    def feature_values(self, groups: Sequence[Group]) -> list[Floats]:
        """The value of every candidate without the parser's score, up to a constant of its group."""
        check_is_fitted(self, "features_")
        groups = checked(groups, "chosen among")
        check_learned_kind(self.kind_, groups)
        check_readable(self.features_.kernel, groups)
        listed = ListedGroups.to_choose(groups)
        if not len(listed.bounds[1:]):
            return []
        with self._scheduled("choosing") as schedule:
            found = ExtractedGroups(self.features_, listed, self.decay, schedule)
            values = found.scores(self._weights, schedule)
        return np.split(values, listed.bounds[1:-1])

    def to_state(self) -> dict[str, object]:
        """Return the settings, the features with their weights, and what was chosen."""
        check_is_fitted(self, "features_")
        state = self._declared_state()
        settings: Any = state["settings"]
        return {
            **state,
            "settings": {name: value for name, value in settings.items() if name != "features"},
            "features": self.features_,
            "weight": self.score_weight_,
            "weights": {name: float(weight) for name, weight in self.score_weights_.items()},
            "epoch": self.epoch_,
            "keep": self.keep_,
            **({} if self.kind_ is None else {"kind": self.kind_}),
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the learner that a file holds; it chooses as before."""
        features = state.object("features", SelectedFeatures)
        made = cls._of_declared(state, features=features)
        made._check()
        require(features.weights.shape[1] == 1, "a feature needs one weight")
        require((np.abs(features.weights) <= np.finfo(np.float32).max).all(), "a weight is too large")
        made.features_ = features
        made._weights = features.weights[:, 0].astype(np.float32)
        made.score_weight_ = state.number("weight")
        weights = state.part("weights")
        made.score_weights_ = {name: weights.number(name) for name in weights.names()}
        made.kind_ = state.text("kind", *KINDS) if "kind" in state else None
        made.epoch_, made.keep_ = state.whole("epoch", 1), state.text("keep", "survivors", "weighted")
        return made

    def _selected(self, groups: Sequence[Group]) -> SelectedFeatures:
        """The features that were given, or those that a copy of the selector selects."""
        if hasattr(self.features, "fit") and not hasattr(self.features, "features_"):
            self.selector_ = clone(self.features).set_params(target=self.target)
            found: SelectedFeatures = self.selector_.fit(groups).features_
            del self.selector_  # it holds all features that were selected
            return found
        if hasattr(self, "selector_"):
            del self.selector_  # of an earlier fit that was interrupted
        chosen: SelectedFeatures = getattr(self.features, "features_", self.features)
        return chosen

    def _check(self) -> None:
        selected = getattr(self.features, "features_", self.features)
        if not isinstance(selected, SelectedFeatures) and not hasattr(self.features, "get_feature_names_out"):
            raise TypeError(
                "features must be what a KernelSpaceSelector has selected, its features_, or a selector, got "
                f"{self.features!r:.100}."
            )
        self._check_choice("loss", *_LOSSES)
        self._check_choice("keep", "chosen", "survivors", "weighted")
        self._check_choice("cost", "errors", "zero-one")
        self._check_choice("target", "gold", "best")
        self._check_whole("epochs")
        self._check_positive("step", "decay")
        self._check_positive("margin", "l1", "l2", zero=True)
        check_finite("score_weight", self.score_weight, words=("chosen",))
        check_finite("learning_score_weight", self.learning_score_weight)

    def _learned(
        self,
        features: SelectedFeatures,
        data: ListedGroups,
        development: Sequence[Group],
        best: _Choice | None,
        keep: str,
        schedule: Schedule,
    ) -> _Choice | None:
        """Learn on some features; return the better of what was best before and what is now."""
        if not len(features):
            what = "has a weight, and keep is 'weighted'. Use another keep" if keep == "weighted" else "was selected"
            raise InputError(f"There are no features to learn on: none {what}. Select with a smaller C.")
        listed = ListedGroups.to_choose(development)
        measured = [quality(group) for group in development]
        theirs, memory = None, schedule.memory
        if len(development):
            share = replace(schedule.between(0.0, 0.1), memory=memory // _DEVELOPMENT_SHARE)
            theirs = ExtractedGroups(features, listed, self.decay, share)
            memory -= theirs.n_bytes
        found = ExtractedGroups(features, data, self.decay, replace(schedule.between(0.1, 0.5), memory=memory))
        margin = 0.0 if self.loss == "risk" else self.margin  # a risk counts errors without a margin
        step = float(self.step) * len(found) / max(found.n_features, len(found))
        if step * self.l2 >= 1:
            raise ValueError(f"l2 must be less than {1 / step:.3g} here, got {self.l2!r}: a step would overshoot 0.")
        learner = _core.RankingLearner(len(features), _LOSSES.index(self.loss), margin, step, self.l1, self.l2)
        rng = generator(self.random_state)
        base = float(self.learning_score_weight) * data.scores
        for epoch in range(1, self.epochs + 1):
            order = rng.permutation(len(found))
            part = schedule.between(0.5 + 0.5 * (epoch - 1) / self.epochs, 0.5 + 0.5 * epoch / self.epochs)
            schedule.say(f"epoch {epoch} of {self.epochs}")
            self.n_mistakes_.append(found.run_pass(learner, order, base, part))
            weights = learner.averaged()
            given = self.learning_score_weight if self.score_weight == "chosen" else self.score_weight
            reached, score_weight = 0.0, float(given)
            if theirs is not None:
                values = theirs.scores(weights, schedule.of_job())
                reached, score_weight = self._best_weight(values, listed, measured)
            if best is None or theirs is None or reached > best.quality:
                best = _Choice(reached, weights, score_weight, epoch, keep)
                self._best, self._chosen_features = best, features
            part.done()
        return best

    def _best_weight(
        self, values: Floats, listed: ListedGroups, measured: Sequence[NDArray[np.int64]]
    ) -> tuple[float, float]:
        """How good the choices on development groups are, and the weight of the parser's score with which they are."""
        if self.score_weight != "chosen":
            weights = [float(self.score_weight)]
        else:
            parts = [np.split(own, listed.bounds[1:-1]) for own in (values, listed.scores)]
            unit = spread(parts[0]) / (spread(parts[1]) or 1.0)
            weights = [share * unit for share in SCORE_SHARES] if unit > 0 else [1.0]
        reached = []
        for weight in weights:
            chosen = best_of(values + weight * listed.scores, listed.bounds)
            reached.append(chosen_f1(measured, chosen.tolist()))
        k = int(np.argmax(reached))
        return reached[k], weights[k]

    def _set(self, best: _Choice, data: ListedGroups) -> None:
        """Keep what was best: the features with a weight, and their weights."""
        kept = np.flatnonzero(best.weights)
        weights = best.weights[kept]
        features = self._chosen_features.chosen(kept).compacted()
        self.features_ = features.with_weights(weights[:, None].astype(np.float64), ("choice",))
        self._weights = weights
        self.score_weight_, self.epoch_, self.keep_ = best.score_weight, best.epoch, best.keep
        self.score_weights_, self.kind_ = self._score_weights, self._kind
        sizes = {"n_groups": len(data.bounds) - 1, "n_candidates": len(data.inputs)}
        self._trained_on = {**sizes, "features": len(kept)}
        del self._best, self._chosen_features, self._score_weights, self._kind


def _useful(weights: dict[str, float], development: Sequence[Group]) -> dict[str, float]:
    """The weights of further scores, or none if development groups are better off without them."""
    if not weights or not development:
        return weights
    measured = [quality(group) for group in development]
    with_them, without = (
        chosen_f1(measured, [group.best for group in own]) for own in (summed_scores(development, weights), development)
    )
    return weights if with_them >= without else {}


def best_of(values: Floats, bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of the largest value of each group; the first of equals."""
    largest = np.maximum.reduceat(values, bounds[:-1])
    sizes = np.diff(bounds)
    is_best = np.flatnonzero(values == np.repeat(largest, sizes))
    group = np.repeat(np.arange(len(sizes)), sizes)[is_best]
    _, earliest = np.unique(group, return_index=True)
    found: NDArray[np.int64] = is_best[earliest] - bounds[:-1]
    return found
