"""Mining: the fragments that weigh most in the space of a kernel machine, found without listing that space."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError, MemoryBudgetError
from espalier.fragments.mined import MinedFragments, MinedTerm, MiningProgress
from espalier.gram.forms import DualForm, PrimalForm
from espalier.jobs.bar import reporting
from espalier.jobs.memory import show_bytes
from espalier.jobs.progress import Meter, Progress, Report, Tell, part_of
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.spaces.space import Found, Search, heaviest
from espalier.spaces.terms import Term, listable_terms
from espalier.structures.columns import refuse_masked
from espalier.structures.numbers import check_choice, whole_number

Strategy = Literal["exact", "greedy"]
_NO_LIMIT = np.iinfo(np.int64).max


def mine_fragments(
    model_or_weights: object,
    forest: object = None,
    n: int = 50_000,
    *,
    strategy: Strategy = "exact",
    max_expansions: int | None = None,
    max_size: int | None = None,
    max_visits: int | None = None,
    kernel: Kernel | None = None,
    n_threads: int | None = None,
    memory: int | str | None = None,
    progress: Report | None = None,
    verbose: bool = False,
) -> MinedFragments:
    r"""Find the fragments that weigh most in a fitted model.

    There is one list for each score and each kernel whose features can be listed.

    In a model whose score is :math:`\sum_i c_i K(x_i, x)`, a fragment :math:`f` weighs

    .. math:: w_f = \sum_i c_i \phi_f(x_i) / \|x_i\|

    with the kernel's own features: for ``SubsetTree`` the count of the fragment times the square root of ``decay`` for
    every production in it and of ``frontier`` for every inner node left unexpanded; for ``PartialTree`` the sum over
    all ways in which it occurs in the tree. ``BagOfWords``, ``Spectrum`` and ``Subsequence`` without a similarity have
    words, n-grams and subsequences in place of fragments, and all of them are listed to find the heaviest. The norm
    is 1 if the kernel is not normalised. So the score is the sum of :math:`w_f \phi_f(x) / \|x\|` over all
    fragments, and those of large weight decide.

    Parameters
    ----------
    model_or_weights
        A fitted ``KernelSVC``, ``KernelSVR``, ``GPRegressor``, ``GPClassifier``, ``GPOrdinal``,
        ``LinearizedTreeClassifier`` or anything with a method ``dual_form()`` or ``primal_form()``; a pipeline of a
        ``FragmentVectorizer`` and a linear model; or one coefficient for each row of ``forest``, or a line of them for
        each of several scores.
    forest
        The rows that coefficients belong to: trees, a corpus, or a table for kernels that name columns. A model has its
        own; if rows are given, they must be those that it was fitted to.
    n
        How many fragments to list, for each score of the model and each kernel in a sum.
    strategy
        ``"exact"`` proves by branch and bound that no fragment left out weighs more. ``"greedy"`` is the algorithm of
        Pighin and Moschitti (2009): starting from single productions, it expands the best ``n`` until none of the
        results is better. It may miss fragments whose parts weigh little.
    max_expansions
        For ``"greedy"``: the most nodes of a fragment that are expanded at once; all if None.
    max_size
        Consider only fragments with at most this many productions; for partial trees, nodes (8 if None); for sequences,
        symbols.
    max_visits
        For ``"exact"``: stop after this many fragments, and search in one thread. The result then has a bound on the
        weight of those left out.
    kernel
        The kernel, if coefficients are given.
    n_threads, memory
        As for kernels. The fragments that wait to be considered stay within ``memory``.
    progress
        Called now and then with a :class:`MiningProgress`.
    verbose
        Whether to draw a bar on standard error, if that is a terminal.

    Notes
    -----
    A subtree that many trees share is considered once, with the sum of their coefficients. The extensions of a fragment
    cannot weigh more than the larger of its positive and its negative mass, each occurrence multiplied by the largest
    factor that its open nodes can contribute; fragments are extended in one order only, so none is visited twice.

    Examples
    --------
    >>> from espalier.kernels import SubsetTree
    >>> trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(S (A c) (B c))"]
    >>> mined = mine_fragments([1.0, 1.0, -1.0, -1.0], trees, n=3, kernel=SubsetTree(0.25))
    >>> for fragment, weight in mined[0]:
    ...     print(fragment, weight)
    (A a) 1.0
    (A c) -1.0
    (S (A a) (B)) 0.5
    >>> mined.proven
    True
    """
    limits = Limits(n, strategy, max_expansions, max_size, max_visits)
    # Which fragments a limit leaves out must not depend on which thread comes first.
    schedule = Schedule.of(n_threads if max_visits is None else 1, memory)
    with reporting("mining", progress, verbose) as report:
        *_, mined = mined_so_far(model_or_weights, forest, kernel, limits, schedule, report)
    return mined


@dataclass(frozen=True)
class Limits:
    """How many fragments to find, and what to consider: arguments of :func:`mine_fragments`, checked."""

    n: int
    strategy: Strategy
    max_expansions: int | None
    max_size: int | None
    max_visits: int | None = None

    def __post_init__(self) -> None:
        check_choice("strategy", self.strategy, "exact", "greedy")
        whole_number("n", self.n)
        for name in ("max_expansions", "max_size", "max_visits"):
            if getattr(self, name) is not None:
                whole_number(name, getattr(self, name), none=True)
        if self.max_expansions is not None and self.strategy == "exact":
            raise ValueError("max_expansions is for strategy='greedy'; the exact search needs no such limit.")
        if self.max_visits is not None and self.strategy == "greedy":
            raise ValueError("max_visits is for strategy='exact'.")


def mined_so_far(
    model: object, data: object, kernel: Kernel | None, limits: Limits, schedule: Schedule, report: Report | None
) -> Iterator[MinedFragments]:
    """Mine as :func:`mine_fragments` does, and yield all that was found after each kernel and score."""
    from espalier.fragments.linearized import primal_form

    n, strategy, max_expansions, max_size, max_visits = astuple(limits)
    if (primal := primal_form(model)) is not None:
        if data is not None or kernel is not None or (strategy, max_size, max_visits) != ("exact", None, None):
            raise ValueError("A linear model lists its own features: only n applies to them.")
        yield _of_primal(primal, n)
        return
    dual = _dual(model, data, kernel)
    dual.inputs.read_strings(dual.kernel._tree_columns(), "trees")
    terms, left_out = listable_terms(dual.kernel)
    parts: list[MinedTerm] = []
    teller = None if report is None else _Teller(report, len(dual.names) * len(terms))
    for term in terms:
        search = term.space.search(term.space.corpus(dual.inputs), max_size)
        norm = term.norm(dual.inputs, **schedule.options)
        for name, coefficients in zip(dual.names, dual.coefficients, strict=True):
            tell = None if teller is None else teller.part(len(parts), name, term, search)
            own = term.scale * coefficients / norm
            try:
                if strategy == "greedy":
                    found = search.greedy(own, n, max_expansions or _NO_LIMIT, tell)
                else:
                    found = search.exact(own, n, max_visits or _NO_LIMIT, schedule, tell)
            except MemoryError:
                raise MemoryBudgetError(
                    f"Mining {term.kernel!r} for {name} needs more than {show_bytes(schedule.memory)}. Ask for "
                    "fewer fragments, limit their max_size or max_depth in the kernel, or raise memory."
                ) from None
            parts.append(MinedTerm(name, term, *found))
            yield MinedFragments(parts, left_out)


def _of_primal(primal: PrimalForm, n: int) -> MinedFragments:
    """The features with the largest weights among those that a model lists."""
    mined = []
    for part in primal.parts:
        for name, weights in zip(primal.names, part.weights.T, strict=True):
            order = heaviest(weights, n)
            bound = float(abs(weights[order[-1]])) if len(order) == n else 0.0
            found = Found(part.features[order].compact(), weights[order], True, bound, len(weights), 0, None)
            mined.append(MinedTerm(name, part.term, *found))
    return MinedFragments(mined, [])


def _dual(model: Any, data: object, kernel: Kernel | None) -> DualForm:
    if hasattr(model, "dual_form"):
        if kernel is not None:
            raise ValueError("kernel is for coefficients; a model has its own.")
        dual: DualForm = model.dual_form()
        return dual if data is None else replace(dual, inputs=_rows_of(model, data, len(dual.inputs)))
    refuse_masked(model, "model_or_weights")
    try:
        weights = np.asarray(model, np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            "Fragments are mined from a fitted model with a method dual_form(), such as KernelSVC or GPRegressor, or "
            f"from one coefficient for each row, got {type(model).__name__}."
        ) from None
    if data is None or kernel is None:
        raise ValueError("Coefficients need rows and a kernel: mine_fragments(weights, forest, kernel=SubsetTree()).")
    inputs = Inputs.of(data)
    weights = np.atleast_2d(weights)
    if weights.ndim != 2 or weights.shape[1] != len(inputs):
        raise ValueError(f"There are {len(inputs):,} rows, but coefficients of shape {np.shape(model)}.")
    if not np.isfinite(weights).all():
        raise InputError("A coefficient is not a finite number.")
    names = ("score",) if len(weights) == 1 else tuple(f"score {k}" for k in range(len(weights)))
    return DualForm(kernel, inputs, weights, np.zeros(len(weights)), names)


def _rows_of(model: object, data: object, n_rows: int) -> Inputs:
    """The rows of the training data that a model has coefficients for."""
    inputs = Inputs.of(data)
    support: NDArray[np.intp] = getattr(model, "support_", np.arange(n_rows))
    if (len(support) and support[-1] >= len(inputs)) or (not hasattr(model, "support_") and len(inputs) != n_rows):
        raise ValueError(f"The model was fitted to more rows, or to other ones; {len(inputs):,} were given.")
    return inputs.rows(support)


class _Teller:
    """Reports the progress of mining: one part for each term and score."""

    def __init__(self, report: Report, n_parts: int) -> None:
        self._report, self._n_parts = report, n_parts
        self._meter = Meter(self._told, "mining")

    def part(self, k: int, name: str, term: Term, search: Search) -> Tell:
        """The function that the search of part ``k`` calls with the fraction done."""
        self._now = name, term, search
        return part_of(self._meter, k / self._n_parts, (k + 1) / self._n_parts)

    def _told(self, done: Progress) -> object:
        name, term, search = self._now
        seen = search.seen()._asdict()
        return self._report(MiningProgress(done.what, done.fraction, done.seconds_left, name=name, term=term, **seen))
