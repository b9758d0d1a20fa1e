"""Each law of ``check_kernel`` is seen to fail on a kernel that breaks it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from espalier.errors import MemoryBudgetError
from espalier.kernels.base import Kernel, Plan
from espalier.kernels.hyperparameters import Number, hyperparameter, number_of
from espalier.kernels.plan import PythonPlan
from espalier.kernels.subset_tree import SubsetTree
from espalier.testing import check_kernel, laws, rename_labels

WORDS = ["a", "bb", "cc", "dddd", ""]
CLOCK = itertools.count(1)


@dataclass(frozen=True, repr=False)
class Lengths(Kernel):
    """A good kernel of a user: two lengths, one hyperparameter."""

    width: Number = hyperparameter(2.0, (0.1, 10.0))

    def pair(self, x, y):
        return float(np.exp(-((len(x) - len(y)) ** 2) / (2 * number_of(self.width) ** 2)))


@dataclass(frozen=True, repr=False)
class Blocks(Kernel):
    """Another, which computes a block at a time."""

    def block(self, a, b):
        return np.array([[float(len(x) * len(y)) for y in b] for x in a]).reshape(len(a), len(b))


@pytest.mark.parametrize("kernel", [Lengths(), Blocks(), 2.0 * Lengths() + Blocks() * Lengths(1.0)], ids=repr)
def test_a_good_kernel_of_a_user_passes(kernel):
    check_kernel(kernel, WORDS, gradient_tolerance=1e-5)


def test_a_class_inside_a_function_passes():
    @dataclass(frozen=True, repr=False)
    class Local(Kernel):
        def pair(self, x, y):
            return float(x == y)

    check_kernel(Local(), WORDS)


@dataclass(frozen=True, repr=False)
class Broken(Lengths):
    """The base of kernels that break one law each."""


class Asymmetric(Broken):
    def pair(self, x, y):
        return super().pair(x, y) + (1e-15 if len(x) < len(y) else 0.0)


class Indefinite(Broken):
    def pair(self, x, y):
        return 1.0 - super().pair(x, y)


class Stateful(Broken):
    def pair(self, x, y):
        return super().pair(x, y) + next(CLOCK)


class DependsOnItsCompany(Broken):
    def block(self, a, b):
        return super().block(a, b) * len(a) * len(b)


class DependsOnPlace(Broken):
    def block(self, a, b):
        scale = 1.0 + np.arange(max(len(a), len(b)))
        return super().block(a, b) * scale[: len(a), None] * scale[: len(b)]


class ReadsNames(Broken):
    def pair(self, x, y):
        return float(x == y) * (2.0 if x.startswith("(a") else 1.0)


class Forgetful(Broken):
    def with_parameters(self, mapping):
        return self


class Unprintable(Broken):
    def __repr__(self):
        return "Unprintable(width=3.0)"


class Unhashable(Broken):
    def __hash__(self):
        return id(self)


class OtherPlans(Broken):
    """A kernel whose plans are given by its class."""

    matrix_plan: type = PythonPlan
    diagonal_plan_type: type = PythonPlan

    def _make_plan(self, a, b, schedule, *, diagonal=False):
        if diagonal:
            return self.diagonal_plan_type(a, None, schedule, diagonal=True)
        plan = self.matrix_plan(a, b, schedule)
        plan.schedule = schedule
        return plan


class WrongGradientPlan(PythonPlan):
    def vjp(self, kernel):
        values, pullback = super().vjp(kernel)
        return values, lambda cotangent: {path: 1.001 * g for path, g in pullback(cotangent).items()}


class SymmetrizingGradientPlan(PythonPlan):
    def vjp(self, kernel):
        values, pullback = super().vjp(kernel)
        if values.shape[0] != values.shape[1]:
            return values, pullback
        return values, lambda cotangent: pullback(np.triu(cotangent) + np.triu(cotangent, 1).T)


class WrongDiagonalGradientPlan(PythonPlan):
    def vjp(self, kernel):
        return self.matrix(kernel), lambda cotangent: {"width": 1.0}


class MissingGradientPlan(PythonPlan):
    def vjp(self, kernel):
        return self.matrix(kernel), lambda cotangent: {}


class WritesCotangentPlan(PythonPlan):
    def vjp(self, kernel):
        values, pullback = super().vjp(kernel)

        def pull_back(cotangent):
            gradient = pullback(cotangent)
            cotangent *= 2.0
            return gradient

        return values, pull_back


class SharesValuesPlan(PythonPlan):
    def vjp(self, kernel):
        values = self.matrix(kernel)
        return values, lambda cotangent: {"width": float(np.vdot(cotangent, values))}


class WrongDiagonalPlan(PythonPlan):
    def _values(self, kernel):
        return super()._values(kernel) * (1 + 1e-9)


class ThreadsPlan(PythonPlan):
    def _values(self, kernel):
        return super()._values(kernel) * (1 + 2e-16 * self.schedule.n_threads)


class TilesPlan(PythonPlan):
    def _values(self, kernel):
        if self.schedule.memory < 5000:
            raise MemoryBudgetError("too small")
        return super()._values(kernel) * (1 + 1e-11 * (self.schedule.memory < 1 << 20))


class BackwardsPlan(PythonPlan):
    def _values(self, kernel):
        for fraction in (0.5, 0.2):
            if self.schedule.tell is not None:
                self.schedule.tell(fraction)
        return super()._values(kernel)


class MemoryPlan(Plan):
    """Answers with the first kernel it saw."""

    def __init__(self, a, b, schedule):
        self._plan, self._kernel = PythonPlan(a, b, schedule), None

    def matrix(self, kernel):
        self._kernel = self._kernel or kernel.with_parameters({"width": 1.0})
        values = self._plan.matrix(self._kernel)
        self._kernel = kernel
        return values

    def vjp(self, kernel):
        return self.matrix(kernel), self._plan.vjp(kernel)[1]


def with_plans(matrix=PythonPlan, diagonal=PythonPlan):
    class Made(OtherPlans):
        matrix_plan, diagonal_plan_type = matrix, diagonal

    return Made()


def with_broken_bounds():
    class Unbounded(Broken):
        def bounds(self):
            return {}

    return Unbounded()


def writing_kernel():
    class Writes(Broken):
        def block(self, a, b):
            values = super().block(a, b)
            for item in a:
                item.append("x")
            return values

    return Writes()


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Asymmetric(), "not symmetric"),
        (Indefinite(), "not positive semi-definite"),
        (Stateful(), "another matrix the second time"),
        (DependsOnItsCompany(), "diagonal|block"),
        (DependsOnPlace(), "diagonal"),
        (Forgetful(), "setting width gives"),
        (Unprintable(), r"eval\(repr\(kernel\)\) gives"),
        (Unhashable(), "has another hash"),
        (with_broken_bounds(), "different paths"),
        (with_plans(WrongGradientPlan), r"vjp\(a\): the gradient of width"),
        (with_plans(SymmetrizingGradientPlan), r"vjp\(a\): the gradient of width"),
        (with_plans(diagonal=WrongDiagonalGradientPlan), r"diagonal_vjp\(a\): the gradient of width"),
        (with_plans(MissingGradientPlan), "gives gradients for"),
        (with_plans(WritesCotangentPlan), "changed the cotangent|afterwards"),
        (with_plans(SharesValuesPlan), "depends on what its plan computed afterwards"),
        (with_plans(diagonal=WrongDiagonalPlan), "is not the diagonal"),
        (with_plans(ThreadsPlan), "1 thread and 3 threads"),
        (with_plans(TilesPlan), "memory=16384 changes values"),
        (with_plans(BackwardsPlan), "progress goes back"),
        (with_plans(MemoryPlan), "depends on what it computed before"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Kernel) else value,
)
def test_a_broken_kernel_is_caught(kernel, message):
    with pytest.raises(AssertionError, match=message):
        check_kernel(kernel, WORDS, gradient_tolerance=1e-5)


def test_changed_items_are_caught():
    with pytest.raises(AssertionError, match="a call changed the items"):
        check_kernel(writing_kernel(), [["a"], ["b", "c"], ["d"]])


def test_a_kernel_that_reads_names_is_caught():
    trees = ["(a b)", "(b a)", "(c c)"]
    with pytest.raises(AssertionError, match="renaming labels changes values"):
        check_kernel(ReadsNames(), trees, rename=rename_labels, trees=False)


def test_a_wrong_empty_matrix_is_caught():
    class Wrong(Broken):
        def _make_plan(self, a, b, schedule, *, diagonal=False):
            plan = super()._make_plan(a, b, schedule, diagonal=diagonal)
            if len(a) == 0:
                plan.vjp = lambda kernel: (np.ones((1, 1)), lambda cotangent: {})
            return plan

    with pytest.raises(AssertionError, match="expected an empty matrix"):
        laws.check_empty(Wrong(), WORDS)


def test_a_cross_matrix_that_is_not_transposed_is_caught():
    class Longer(Broken):
        def pair(self, x, y):
            return float(len(x) > len(y))

    with pytest.raises(AssertionError, match=r"k\(a, b\) is not k\(b, a\)\.T"):
        laws.check_transposition(Longer(), WORDS)


def test_a_permutation_that_matters_is_caught():
    with pytest.raises(AssertionError, match="permuting the items changes values"):
        laws.check_permutation(DependsOnPlace(), WORDS, np.random.default_rng(0))


def test_a_wrong_single_value_is_caught():
    class Wrong(Broken):
        def value(self, x, y):
            return 2.0

    with pytest.raises(AssertionError, match=r"value\(x, y\) is not the matrix's"):
        laws.check_single_pair(Wrong(), WORDS)


def test_an_infinite_value_of_an_extreme_tree_is_caught():
    class Infinite(Broken):
        def pair(self, x, y):
            return np.inf if len(x) > 1000 else 1.0

    with pytest.raises(AssertionError, match="a deep chain gives a value that is not finite"):
        laws.check_extreme_trees(Infinite())


def test_too_few_items_are_an_error():
    with pytest.raises(ValueError, match="at least three items, got 2"):
        check_kernel(SubsetTree(), ["(A a)", "(B b)"])


def test_forests_and_tables_are_items_too():
    from espalier.corpus.forest import Forest
    from espalier.structures.table import Table

    texts = ["(A a)", "(A (B b))", "(B b)"]
    check_kernel(SubsetTree(), Forest.from_brackets(texts))
    check_kernel(SubsetTree(on="t"), Table({"t": texts}), rename=rename_labels)
    check_kernel(SubsetTree(on="t"), {"t": Forest.from_brackets(texts)})


def test_a_matrix_that_is_not_made_of_its_blocks_is_caught():
    with pytest.raises(AssertionError, match=r"k\(a\) is not the block"):
        laws.check_blocks(DependsOnItsCompany(), WORDS)


def test_a_pull_back_that_tiles_change_is_caught():
    class Plan(PythonPlan):
        def vjp(self, kernel):
            values, pullback = super().vjp(kernel)
            scale = 1.01 if self.schedule.memory < 1 << 20 else 1.0
            return values, lambda cotangent: {path: scale * g for path, g in pullback(cotangent).items()}

    with pytest.raises(AssertionError, match="memory=1024 changes the gradient of width"):
        laws.check_tiles(with_plans(Plan), WORDS, np.random.default_rng(0))


def test_a_pull_back_that_threads_change_is_caught():
    class Plan(PythonPlan):
        def vjp(self, kernel):
            return self.matrix(kernel), lambda cotangent: {"width": float(self.schedule.n_threads)}

    with pytest.raises(AssertionError, match="1 thread and 3 give different gradients"):
        laws.check_threads(with_plans(Plan), WORDS, np.random.default_rng(0))
