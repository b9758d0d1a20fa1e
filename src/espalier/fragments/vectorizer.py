"""``FragmentVectorizer``: trees as sparse vectors over the fragments that matter."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from espalier.errors import InputError
from espalier.fragments.hashing import ChunkedTransformer
from espalier.fragments.mined import MinedFragments
from espalier.fragments.mining import Limits, Strategy, mined_so_far
from espalier.gram.estimator import KernelEstimator
from espalier.gram.targets import label_column
from espalier.jobs.executor import Executor, run_jobs
from espalier.jobs.progress import Report
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.kernels.normalized import Normalized
from espalier.kernels.subset_tree import SubsetTree
from espalier.spaces.codes import Codes
from espalier.spaces.space import Values
from espalier.spaces.terms import Term, is_listable, listable_terms
from espalier.storage import State, require
from espalier.structures.columns import refuse_masked

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

DECAY = 0.4


@dataclass(frozen=True, eq=False)
class TermFeatures:
    """The fragments of one tree kernel: their numbers among all features, and which were mined for each score."""

    term: Term
    fragments: Codes[Any]
    scores: dict[str, NDArray[np.int64]]  # by name, the fragments that were mined for it

    def to_state(self) -> dict[str, object]:
        """Return the kernel and its fragments."""
        return {**vars(self.term), **self.fragments.to_state()}

    @staticmethod
    def from_state(state: State) -> TermFeatures:
        """Make the fragments that a file holds."""
        kernel, norms = state.object("kernel", Kernel), state.object("norms", tuple)
        require(is_listable(kernel), f"the features of {kernel!r} cannot be listed")
        require(all(isinstance(norm, Kernel) for norm in norms), "a norm is not a kernel")
        term = Term(state.text("path"), kernel, state.number("scale", 0.0), norms)
        return TermFeatures(term, term.space.listing.from_state(state), {})


@dataclass(eq=False, repr=False)
class MiningLearner(KernelEstimator):
    """What learners by mined fragments have in common: how fragments are found."""

    kernel: Kernel | None = None
    _: KW_ONLY
    learner: Any = None
    n_fragments: int = 50_000
    n_splits: int = 1
    strategy: Strategy = "exact"
    max_expansions: int | None = None
    max_size: int | None = None
    random_state: object = 0

    _unsaved = ("learner", "linear")  # a file holds what they found


@dataclass(eq=False, repr=False)
class FragmentVectorizer(ChunkedTransformer, MiningLearner):
    """Turn trees into sparse vectors over the fragments that a kernel machine weighs most.

    The stages of Pighin and Moschitti (2009): learn kernel machines on parts of the training data, mine the fragments
    that they weigh most, join them into one dictionary, and count only those in any tree. The vectors are for any
    linear model, which then learns in time linear in the number of trees.

    Parameters
    ----------
    kernel
        The kernel, ``Normalized(SubsetTree(0.4))`` if None: tree kernels alone, normalised, multiplied by numbers
        and in sums, also over several columns.
    learner
        Learns on each part; ``KernelSVC(kernel)`` if None. Anything with a parameter ``kernel`` and a method
        ``dual_form`` will do, such as ``KernelSVR`` or ``GPRegressor``.
    by
        ``"weight"``, the fragments that a kernel machine weighs most; or ``"frequency"``, without targets and without
        learning, the most frequent ones. Limit those by ``max_size``, or by ``max_depth`` in the kernel.
    n_fragments
        How many to mine from each part, for each score of the machine (each class) and each tree kernel.
    n_splits
        The number of parts into which the training data are cut, by class if there are classes.
    strategy, max_expansions, max_size
        As for :func:`mine_fragments`.
    values
        ``"kernel"`` gives features as the kernel counts them, divided by their norm if it is normalised: over all
        fragments, their product is the kernel. ``"count"`` gives counts, ``"binary"`` 0 or 1.
    chunk_size
        How many trees of an iterator are read at once.
    random_state
        Shuffles the rows before they are cut into parts.
    n_threads, memory, progress, verbose
        As for :func:`mine_fragments`.

    Attributes
    ----------
    terms_
        For each tree kernel of the sum, its fragments and those that were mined for each score.
    mined_
        What was mined from each part.
    n_features_out_
        How many features there are.

    Examples
    --------
    >>> trees = ["(NP (D the) (N cat))", "(NP (D a) (N dog))", "(VP (V runs))", "(VP (V runs) (R fast))"]
    >>> vectorizer = FragmentVectorizer(n_fragments=3).fit(trees, ["noun", "noun", "verb", "verb"])
    >>> vectorizer.get_feature_names_out().tolist()
    ['(V runs)', '(NP (D) (N))', '(VP (V))']
    >>> vectorizer.transform(["(S (VP (V runs)))"]).toarray().round(2)
    array([[0.5, 0. , 0.5]])
    """

    _: KW_ONLY
    by: Literal["weight", "frequency"] = "weight"
    values: Values = "kernel"
    chunk_size: int = 10_000

    def fit(self, X: object, y: object = None, *, executor: Executor | None = None) -> Self:
        """Learn which fragments matter.

        If mining is interrupted, or ``progress`` raises an error, the vectorizer has the fragments of the parts,
        kernels and scores that were done, and stays as it was if there are none.

        Parameters
        ----------
        X
            Trees, a corpus, or a table for kernels that name columns.
        y
            One target for each row; not used by ``"frequency"``.
        executor
            Runs the parts of ``n_splits``, such as :class:`~espalier.jobs.Processes`; one after the other if None.
        """
        self._check()
        kernel = self._checked_kernel(Normalized(SubsetTree(DECAY)))
        terms, _ = listable_terms(kernel)
        inputs = Inputs.of(X).read_strings(kernel._tree_columns(), "trees")
        with self._scheduled(f"fitting {type(self).__name__}") as schedule:
            if self.by == "frequency":
                steps = self._by_frequency(terms, inputs, schedule)
            else:
                steps = self._by_weight(kernel, inputs, y, replace(schedule, executor=executor))
            mined: dict[int, MinedFragments] = {}  # by part
            try:
                for part, so_far in steps:
                    mined[part] = so_far  # noqa: PERF403  an interrupt leaves what was added
            finally:
                self._keep(list(mined.values()), terms, inputs)
            if not any(map(len, chain(*mined.values()))):
                raise InputError(
                    "No fragment was found: the trees have no productions, or the machine gives weight to none of them."
                )
            schedule.done()
        return self

    def _keep(self, mined: list[MinedFragments], terms: list[Term], inputs: Inputs) -> None:
        """Join the fragments of all parts, and keep them if there are any."""
        if self.by == "frequency":  # each kernel was mined alone
            found = {term.path: (term, list(own)) for term, own in zip(terms, mined, strict=False)}
        else:
            found = {}
            for part in chain(*mined):  # the machine of the first part may have learned values for the kernel
                found.setdefault(part.term.path, (part.term, []))[1].append(part)
        joined = []
        for term, parts in found.values():
            fragments, places = term.space.listing.joined([part.fragments for part in parts])
            scores: dict[str, NDArray[np.int64]] = {}
            for part, place in zip(parts, places, strict=True):
                scores[part.name] = np.union1d(scores.get(part.name, place[:0]), place)
            joined.append(TermFeatures(term, fragments, scores))
        if any(len(own.fragments) for own in joined):
            self.terms_, self.mined_, self._trained_on = joined, mined, inputs.description()

    def _transformed(self, X: object) -> csr_matrix:
        from scipy.sparse import hstack

        inputs = self._read(X)
        blocks = [
            own.term.features(own.fragments, inputs, self.values, n_threads=self.n_threads, memory=self.memory)
            for own in self.terms_
        ]
        return blocks[0] if len(blocks) == 1 else hstack(blocks).tocsr()

    def weighed(self, X: object, weights: Any) -> NDArray[np.float64]:
        """Return ``transform(X) @ weights`` without the sparse rows: for a linear model's scores, many times as fast.

        There is one weight for each feature, or one column of them for each score.
        """
        inputs = self._read(X)
        refuse_masked(weights, "weights")
        given = np.asarray(weights, np.float64)
        columns = given[:, None] if given.ndim == 1 else given
        if columns.ndim != 2 or len(columns) != self.n_features_out_:
            raise ValueError(
                f"weights must have one row for each of {self.n_features_out_:,} features, got shape {given.shape}."
            )
        out, first = np.zeros((len(inputs), columns.shape[1])), 0
        for own in self.terms_:
            part = columns[first : first + len(own.fragments)]
            first += len(part)
            options: dict[str, Any] = {"n_threads": self.n_threads, "memory": self.memory}
            out += own.term.weighed(own.fragments, inputs, self.values, part, **options)
        return out.reshape(len(inputs), *given.shape[1:])

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Return the brackets of each fragment, after the column's name if the kernel names columns."""
        check_is_fitted(self, "terms_")
        names = []
        for own in self.terms_:
            prefix = "" if own.term.column is None else f"{own.term.column}: "
            names += [prefix + name for name in own.fragments.names()]
        return np.array(names, object)

    @property
    def n_features_out_(self) -> int:
        """How many features there are."""
        check_is_fitted(self, "terms_")
        return sum(len(own.fragments) for own in self.terms_)

    def columns_of(self, name: str) -> NDArray[np.int64]:
        """The features that were mined for one score, such as a class."""
        check_is_fitted(self, "terms_")
        found, offset = [], 0
        for own in self.terms_:
            if name not in own.scores:
                known = ", ".join(map(repr, own.scores))
                raise KeyError(f"Nothing was mined for {name!r}; there are {known}.")
            found.append(offset + own.scores[name])
            offset += len(own.fragments)
        return np.concatenate(found)

    def to_state(self) -> dict[str, object]:
        """Return the settings and the fragments; what was mined for which score stays behind."""
        check_is_fitted(self, "terms_")
        return {**self._declared_state(), "terms": [own.to_state() for own in self.terms_]}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the vectorizer that a file holds."""
        vectorizer = cls._of_declared(state)
        vectorizer._check()
        vectorizer.terms_ = [TermFeatures.from_state(part) for part in state.parts("terms")]
        vectorizer.mined_ = []
        require(vectorizer.n_features_out_ > 0, "it has no fragments")
        return vectorizer

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.by == "weight"
        return tags

    def _read(self, X: object) -> Inputs:
        """The rows to transform, read in one way for all kernels."""
        check_is_fitted(self, "terms_")
        columns = {column for own in self.terms_ for column in own.term.kernel._tree_columns()}
        return Inputs.of(X).read_strings(columns, "trees")

    def _by_frequency(
        self, terms: list[Term], inputs: Inputs, schedule: Schedule
    ) -> Iterator[tuple[int, MinedFragments]]:
        """The most frequent fragments of each kernel, with its number."""
        for k, term in enumerate(terms):
            report = schedule.part(k, len(terms)).report
            for so_far in self._mined(np.ones(len(inputs)), inputs, term.space.counting(), report):
                yield k, so_far

    def _by_weight(
        self, kernel: Kernel, inputs: Inputs, y: object, schedule: Schedule
    ) -> Iterator[tuple[int, MinedFragments]]:
        """What was mined so far from each part of the training data, with the number of the part."""
        from espalier.svm import KernelSVC

        if y is None:
            raise ValueError("FragmentVectorizer learns from targets: pass y, or use by='frequency'.")
        learner = (
            KernelSVC(kernel, n_threads=self.n_threads, memory=self.memory) if self.learner is None else self.learner
        )
        if self.learner is not None and self.kernel is not None:
            learner = clone(learner).set_params(kernel=kernel)
        targets = label_column(y, len(inputs))

        silent = clone(self).set_params(progress=None, verbose=False)  # jobs are pickled, and reports are not
        jobs = [_Part(silent, learner, inputs, targets, rows) for rows in self._parts(targets, len(inputs))]
        if schedule.executor is not None:
            yield from enumerate(run_jobs(jobs, schedule.executor, schedule.tell))
            return
        for k, job in enumerate(jobs):
            for so_far in job.steps(schedule.part(k, len(jobs)).between(0.5, 1.0).report):
                yield k, so_far

    def _mined(
        self, model: object, inputs: object, kernel: Kernel | None, report: Report | None
    ) -> Iterator[MinedFragments]:
        limits = Limits(self.n_fragments, self.strategy, self.max_expansions, self.max_size)
        return mined_so_far(model, inputs, kernel, limits, Schedule.of(self.n_threads, self.memory), report)

    def _parts(self, targets: NDArray[Any], n_rows: int) -> list[NDArray[np.intp]]:
        from sklearn.model_selection import KFold, StratifiedKFold
        from sklearn.utils.multiclass import type_of_target

        if self.n_splits == 1:
            return [np.arange(n_rows)]
        classes = type_of_target(targets) in ("binary", "multiclass")
        splitter = (StratifiedKFold if classes else KFold)(self.n_splits, shuffle=True, random_state=self.random_state)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", UserWarning
            )  # a rare class is missing in some parts, which learn without it
            parts = [part for _, part in splitter.split(np.zeros(n_rows), targets)]
        if classes and any(len(np.unique(targets[part])) < 2 for part in parts):
            raise InputError(
                f"With n_splits={self.n_splits} a part of the training data has only one class. Use fewer parts."
            )
        return parts

    def _check(self) -> None:
        self._check_choice("by", "weight", "frequency")
        self._check_choice("values", "kernel", "count", "binary")
        self._check_whole("n_fragments", "n_splits", "chunk_size")


@dataclass(frozen=True, eq=False)
class _Part:
    """A job: learn from some rows, and mine the fragments that weigh most in what was learned."""

    vectorizer: FragmentVectorizer
    learner: Any
    inputs: Inputs
    targets: NDArray[Any]
    rows: NDArray[np.intp]

    @property
    def cost(self) -> float:
        """The rows to learn from."""
        return float(len(self.rows))

    def __call__(self) -> MinedFragments:
        *_, mined = self.steps(None)
        return mined

    def steps(self, report: Report | None) -> Iterator[MinedFragments]:
        """Learn, and yield what was mined after each kernel and score."""
        is_whole = len(self.rows) == len(self.inputs)
        part = self.inputs if is_whole else self.inputs.rows(self.rows)
        return self.vectorizer._mined(clone(self.learner).fit(part, self.targets[self.rows]), None, None, report)
