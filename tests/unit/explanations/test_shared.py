"""Shared fragments: they add up to the kernel's value, and stand where they say."""

from __future__ import annotations

import random

import pytest

import espalier as es
from espalier.errors import InputError, KernelOverflowError
from espalier.explanations import shared_fragments
from espalier.structures.fragment import Fragment
from espalier.structures.tree import Tree
from reference.subset_tree import subset_tree


def random_tree(n_words: int, rng: random.Random) -> Tree:
    pool = [Tree(rng.choice("abc")) for _ in range(n_words)]
    while len(pool) > 1:
        start, n = rng.randrange(len(pool)), rng.randint(1, 3)
        pool[start : start + n] = [Tree(rng.choice(["NP", "VP"]), pool[start : start + n])]
    return pool[0]


def test_the_example_can_be_checked_by_hand():
    x = Tree.from_brackets("(S (NP (D the) (N cat)) (VP (V saw) (NP (D the) (N dog))))")
    y = Tree.from_brackets("(NP (D the) (N dog))")
    first, second, third, fourth = shared_fragments(x, y, decay=1.0)
    assert (str(first), first.weight, first.in_x, first.in_y) == ("(NP (D the) (N dog))", 4, ((1, 1),), ((),))
    assert (str(second), second.weight, second.in_x) == ("(NP (D the) (N))", 2, ((0,),))
    assert (str(third), third.weight, third.n_pairs, third.total) == ("(D the)", 1, 2, 2)
    assert (str(fourth), fourth.total, fourth.in_x, fourth.in_y) == ("(N dog)", 1, ((1, 1, 1),), ((1,),))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(("decay", "frontier"), [(0.4, 1.0), (0.7, 0.3), (0.5, 0.0)])
def test_totals_add_up_to_the_kernel(seed, decay, frontier):
    rng = random.Random(seed)
    x, y = random_tree(rng.randint(1, 9), rng), random_tree(rng.randint(1, 9), rng)
    listed = shared_fragments(x, y, decay=decay, frontier=frontier, n=None)
    assert sum(shared.total for shared in listed) == pytest.approx(kernel(x, y, decay, frontier))


def kernel(x: Tree, y: Tree, decay: float, frontier: float) -> float:
    return float(subset_tree(x, y, lambda _: decay, lambda _: frontier))


@pytest.mark.parametrize("seed", range(20))
def test_fragments_stand_where_they_say_and_are_the_largest_there(seed):
    rng = random.Random(seed)
    x, y = random_tree(25, rng), random_tree(25, rng)
    listed = shared_fragments(x, y, n=None)
    assert [shared.weight for shared in listed] == sorted((s.weight for s in listed), reverse=True)
    assert len({shared.fragment for shared in listed}) == len(listed)
    for shared in listed:
        assert set(shared.in_x) <= set(shared.fragment.occurrences(x))
        assert set(shared.in_y) <= set(shared.fragment.occurrences(y))
        assert Fragment.from_brackets(str(shared)) == shared.fragment


def test_n_limits_the_list_to_the_heaviest():
    rng = random.Random(3)
    x, y = random_tree(30, rng), random_tree(30, rng)
    assert shared_fragments(x, y, n=3) == shared_fragments(x, y, n=None)[:3]
    assert shared_fragments(x, y, n=0) == []


def test_trees_without_a_common_production_share_nothing():
    assert shared_fragments(Tree.from_brackets("(A a)"), Tree.from_brackets("(A b)")) == []
    assert shared_fragments(Tree("a"), Tree("a")) == []
    assert shared_fragments(Tree.from_brackets("(A (B b))"), Tree.from_brackets("(A B)")) == []


def test_deep_trees_need_no_recursion():
    tree = Tree("x")
    for k in range(20_000):
        tree = Tree(f"A{k}", [tree])
    (shared,) = shared_fragments(tree, tree, n=1)
    assert shared.fragment.tree == tree


def test_too_many_pairs_are_an_error_that_says_so():
    tree = Tree("x")
    for _ in range(200):
        tree = Tree("A", [tree])
    with pytest.raises(InputError, match=r"39,602 pairs .* more than max_pairs=1,000"):
        shared_fragments(tree, tree, max_pairs=1_000)


def test_overflow_is_an_error_that_suggests_a_smaller_decay():
    leaf = Tree("N", ["a"])
    with pytest.raises(KernelOverflowError, match="smaller decay"):
        shared_fragments(Tree("X", [leaf] * 3_000), Tree("X", [leaf] * 3_000), decay=1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decay": 0.0}, "decay must be a positive finite number, got 0.0"),
        ({"decay": float("nan")}, "decay must be a positive finite number, got nan"),
        ({"decay": 10**400}, "decay must be a positive finite number, got an integer of about 401 digits"),
        ({"frontier": 10**400}, "frontier must be 0 or a positive finite number, got an integer of about 401 digits"),
        ({"n": 1.5}, "n must be an integer of at least 0, or None for all, got 1.5"),
        ({"frontier": -1.0}, "frontier must be 0 or a positive finite number"),
        ({"n": -1}, "n must be an integer of at least 0, or None for all, got -1"),
    ],
)
def test_bad_settings_are_errors(options, message):
    with pytest.raises(ValueError, match=message):
        shared_fragments(Tree("a"), Tree("a"), **options)


def test_only_trees_are_compared():
    with pytest.raises(TypeError, match="compares two Trees, got str"):
        shared_fragments("(A a)", Tree("a"))


# Kernels

PER_LABEL = es.PerLabel(0.4, values={"NP": 0.7})
KERNELS = [
    es.SubsetTree(0.6, 0.8),
    es.Subtree(0.6),
    es.SubsetTree(PER_LABEL, es.PerLabel(1.0, values={"VP": 0.2})),
    es.Normalized(es.SubsetTree(0.4)),
    2.5 * es.Normalized(es.SubsetTree(PER_LABEL)),
    es.Normalized(3.0 * es.Subtree(PER_LABEL)),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_totals_add_up_to_the_value_of_a_kernel(kernel):
    rng = random.Random(5)
    for _ in range(10):
        x, y = random_tree(rng.randint(2, 9), rng), random_tree(rng.randint(2, 9), rng)
        total = sum(shared.total for shared in shared_fragments(x, y, kernel, n=None))
        assert total == pytest.approx(kernel.value(x, y))


def test_a_kernel_with_a_column_compares_the_trees_of_that_column():
    tree = Tree.from_brackets("(A a)")
    assert shared_fragments(tree, tree, es.Normalized(es.SubsetTree(0.3, on="t")))[0].total == pytest.approx(1.0)


def test_numbers_stand_for_a_kernel():
    rng = random.Random(3)
    x, y = random_tree(30, rng), random_tree(30, rng)
    assert shared_fragments(x, y) == shared_fragments(x, y, es.SubsetTree())
    numbers = shared_fragments(x, y, decay=0.3, frontier=0.5, n=None)
    assert numbers == shared_fragments(x, y, es.SubsetTree(0.3, 0.5), n=None)


def test_leaves_alone_share_nothing_in_a_normalised_kernel():
    assert shared_fragments(Tree("a"), Tree.from_brackets("(A a)"), es.Normalized(es.SubsetTree())) == []


@pytest.mark.parametrize(
    "kernel",
    [
        es.SubsetTree(0.4, max_depth=2),
        es.Subtree(lone_leaves=True),
        es.PartialTree(),
        es.SubsetTree() + es.Subtree(),
        es.SubsetTree() + es.RBF(on="x"),
        es.RBF(),
        es.SubsetTree() * es.Subtree(),
    ],
    ids=repr,
)
def test_other_kernels_are_refused(kernel):
    with pytest.raises(InputError, match="one SubsetTree or Subtree"):
        shared_fragments(Tree("a"), Tree("a"), kernel)


def test_a_kernel_is_one_and_has_its_own_numbers():
    with pytest.raises(TypeError, match="kernel must be a kernel of Espalier such as SubsetTree"):
        shared_fragments(Tree("a"), Tree("a"), 0.4)
    for options in ({"decay": 0.4}, {"frontier": 1.0}):
        with pytest.raises(ValueError, match="kernel has its own decay and frontier"):
            shared_fragments(Tree("a"), Tree("a"), es.SubsetTree(), **options)
