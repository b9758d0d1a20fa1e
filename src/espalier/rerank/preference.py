"""``GPPreference``: choosing by a Gaussian process of utilities, with a learned kernel and probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from espalier.blas import blas_threads
from espalier.errors import InputError, warn_user
from espalier.gp.advice import warn_of_learning
from espalier.gp.inference.laplace import LaplacePosterior
from espalier.gp.latent import LatentObjective
from espalier.gp.learning import learn, settings_of
from espalier.gp.likelihoods.bernoulli import Bernoulli
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.rerank.choice import check_covariances, largest, pairwise
from espalier.rerank.chooser import Chooser, Fitted, Floats
from espalier.rerank.pairs import SCORE, Pairs, PairScores
from espalier.rerank.training import TrainingSet, checked, runs
from espalier.storage import State, require
from espalier.structures.group import Group

MAX_ITERATIONS, TOLERANCE = 100, 1e-4
MANY = 5_000  # candidates from which on matrices take minutes and gigabytes
_RUN = 1024  # candidates whose covariances are computed at once


@dataclass(eq=False, repr=False)
class GPPreference(Chooser):
    r"""Learn which candidates are preferred, the kernel included, and predict the probability of each choice.

    Every candidate has a utility, a Gaussian process over the space of the kernel. In each group the target is
    preferred to each rival, with probability :math:`\Phi(f_{target} - f_{rival})` (Chu and Ghahramani, 2005; the
    reranking likelihood that Beck et al., 2015, call for). The noise in the difference of two utilities always has
    variance 1, which sets the unit of utilities, so give the kernel a scale to be learned, ``1.0 * kernel``. The
    posterior is approximated by Laplace's method. Every hyperparameter of the kernel is learned by the exact gradient
    of the resulting evidence.

    Parameters
    ----------
    kernel
        The kernel of candidates. Learning starts from its numbers; ``fixed(...)`` keeps one as it is.
    sample
        As for every :class:`Chooser`. A few candidates from many groups teach more than many from a few.
    max_candidates
        Learn from groups, drawn at random, that have at most this many candidates together, targets included; None
        takes all groups. With more than 5,000 candidates a warning states the cost.
    score_weight
        The weight of the parser's score beside the kernel's value. ``"learned"``: the score is one more feature, whose
        weight has a normal prior with a variance that is learned by the evidence. A number: the weight is known.
        ``"chosen"``: the kernel's part is learned without the score, and the weight is the best on development data.
    restarts
        How many random starts follow the declared one, drawn from the priors, or log-uniformly between the bounds.
    max_iterations, tolerance
        When a climb ends: after this many steps (100 if None), or when the gradient for each pair is below the
        tolerance (1e-4 if None).
    learn
        False keeps all hyperparameters as they are.
    target, random_state, n_threads, memory, progress, verbose
        As for every :class:`Chooser`.

    Attributes
    ----------
    kernel_
        With the learned values.
    score_weight_
        The weight of the parser's score; if it was learned, its posterior mean.
    learned_
        A readable table of all learned hyperparameters.
    log_marginal_likelihood_
        The log evidence of the preferences, by Laplace's approximation.
    n_groups_, n_candidates_
        How many groups were learned from, with how many candidates.
    restarts_
        One record for each climb: start, values, how it ended.

    Notes
    -----
    Each of about twenty evaluations takes time O(n^3) and memory O(n^2) in the number of candidates, however many
    hyperparameters there are; one or two thousand candidates are enough to learn a kernel. The pairs of one group are
    treated as independent given the utilities, though all share their target.

    Probabilities are cautious: every candidate keeps its noise, so no candidate of a hundred is very probable. They
    have the order of ``decision_function``, so that the most probable candidate is the one that ``predict`` chooses.

    Laplace's approximation makes them more cautious still, the more so the larger the kernel's scale is. It takes the
    width of the posterior from its peak, and pulls probabilities towards one half if the posterior is certain.
    After one preference between two candidates whose difference has a prior variance of 100, it gives .725 to the same
    preference, and the exact posterior .955; with a variance of 1e5 it gives .524, and the exact posterior .999. Use
    probabilities to order candidates; do not read them as calibrated.

    A gold tree that is not a candidate has no score. The parser ranked all candidates above it, so it gets the lowest
    score among its rivals. Treating its score as unknown would be wrong: gold trees that have a score have a good one,
    and that alone would make the score look twice as good as it is.

    Examples
    --------
    >>> from espalier.kernels import SubsetTree
    >>> right, wrong = "(S (NP (N cats)) (VP (V sleep)))", "(S (NP (N cats) (V sleep)))"
    >>> groups = [Group([wrong, right], gold=right)] * 5
    >>> model = GPPreference(1.0 * SubsetTree(0.5), learn=False).fit(groups)
    >>> model.chosen(groups)
    array([1, 1, 1, 1, 1])
    >>> model.predict_proba(groups[:1])[0].round(2)
    array([0.1, 0.9])
    """

    _posterior: tuple[Inputs, LaplacePosterior] | None = field(default=None, init=False)

    _: KW_ONLY
    sample: int | None = 2
    max_candidates: int | None = 2000
    score_weight: float | Literal["chosen", "learned"] = "learned"
    restarts: int = 0
    max_iterations: int | None = None
    tolerance: float | None = None
    learn: bool = True

    _weight_words: ClassVar[tuple[str, ...]] = ("learned", "chosen")

    def predict_proba(self, groups: Sequence[Group]) -> list[Floats]:
        """The probability that each candidate is the preferred one of its group; in each group they sum to 1.

        The utilities of a group have a joint normal posterior, and noise is added to each. For two candidates this
        is the probability that one is larger. For more, all are given the same variance, that of the mean difference:
        see :func:`~espalier.rerank.choice.largest`. The notes say how cautious these probabilities are.

        Raises
        ------
        KernelOverflowError
            If kernel values are so large that covariances are not finite; above 1e150 ``fit`` raises it. If they
            are smaller, but rounding still destroys the covariances, one warning says in how many groups.
        """
        return [largest(mean, covariance) for mean, covariance in self._utilities(groups)]

    def pairwise_proba(self, groups: Sequence[Group]) -> list[Floats]:
        """The probability that the candidate of each row is preferred to that of each column, for each group."""
        return [pairwise(mean, covariance) for mean, covariance in self._utilities(groups)]

    def _learn(self, data: TrainingSet, rng: np.random.Generator, schedule: Schedule) -> Fitted:
        rows, start = self._drawn(data, rng)
        pairs = Pairs(start)
        # A weight that is chosen later is not part of the objective.
        weight = None if self.score_weight == "learned" else 0.0
        if not isinstance(self.score_weight, str):
            weight = float(self.score_weight)
        self._pairs, self._scores = pairs, PairScores.of(data.scores[rows], pairs, weight)
        self.n_groups_, self.n_candidates_, self._posterior = len(start) - 1, len(rows), None
        objective = self._objective(self.kernel, Inputs.of([data.items[row] for row in rows.tolist()]))
        settings = replace(settings_of(self, MAX_ITERATIONS, TOLERANCE), progress=schedule.report)
        found = learn(objective, settings, rng)
        with blas_threads(self.n_threads):
            posterior = objective.posterior(found.best.values)
        self.restarts_, self.learned_ = found.restarts, found.learned
        self.log_marginal_likelihood_ = found.best.log_likelihood
        self._score_variance = self._variance_of_scores(found.best.values)
        dual = _positive(posterior.given.dual)
        learned_weight = self._scores.weight_given(dual, self._score_variance) if weight is None else None
        coefficients = np.zeros(len(data.items))
        coefficients[rows] = pairs.back(dual)
        if found.stop is None:
            warn_of_learning(found)
        return Fitted(coefficients, found.stop, posterior.kernel, learned_weight)

    def _objective(self, kernel: Kernel, inputs: Inputs) -> LatentObjective[Floats | float]:
        """The evidence of the preferences: the difference of utilities in each pair was observed to be positive."""
        plan = kernel.plan(inputs, n_threads=self.n_threads, memory=self.memory)
        return LatentObjective(
            plan.bind(kernel),
            plan,
            Bernoulli(),
            1.0,
            len(self._pairs),
            observed=self._pairs,
            term=self._scores.term,
            offset=self._scores.offset,
            variance_unit="variance of utilities",
        )

    def _evidence(self) -> LatentObjective[Floats | float]:
        """The approximate evidence of the preferences that it learned from, at any hyperparameters."""
        check_is_fitted(self, "coefficients_")
        objective = self._objective(self.kernel_, Inputs.of(self.support_))
        objective.near = -self.coefficients_[self._pairs.rival]
        return objective

    def _at(self, evidence: LatentObjective[Floats | float], values: Mapping[str, float]) -> Self:
        """A copy that is conditioned on the preferences at other hyperparameters."""
        other, posterior = copy(self), evidence.posterior(values)
        dual = _positive(posterior.given.dual)
        other.kernel_, other._score_variance = posterior.kernel, self._variance_of_scores(values)
        if self._scores.term is not None:
            other.score_weight_ = self._scores.weight_given(dual, other._score_variance)
        other._set_support(self.support_, self._pairs.back(dual))
        other._posterior = Inputs.of(self.support_), posterior.given
        return other

    def _variance_of_scores(self, values: Mapping[str, float]) -> float:
        term = self._scores.term
        return 0.0 if term is None else term.variance(values)

    def _drawn(self, data: TrainingSet, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of the groups that are learned from, and where each of these starts."""
        sizes = np.diff(data.start)
        groups = np.arange(len(data))
        if self.max_candidates is not None and len(data.items) > self.max_candidates:
            order = rng.permutation(len(data))
            n_groups = int(np.searchsorted(np.cumsum(sizes[order]), self.max_candidates, side="right"))
            if n_groups == 0:
                raise InputError(
                    f"A group has {sizes[order[0]]:,} candidates, but max_candidates is {self.max_candidates:,}. "
                    "Raise it, or draw fewer of each group with a smaller sample."
                )
            groups = np.sort(order[:n_groups])
        elif len(data.items) > MANY:
            warn_user(
                f"Learning from {len(data.items):,} candidates takes about {5 * 8e-9 * len(data.items) ** 2:.1f} GB "
                "and time in proportion to the cube of their number. Set max_candidates=2000, or sample=2."
            )
        rows = np.concatenate([np.arange(data.start[group], data.start[group + 1]) for group in groups.tolist()])
        return rows, np.cumsum([0, *sizes[groups]], dtype=np.int64)

    def _utilities(self, groups: Sequence[Group]) -> list[tuple[Floats, Floats]]:
        """The mean and the covariances of the utilities of each group."""
        groups = checked(groups, "chosen among")
        means = self.decision_function(groups)
        options = {"n_threads": self.n_threads, "memory": self.memory}
        covariances: list[Floats] = []
        sizes: list[float] = []  # the largest prior variance of each group
        with blas_threads(self.n_threads):
            if self._posterior is None:
                self._posterior = self._conditioned()
            support, given = self._posterior
            for run in runs(groups, _RUN):
                rows = Inputs.of([own for group in run for own in group.candidates], like=support, translates=True)
                scores = np.concatenate([np.array(group.scores) for group in run]) / self._scores.unit
                cross = self._pairs.differences(self.kernel_(rows, support, **options))
                cross += np.outer(self._score_variance * scores, self._scores.differences)
                explained = given.explained(cross.T)
                for first, group in zip(np.cumsum([0, *map(len, run)]).tolist(), run, strict=False):
                    own = slice(first, first + len(group))
                    prior = self.kernel_(list(group.candidates), **options)
                    prior += self._score_variance * np.outer(scores[own], scores[own])
                    covariances.append(prior - explained[:, own].T @ explained[:, own])
                    sizes.append(float(prior.diagonal().max()))
        check_covariances(covariances, sizes)
        return list(zip(means, covariances, strict=True))

    def _conditioned(self) -> tuple[Inputs, LaplacePosterior]:
        """The training items, and the posterior of their differences; computed on first use."""
        support = Inputs.of(self.support_)
        objective = self._objective(self.kernel_, support)
        objective.near = -self.coefficients_[self._pairs.rival]
        return support, objective.posterior({SCORE: self._score_variance}).given

    def _set_support(self, items: list[object], coefficients: Floats) -> None:
        if len(items) != self._pairs.n_items:
            raise InputError("its groups have other candidates")
        super()._set_support(items, coefficients)

    def _check(self) -> None:
        super()._check()
        self._check_whole("max_candidates", least=2, none=True)
        settings_of(self, MAX_ITERATIONS, TOLERANCE)

    def to_state(self) -> dict[str, object]:
        """Return what every chooser returns, and the learned kernel, the groups and the scores of pairs."""
        state, scores = super().to_state(), self._scores
        return {
            **state,
            "kernel": self.kernel_,
            "score_variance": self._score_variance,
            "score_unit": scores.unit,
            "score_weight": scores.weight,
            "start": self._pairs.start,
            "score_differences": scores.differences,
        }

    def _set_own_state(self, state: State) -> None:
        start, differences = state.array("start", np.int64), state.array("score_differences", np.float64)
        whole = len(start) >= 2 and start[0] == 0 and np.diff(start).min() >= 2
        require(whole, "its groups have no candidates")
        require(len(differences) == int(start[-1]) - len(start) + 1, "every pair needs the difference of its scores")
        require(np.isfinite(differences).all(), "the difference of two scores is not a number")
        unit = state.number("score_unit", 0.0)
        weight = None if state.json("score_weight") is None else state.number("score_weight")
        require(unit > 0.0, "the unit of its scores is not a number")
        self.kernel_, self._score_variance = state.object("kernel", Kernel), state.number("score_variance", 0.0)
        self._pairs, self._scores = Pairs(start), PairScores(differences, unit, weight)
        self._posterior = None


def _positive(dual: Floats) -> Floats:
    """The dual weights of pairs, tiny ones clamped above zero, so that every pair keeps its candidates."""
    return np.maximum(dual, np.finfo(np.float64).tiny)
