"""What learners that choose among candidates share: settings, the parser's scores, predictions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from espalier.corpus.rows import rows_of, rows_state
from espalier.errors import InputError, warn_user
from espalier.gp.sampling import generator
from espalier.gram.estimator import KernelEstimator
from espalier.gram.forms import DualForm
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel
from espalier.rerank.combination import Combination
from espalier.rerank.quality import chosen_f1, quality
from espalier.rerank.training import Target, TrainingSet, check_kind, check_readable, checked, runs
from espalier.storage import State, require
from espalier.structures.group import Candidate, Group, as_candidate, rows_by_sentence
from espalier.structures.numbers import as_float, shown

Floats = NDArray[np.float64]

# Weights of the parser's scores to choose from, relative to the spread of the kernel's values inside groups.
SCORE_SHARES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)

LARGE = 1e100  # squares of larger values may overflow
N_LOOKED_AT = 100  # groups in which to check that the kernel distinguishes candidates
# Numbers of a fit that a file holds.
_FITTED = ("n_mistakes_", "n_passes_", "gap_", "n_groups_", "n_candidates_", "log_marginal_likelihood_")
N_CANDIDATES = 4096  # how many candidates' values are computed at once


class Fitted(NamedTuple):
    """What was learned: a coefficient for each item, the kernel, the parser's score's weight if that is learned too.

    If something interrupted learning, ``stop`` holds it.
    """

    coefficients: Floats
    stop: BaseException | None
    kernel: Kernel
    score_weight: float | None = None


class Choosing:
    """What follows from the value of every candidate: choices, and how good they are."""

    def decision_function(self, groups: Sequence[Group]) -> list[Floats]:
        """The value of every candidate, the parser's score included; the largest is chosen."""
        raise NotImplementedError

    def chosen(self, groups: Sequence[Group]) -> NDArray[np.int64]:
        """Return the number of the candidate that is chosen in each group; the first of equals."""
        return np.array([int(values.argmax()) for values in self.decision_function(groups)], np.int64)

    def predict(self, groups: Sequence[Group]) -> list[Candidate]:
        """Return the candidate that is chosen in each group."""
        groups = checked(groups, "chosen among")
        return [group.candidates[k] for group, k in zip(groups, self.chosen(groups).tolist(), strict=True)]

    def score(self, groups: Sequence[Group], y: None = None) -> float:
        """Labelled F1 of the chosen trees, in percent; for tags and heads, how many are right."""
        groups = checked(groups, "measured", gold="to measure by")
        if not groups:
            raise InputError("There are no groups to measure.")
        return 100.0 * chosen_f1([quality(group) for group in groups], self.chosen(groups).tolist())


@dataclass(eq=False, repr=False)
class Chooser(Choosing, KernelEstimator):
    """Learns a function of candidates from groups, which is added to the parser's score.

    Parameters
    ----------
    kernel
        The kernel of candidates. With ``SubsetTree``, normalized or not, the function is compressed to one forest of
        weighted subtrees.
    sample
        Learn from at most this many candidates of each group, drawn at random; None takes all.
    target
        What should win: ``"gold"``, the gold tree, added if it is not a candidate; or ``"best"``, the candidate that is
        most like it. A dependency tree is found among candidates by its heads, whatever the relations are.
    score_weight
        The weight of the parser's score beside the kernel's value; ``"chosen"`` picks the best on development data.
    random_state, n_threads, memory, progress, verbose
        As for every learner: see :class:`~espalier.gram.estimator.Learner`. If the function is not compressed, threads
        and memory are those of the kernel's matrices.

    Attributes
    ----------
    support_, coefficients_, kernel_
        The function: a sum of kernels of these items with these coefficients.
    score_weight_
        The weight of the parser's score.
    n_candidates_
        How many candidates it learned from, targets included.
    """

    kernel: Kernel
    _: KW_ONLY
    sample: int | None = 20
    target: Target = "gold"
    score_weight: float | Literal["chosen", "learned"] = "chosen"
    random_state: object = 0

    _weight_words: ClassVar[tuple[str, ...]] = ("chosen",)  # what score_weight may be, if it is no number

    def fit(self, groups: Sequence[Group], y: None = None, *, development: Sequence[Group] | None = None) -> Self:
        """Learn from groups with gold trees.

        Parameters
        ----------
        groups
            Each with a gold tree.
        y
            Not used.
        development
            Groups with gold trees on which to choose the weight of the parser's score; not used if ``score_weight`` is
            not ``"chosen"``. Groups whose candidates are all equally good, or that have only one, decide nothing; if
            all groups are such, the weight is 0. If None, a fifth of the groups is held out for the choice and not
            learned from, groups of the same words together; with fewer than five groups none is held out, and the
            weight is 0.

        Raises
        ------
        KeyboardInterrupt
            If learning is interrupted; any error of ``progress`` is passed on, too. The model then keeps what was
            learned so far.
        """
        self._check()
        groups = checked(groups, "learned from", gold="to learn from")
        check_readable(self._checked_kernel(), groups)
        rng = generator(self.random_state)
        chooses = self.score_weight == "chosen"
        needed = "to choose the weight of scores by"
        if development is not None:
            development = checked(development, "developed on", gold=needed if chooses else None)
            if chooses and not development:
                raise InputError(f"There are no development groups {needed}. Pass None.")
            if chooses:
                check_kind(development, "Groups to learn from hold", groups, "development group")
        elif chooses:
            held_out = held_out_fifth(groups, rng)
            development = [group for row, group in enumerate(groups) if row in held_out]
            groups = [group for row, group in enumerate(groups) if row not in held_out]
        if development is not None:
            development = [group.as_proposed() for group in development]
        data = TrainingSet.of(groups, self.target, self.sample, rng)
        self.n_candidates_ = len(data.items)
        with self._scheduled(f"fitting {type(self).__name__}") as schedule:
            found = self._learn(data, rng, schedule)
            self.kernel_ = found.kernel
            self._warn_if_blind(data)
            kept = np.flatnonzero(found.coefficients)
            self._set_support([data.items[row] for row in kept.tolist()], found.coefficients[kept])
            given = self.score_weight if found.score_weight is None else found.score_weight
            self.score_weight_ = 0.0 if chooses else float(given)
            if chooses and development:
                self.score_weight_ = self._chosen_weight(development)
            if found.stop is not None:
                raise found.stop
            schedule.done()
        return self

    def decision_function(self, groups: Sequence[Group]) -> list[Floats]:
        """The value of every candidate, the parser's score included; the largest is chosen."""
        groups = self._checked(groups)
        return [own[0] for own in self._totals(groups, [self.score_weight_])]

    def kernel_values(self, groups: Sequence[Group]) -> list[Floats]:
        """The value of every candidate without the parser's score."""
        return self._values(self._checked(groups))

    def dual_form(self) -> DualForm:
        """Return the coefficients of the training items; the parser's score is not included."""
        check_is_fitted(self, "coefficients_")
        sums = self._combination
        return DualForm(sums.kernel, sums.inputs, self.coefficients_[None, :], np.zeros(1), ("choice",))

    def _warn_if_blind(self, data: TrainingSet) -> None:
        """Warn if the kernel does not distinguish any target from its rivals; this checks the first groups."""
        for first, last in itertools.pairwise(data.start[: N_LOOKED_AT + 1].tolist()):
            matrix = self.kernel_(data.items[first:last], n_threads=1)
            own = matrix.diagonal()
            if np.any(own[0] + own[1:] - 2.0 * matrix[0, 1:] > 1e-12 * (own[0] + own[1:])):
                return
        warn_user(
            f"To {self.kernel_!r} the candidates of a group are all alike: only the parser's score can decide. "
            "Use a kernel that distinguishes them."
        )

    def _checked(self, groups: Sequence[Group]) -> list[Group]:
        """Groups to choose in, of the kind that was learned from."""
        check_is_fitted(self, "score_weight_")
        groups = checked(groups, "chosen among")
        check_kind(groups, "It has learned from", [Group([item]) for item in self.support_[:1]])
        return groups

    def _learn(self, data: TrainingSet, rng: np.random.Generator, schedule: Schedule) -> Fitted:
        """Learn the function of candidates."""
        raise NotImplementedError

    def to_state(self) -> dict[str, object]:
        """Return the settings, the function that was learned, and the numbers of the fit."""
        check_is_fitted(self, "coefficients_")
        return {
            **self._declared_state(),
            "weight": self.score_weight_,
            "fitted": {name: getattr(self, name) for name in _FITTED if hasattr(self, name)},
            "support": rows_state(self.support_),
            "coefficients": self.coefficients_,
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the learner that a file holds; it chooses as before."""
        chooser: Self = cls._of_declared(state)
        chooser._check()
        chooser.kernel_ = chooser.kernel
        support, coefficients = stored_candidates(state.part("support")), state.array("coefficients", np.float64)
        require(len(coefficients) == len(support), "every candidate needs one coefficient")
        require(np.isfinite(coefficients).all(), "a weight is not a number")
        chooser._set_own_state(state)
        chooser._set_support(support, coefficients)
        chooser.score_weight_ = state.number("weight")
        fitted: dict[str, Any] = state.part("fitted").values()
        for name, value in fitted.items():
            sound = name in _FITTED and all(type(own) in (int, float) for own in np.ravel(value).tolist())
            require(sound, f"its {name} is not a number")
            setattr(chooser, name, list(value) if isinstance(value, tuple) else value)
        return chooser

    def trained_on(self) -> dict[str, object]:
        """How many groups and candidates it was fitted on, and what they were."""
        known = {name[:-1]: getattr(self, name) for name in ("n_groups_", "n_candidates_") if hasattr(self, name)}
        return known | ({"items": type(self.support_[0]).__name__} if self.support_ else {})

    def _set_own_state(self, state: State) -> None:
        """Restore what a subclass adds to the state; called before support and coefficients are set."""

    def _set_support(self, items: list[object], coefficients: Floats) -> None:
        """Keep what was learned: items and their coefficients."""
        self.support_, self.coefficients_ = items, coefficients
        self._combination = Combination(self.kernel_, items, coefficients)

    def _check(self) -> None:
        self._check_whole("sample", none=True)
        self._check_choice("target", "gold", "best")
        self._checked_kernel()
        weight, words = self.score_weight, self._weight_words
        is_number = isinstance(weight, Real) and not isinstance(weight, bool) and np.isfinite(as_float(weight))
        if not is_number and not (isinstance(weight, str) and weight in words):
            raise ValueError(
                f"score_weight must be {', '.join(map(repr, words))} or a finite number, got {shown(weight)}."
            )

    def _values(self, groups: Sequence[Group]) -> list[Floats]:
        """The kernel's part of the value of every candidate."""
        out: list[Floats] = []
        for run in runs(groups, N_CANDIDATES):
            listed = [candidate for group in run for candidate in group.candidates]
            values = self._combination(listed, n_threads=self.n_threads, memory=self.memory)
            out += np.split(values, np.cumsum([len(group) for group in run])[:-1])
        return out

    def _chosen_weight(self, groups: Sequence[Group]) -> float:
        """The weight of the scores that gets most constituents right; 1 if the kernel decides nothing.

        Groups whose candidates are all equally good leave nothing to choose: if all groups are such, the weight is 0.
        """
        groups = [group for group in groups if len(group) > 1]
        counts = [quality(group) for group in groups]
        if not any((own != own[:, :1]).any() for own in counts):
            warn_user(
                "Every development group has only one candidate or candidates that are all equally good, so no weight "
                "of the parser's score can be chosen, and the weight is 0. Pass development groups whose candidates "
                "differ in quality, or a number as score_weight."
            )
            return 0.0
        values, scores = self._values(groups), [np.array(group.scores) for group in groups]
        if spread(values) <= 1e-12 * max(float(np.abs(own).max()) for own in values):
            return 1.0
        unit = spread(values) / (spread(scores) or 1.0)
        weights = [share * unit for share in SCORE_SHARES]
        chosen = np.array([own.argmax(axis=1) for own in self._totals(groups, weights, values)])
        reached = [chosen_f1(counts, own) for own in chosen.T.tolist()]
        return float(weights[int(np.argmax(reached))])

    def _totals(
        self, groups: Sequence[Group], weights: Sequence[float], values: Sequence[Floats] | None = None
    ) -> Iterator[Floats]:
        """For each group, the value of every candidate with each weight of the scores, beside the kernel's values."""
        for group, own in zip(groups, self._values(groups) if values is None else values, strict=True):
            yield own + np.outer(np.array(weights), np.array(group.scores))


def stored_candidates(state: State) -> list[object]:
    """The candidates that a file lists."""
    rows: Any = rows_of(state)
    return [as_candidate(item) for item in rows]


def held_out_fifth(groups: Sequence[Group], rng: np.random.Generator) -> set[int]:
    """The rows of about a fifth of the groups; groups of one sentence stay together, so that none is already known."""
    sentences = rows_by_sentence(group.words for group in groups)
    kept: set[int] = set()
    for sentence in rng.permutation(len(sentences)).tolist():
        if len(kept) + len(sentences[sentence]) <= len(groups) // 5:
            kept.update(sentences[sentence])
    return kept


def spread(values: Sequence[Floats]) -> float:
    """How far apart the values of a group are, on average."""
    if not values:
        return 0.0
    largest = max(float(np.abs(own).max()) for own in values)
    unit = largest if largest > LARGE else 1.0
    return unit * float(np.mean([(own / unit).std() for own in values]))
