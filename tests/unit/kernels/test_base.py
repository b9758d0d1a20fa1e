"""Kernels that users write, what a kernel may be called with, and hyperparameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from espalier.errors import InputError
from espalier.jobs.memory import parse_memory
from espalier.jobs.schedule import Schedule
from espalier.kernels.algebra import Constant, Power
from espalier.kernels.base import Kernel
from espalier.kernels.hyperparameters import (
    Hyperparameter,
    Learned,
    PerDimension,
    PerLabel,
    fixed,
    hyperparameter,
    number_of,
)
from espalier.kernels.normalized import Normalized
from espalier.kernels.partial_tree import PartialTree
from espalier.kernels.subset_tree import SubsetTree
from espalier.structures.tree import Tree
from espalier.testing import check_kernel

TREES = ["(A a)", "(A (B b))", "(B b)"]


@dataclass(frozen=True, repr=False)
class SharedWords(Kernel):
    weight: Hyperparameter = hyperparameter(0.5, (1e-6, 1.0))
    on: str | None = None

    def pair(self, x, y):
        return number_of(self.weight) ** 2 * len(set(x.split()) & set(y.split()))


@pytest.mark.parametrize("setting", [PerLabel(0.5, values={"A": 9.0}), PerDimension(0.5)], ids=repr)
def test_several_numbers_are_refused_where_a_kernel_reads_one(setting):
    with pytest.raises(TypeError, match=r"has one number for each (label|dimension), but this hyperparameter is a"):
        SharedWords(setting)(["a", "b"])
    assert number_of(fixed(0.5)) == number_of(Learned(0.5)) == 0.5


def test_a_kernel_of_one_method_works_everywhere():
    texts = ["a b", "b c d", "e", ""]
    check_kernel(SharedWords(), texts, gradient_tolerance=1e-5)
    table = {"text": texts, "tree": [*TREES, "(C c)"]}
    kernel = Normalized(SharedWords(on="text") + Constant()) * SubsetTree(on="tree")
    check_kernel(kernel, table, gradient_tolerance=1e-5)
    assert kernel.value({"text": "a b", "tree": "(A a)"}, {"text": "a", "tree": "(A a)"}) > 0


def test_a_kernel_without_a_method_says_what_to_write():
    with pytest.raises(NotImplementedError, match=r"must define pair\(x, y\) or block\(a, b\)"):
        Kernel()(["a"])


def test_a_block_of_the_wrong_shape_is_an_error():
    class Wrong(Kernel):
        def block(self, a, b):
            return np.ones((1, 1))

    with pytest.raises(ValueError, match=r"Wrong.block must return shape \(2, 2\), got \(1, 1\)"):
        Wrong()(["a", "b"])


def test_kernels_are_frozen_values():
    kernel = SubsetTree()
    with pytest.raises(AttributeError):
        kernel.decay = 0.3
    assert {kernel: 1}[SubsetTree(0.4)] == 1
    assert SubsetTree(0.3) != kernel


def test_a_plan_serves_any_hyperparameters():
    plan = SubsetTree().plan(TREES)
    for kernel in (SubsetTree(0.1, 0.2), SubsetTree(PerLabel(0.3)), SubsetTree(0.9, max_depth=1)):
        assert np.array_equal(plan.matrix(kernel), kernel(TREES))
        cotangent = np.arange(9.0).reshape(3, 3)
        assert plan.vjp(kernel)[1](cotangent) == kernel.vjp(TREES)[1](cotangent)


def test_a_plan_refuses_a_kernel_of_another_form():
    plan = SubsetTree().plan(TREES)
    others = [SubsetTree(lone_leaves=True), SubsetTree(frontier=fixed(0)), PartialTree(), Normalized(SubsetTree()), "x"]
    for kernel in others:
        for method in (plan.matrix, plan.vjp, plan.bind):
            with pytest.raises(TypeError, match="only hyperparameters may differ"):
                method(kernel)
    with pytest.raises(TypeError, match="only hyperparameters may differ"):
        (SubsetTree() + PartialTree()).plan(TREES).matrix(PartialTree() + SubsetTree())
    with pytest.raises(TypeError, match="only hyperparameters may differ"):
        SubsetTree(frontier=fixed(0)).plan(TREES).matrix(SubsetTree(frontier=0.5))


def test_kernels_add_up_by_sum_and_have_powers():
    assert sum([SubsetTree(), PartialTree()]) == SubsetTree() + PartialTree()
    assert SubsetTree() ** 2 == Power(SubsetTree(), 2)


@pytest.mark.parametrize("data", [Tree("A", ("a",)), "(A a)", 3, b"(A a)"])
def test_what_is_no_corpus_is_an_error(data):
    with pytest.raises(TypeError, match="A kernel must be called with a list"):
        SubsetTree()(data)


def test_a_generator_is_a_corpus():
    assert SubsetTree()(text for text in TREES).shape == (3, 3)


@pytest.mark.parametrize("option", [{"n_threads": 0}, {"n_threads": True}, {"memory": "much"}, {"memory": -1}])
def test_wrong_options_are_errors(option):
    with pytest.raises(ValueError, match="must be"):
        SubsetTree()(TREES, **option)


def test_memory_in_words():
    assert parse_memory("2 GiB") == 2 << 30
    assert parse_memory("500 MB") == 500_000_000
    assert Schedule.of(memory=10).memory == 10


def test_learned_bounds_are_checked_and_kept():
    assert SubsetTree(Learned(0.3, bounds=(0.1, 0.5))).bounds()["decay"] == (0.1, 0.5)
    assert SubsetTree(Learned(0.3)).with_parameters({"decay": 0.2}).decay == Learned(0.2)
    with pytest.raises(ValueError, match="low < high"):
        Learned(0.3, bounds=(0.5, 0.1))


def test_a_label_in_two_groups_is_an_error():
    with pytest.raises(ValueError, match="two groups"):
        PerLabel(0.4, groups={"x": ["A"], "y": ["A"]})


@pytest.mark.parametrize(
    "setting",
    [
        fixed(0.3),
        Learned(0.3, bounds=(0.1, 1)),
        PerLabel(Learned(0.4), groups={"x": ["A", "B"]}, values={"x": 0.2, "it's [odd]": 0.3}),
        PerDimension(1.0, values=[1, 2]),
    ],
)
def test_settings_print_as_they_are_written(setting):
    names = {"fixed": fixed, "Learned": Learned, "PerLabel": PerLabel, "PerDimension": PerDimension}
    again = eval(repr(setting), names)
    assert again == setting and hash(again) == hash(setting)


def test_labels_that_look_like_paths():
    tree = "(A[b].c (d= x))"
    kernel = SubsetTree(PerLabel(0.4)) + SubsetTree()
    bound = kernel.plan([tree]).bind(kernel)
    assert "terms[0].decay[A[b].c]" in bound.parameters()
    changed = bound.with_parameters({"terms[0].decay[A[b].c]": 0.1})
    assert changed.parameters()["terms[0].decay[A[b].c]"] == 0.1
    check_kernel(kernel, [tree, "(d= x)", "(A[b].c y)"])


@pytest.mark.parametrize("labels", [["(x)", "(y)", "(x)"]])
def test_labels_are_unknown_where_there_are_only_leaves(labels):
    kernel = SubsetTree(PerLabel(0.4))
    gradient = kernel.vjp(labels)[1](np.ones((3, 3)))
    assert gradient == {"decay": 0.0, "frontier": 0.0}


def test_numbers_of_numpy_become_plain():
    assert repr(SubsetTree(np.float64(0.3), np.float32(0.5))) == "SubsetTree(decay=0.3, frontier=0.5)"


@pytest.mark.parametrize(
    "kernel",
    [SubsetTree(), Normalized(SubsetTree()), SubsetTree() + PartialTree(), Power(SubsetTree(), 2), SharedWords()],
)
def test_masked_cotangents_are_refused(kernel):
    _, pull_back = kernel.vjp(TREES)
    cotangent = np.ma.masked_array(np.ones((3, 3)), mask=np.eye(3)[::-1])
    with pytest.raises(
        InputError, match=r"The array of gradient weights is masked in 3 entries, the first is \[0, 2\]"
    ):
        pull_back(cotangent)
