"""Mining against listing: every fragment of small trees, weighed from the definition."""

from __future__ import annotations

import numpy as np
import pytest
from tests.random_trees import random_trees
from tests.reference.fragment_weights import fragment_weights, partial_tree_features, subset_tree_features

import espalier as es
from espalier import InputError, PerLabel, fixed
from espalier.fragments import mine_fragments
from espalier.jobs import Progress

LABELS = ("S", "NP", "VP", "N")
MANY = 10**6  # more than the fragments of any corpus here


def settings(seed, *, zero=False):
    """A decay and a frontier for each label, some above 1."""
    rng = np.random.default_rng(seed)
    decay = dict(zip(LABELS, rng.uniform(0.1, 1.6, len(LABELS)).tolist(), strict=True))
    frontier = dict(zip(LABELS, rng.uniform(0.0, 2.0, len(LABELS)).tolist(), strict=True))
    return decay, dict.fromkeys(LABELS, 0.0) if zero else frontier


def per_label(values):
    return PerLabel(1.0, values=values)


def listed(mined):
    return {str(fragment): weight for fragment, weight in mined}


def oracle(trees, coefficients, decay, frontier, **options):
    features = subset_tree_features(
        lambda label: decay.get(label, 1.0), lambda label: frontier.get(label, 1.0), **options
    )
    return fragment_weights(trees, coefficients, features)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n", [3, 20, MANY])
def test_exact_mining_lists_the_heaviest_fragments(seed, n):
    trees = random_trees(seed, 8, max_size=12)
    coefficients = np.random.default_rng(seed).normal(size=len(trees))
    decay, frontier = settings(seed, zero=seed % 5 == 4)
    max_depth = (None, 2, 3)[seed % 3]
    kernel = es.SubsetTree(per_label(decay), fixed(0) if seed % 5 == 4 else per_label(frontier), max_depth)
    if seed % 5 == 4 and max_depth is None:
        kernel = es.Subtree(per_label(decay))
    true = oracle(trees, coefficients, decay, frontier, max_depth=max_depth)
    (mined,) = mine_fragments(coefficients, trees, n, kernel=kernel, n_threads=1)
    found = listed(mined)
    assert mined.proven and len(found) == len(mined)
    assert all(found[fragment] == pytest.approx(true[fragment], rel=1e-10, abs=1e-13) for fragment in found)
    heaviest = sorted((abs(weight) for weight in true.values() if abs(weight) > 1e-12), reverse=True)[:n]
    assert np.abs(mined.weights[: len(heaviest)]) == pytest.approx(heaviest, rel=1e-10)
    assert np.abs(mined.weights[len(heaviest) :]) == pytest.approx(0, abs=1e-12)
    if n < len(heaviest):
        assert mined.bound == pytest.approx(heaviest[-1])


@pytest.mark.parametrize("seed", range(6))
def test_greedy_mining_weighs_right_and_finds_all_where_there_is_room(seed):
    trees = random_trees(seed, 8, max_size=12)
    coefficients = np.abs(np.random.default_rng(seed).normal(size=len(trees)))
    decay, frontier = settings(seed)
    kernel = es.SubsetTree(per_label(decay), per_label(frontier))
    true = oracle(trees, coefficients, decay, frontier)
    (mined,) = mine_fragments(coefficients, trees, MANY, kernel=kernel, strategy="greedy")
    assert listed(mined) == pytest.approx(true)
    assert not mined.proven and mined.bound == np.inf


@pytest.mark.parametrize("seed", range(3))
def test_fragments_can_be_limited_in_size(seed):
    trees = random_trees(seed, 8, max_size=12)
    coefficients = np.random.default_rng(seed).normal(size=len(trees))
    decay, frontier = settings(seed)
    kernel = es.SubsetTree(per_label(decay), per_label(frontier))
    small = {
        fragment: weight
        for fragment, weight in oracle(trees, coefficients, decay, frontier).items()
        if es.Fragment.from_brackets(fragment).n_productions <= 2
    }
    for strategy in ("exact", "greedy"):
        (mined,) = mine_fragments(coefficients, trees, MANY, kernel=kernel, max_size=2, strategy=strategy)
        assert listed(mined) == pytest.approx(small) and mined.max_size == 2


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n", [3, 25, MANY])
def test_partial_trees_are_mined_up_to_a_size(seed, n):
    trees = random_trees(seed, 6, max_size=9)
    coefficients = np.random.default_rng(seed).normal(size=len(trees))
    decay, depth_decay = settings(seed)
    depth_decay = {label: value + 0.05 for label, value in depth_decay.items()}
    kernel = es.PartialTree(per_label({**decay, "<leaf>": 0.7}), per_label({**depth_decay, "<leaf>": 0.9}))
    max_size = (2, 4, 9)[seed % 3]
    features = partial_tree_features(
        lambda label: 0.7 if label is None else decay[label],
        lambda label: 0.9 if label is None else depth_decay[label],
        max_size,
    )
    true = fragment_weights(trees, coefficients, features)
    (mined,) = mine_fragments(coefficients, trees, n, kernel=kernel, max_size=max_size)
    found = dict(zip(mined.fragments.names(), mined.weights.tolist(), strict=True))
    assert mined.proven and len(found) == len(mined) and mined.max_size == max_size
    assert found == {fragment: pytest.approx(true[fragment], rel=1e-9, abs=1e-12) for fragment in found}
    heaviest = sorted((abs(weight) for weight in true.values() if abs(weight) > 1e-12), reverse=True)[:n]
    assert np.abs(mined.weights[: len(heaviest)]) == pytest.approx(heaviest, rel=1e-9)
    assert [str(fragment) for fragment in mined.fragments] == mined.fragments.names()


def test_greedy_mining_may_miss_what_exact_mining_finds():
    # (S (A) (B)) has no weight, for its trees cancel; with both words it weighs most.
    trees = ["(S (A a) (B b))", "(S (A c) (B d))", "(A a)", "(B b)"]
    coefficients = [1.0, -1.0, -1.0, -1.0]
    kernel = es.SubsetTree(0.9)
    exact, greedy = (
        mine_fragments(coefficients, trees, 1, kernel=kernel, strategy=strategy)[0] for strategy in ("exact", "greedy")
    )
    assert abs(exact.weights[0]) >= abs(greedy.weights[0])
    assert listed(mine_fragments(coefficients, trees, 100, kernel=kernel)[0]).keys() > listed(greedy).keys()


def test_how_many_nodes_greedy_expands_at_once_can_be_limited():
    trees = ["(S (A a) (B b) (C c))"]
    visited = [
        mine_fragments([1.0], trees, 1, kernel=es.SubsetTree(0.5), strategy="greedy", max_expansions=k)[0].n_visited
        for k in (1, None)
    ]
    assert visited[0] <= visited[1]


def test_words_alone_are_fragments_where_the_kernel_counts_them():
    trees = ["(S (A a) a)", "(S (A b))"]
    (mined,) = mine_fragments([1.0, -1.0], trees, 10, kernel=es.SubsetTree(0.25, lone_leaves=True))
    found = listed(mined)
    assert found["a"] == pytest.approx(2 * 0.5) and found["b"] == pytest.approx(-0.5)
    assert mined.fragments.names()[0] == "a"
    value = es.SubsetTree(0.25, lone_leaves=True).value(*trees)
    (own,) = mine_fragments([1.0, 0.0], trees, 100, kernel=es.SubsetTree(0.25, lone_leaves=True))
    (other,) = mine_fragments([0.0, 1.0], trees, 100, kernel=es.SubsetTree(0.25, lone_leaves=True))
    common = listed(own).keys() & listed(other).keys()
    assert sum(listed(own)[f] * listed(other)[f] for f in common) == pytest.approx(value)


# Models


TREES, NEW = (
    [tree for tree in random_trees(seed, 60, max_size=11) if tree.children][:n] for seed, n in ((3, 24), (4, 6))
)
Y = np.array([str(tree).count("N") for tree in TREES], float)


def explicit_scores(mined, forests, kernels, n_rows):
    """Scores from all fragments: the sum of weight times feature over norm, for each row."""
    total = np.zeros(n_rows)
    for part in mined:
        kernel = part.term.kernel
        weights = listed(part)
        features = subset_tree_features(
            lambda label, kernel=kernel: es.kernels.number_of(kernel.decay),
            lambda label, kernel=kernel: es.kernels.number_of(kernel.frontier),
        )
        for row, tree in enumerate(forests[part.term.column]):
            norm = np.prod([np.sqrt(inner.value(*[kernels(row)] * 2)) for inner in part.term.norms])
            total[row] += sum(weights.get(f, 0.0) * value for f, value in features(tree).items()) / (norm or np.inf)
    return total


@pytest.mark.parametrize("kernel", [es.SubsetTree(0.3), 2.0 * es.Normalized(es.SubsetTree(0.5, 0.7))], ids=repr)
def test_all_fragments_together_are_the_model(kernel):
    models = [
        es.GPRegressor(kernel, noise=0.1, learn=False).fit(TREES, Y),
        es.KernelSVR(kernel, C=10.0).fit(TREES, Y),
        es.KernelSVC(kernel, C=10.0).fit(TREES, Y > 1),
    ]
    for model in models:
        mined = mine_fragments(model, n=MANY)
        score = model.decision_function if hasattr(model, "decision_function") else model.predict
        own = explicit_scores(mined, {None: NEW}, lambda row: NEW[row], len(NEW)) + model.dual_form().intercepts[0]
        assert own == pytest.approx(score(NEW), rel=1e-9, abs=1e-9)


def test_every_class_has_fragments_of_its_own():
    labels = np.array(["none", "one", "many"])[np.minimum(Y, 2).astype(int)]
    model = es.KernelSVC(es.SubsetTree(0.3)).fit(TREES, labels)
    mined = mine_fragments(model, TREES, n=10)
    assert [part.name for part in mined] == ["many", "none", "one"]
    pairs = es.KernelSVC(es.SubsetTree(0.3), strategy="one-vs-one").fit(TREES, labels)
    assert [part.name for part in mine_fragments(pairs, n=10)] == ["many, not none", "many, not one", "none, not one"]
    frame = mined.to_frame()
    assert list(frame.columns) == ["score", "term", "column", "fragment", "weight"] and len(frame) == 30


def test_sums_over_columns_are_mined_term_by_term():
    table = {"a": TREES, "b": TREES[::-1], "x": np.arange(len(TREES), dtype=float)}
    kernel = 0.5 * es.Normalized(es.SubsetTree(0.3, on="a")) + es.Subtree(0.4, on="b") + es.RBF(on="x")
    model = es.GPRegressor(kernel, learn=False).fit(table, Y)
    mined = mine_fragments(model, n=MANY)
    assert [(part.term.path, part.term.column) for part in mined] == [("terms[0]", "a"), ("terms[1]", "b")]
    assert mined.left_out == (es.RBF(on="x"),)
    subset = explicit_scores([mined[0]], {"a": TREES}, lambda row: {"a": TREES[row]}, len(TREES))
    assert subset == pytest.approx(kernel.terms[0](table, table) @ model.dual_form().coefficients[0])


def test_a_normalised_sum_divides_all_its_terms_by_one_norm():
    kernel = es.Normalized(es.SubsetTree(0.3) + 2.0 * es.SubsetTree(0.6))
    coefficients = np.random.default_rng(0).normal(size=len(TREES))
    mined = mine_fragments(coefficients, TREES, MANY, kernel=kernel)
    assert [part.term.scale for part in mined] == [1.0, 2.0]
    own = explicit_scores(mined, {None: NEW}, lambda row: NEW[row], len(NEW))
    assert own == pytest.approx(kernel(NEW, TREES) @ coefficients)


# Searching


def test_threads_change_nothing():
    forest = es.Forest.from_trees(random_trees(5, 60, max_size=30, depth=6))
    coefficients = np.random.default_rng(1).normal(size=len(forest))
    one, two = (mine_fragments(coefficients, forest, 500, kernel=es.SubsetTree(0.4), n_threads=k)[0] for k in (1, 3))
    assert one.fragments.names() == two.fragments.names() and (one.weights == two.weights).all()


def test_a_search_that_gives_up_says_how_heavy_the_rest_may_be():
    trees = random_trees(6, 20, max_size=25, depth=6)
    coefficients = np.random.default_rng(2).normal(size=len(trees))
    kernel = es.SubsetTree(1.2)
    (whole,) = mine_fragments(coefficients, trees, 2000, kernel=kernel)
    (part,) = mine_fragments(coefficients, trees, 2000, kernel=kernel, max_visits=100)
    assert not part.proven and part.n_visited < whole.n_visited
    found = listed(part)
    missed = [abs(weight) for name, weight in listed(whole).items() if name not in found]
    assert missed and max(missed) <= part.bound * (1 + 1e-9)


@pytest.mark.parametrize("kernel", [es.SubsetTree(1.2), es.PartialTree(1.1, 1.1)])
def test_threads_change_nothing_where_a_search_gives_up(kernel):
    trees = random_trees(6, 60, max_size=40, depth=7)
    coefficients = np.random.default_rng(2).normal(size=len(trees))
    one, *others = (
        mine_fragments(coefficients, trees, 2000, kernel=kernel, max_visits=3000, n_threads=k)[0]
        for k in (1, *12 * [3])
    )
    for other in others:
        assert listed(other) == listed(one) and (other.bound, other.n_visited) == (one.bound, one.n_visited)


def test_the_cost_of_partial_fragments_follows_the_trees_and_not_the_largest_size():
    trees = ["(S (A a) (B b))", "(S (A c) (B b))"]
    options = {"kernel": es.PartialTree(), "n_threads": 1}
    (five,) = mine_fragments([1.0, -1.0], trees, max_size=5, **options)
    (any_size,) = mine_fragments([1.0, -1.0], trees, max_size=10**9, **options)  # tables of that width would not fit
    assert listed(any_size) == listed(five) and any_size.max_size == 10**9


def test_views_and_rows_without_a_coefficient_make_no_difference():
    forest = es.Forest.from_trees(TREES)
    coefficients = np.random.default_rng(3).normal(size=len(TREES))
    coefficients[::2] = 0
    (whole,) = mine_fragments(coefficients, forest, 50, kernel=es.SubsetTree(0.4))
    (view,) = mine_fragments(coefficients[1::2], forest[1::2], 50, kernel=es.SubsetTree(0.4))
    assert listed(whole) == pytest.approx(listed(view))


def test_chains_are_no_matter_of_the_stack():
    deep = es.Tree("x")
    for _ in range(5000):
        deep = es.Tree("A", [deep])
    (mined,) = mine_fragments([1.0], [deep], 5, kernel=es.SubsetTree(0.4))
    assert mined.fragments.names()[:2] == ["(A (A))", "(A (A (A)))"]
    assert mined.weights[0] == pytest.approx(4999 * 0.4**0.5)


def test_progress_counts_and_interrupts():
    seen = []
    trees = random_trees(7, 200, max_size=80, depth=9)  # a search of many seconds
    coefficients = np.random.default_rng(4).normal(size=len(trees))

    def stop(state):
        seen.append(state)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mine_fragments(coefficients, trees, 10**6, kernel=es.SubsetTree(1.5), progress=stop)
    (told,) = seen
    assert isinstance(told, Progress) and told.what == "mining" and 0 <= told.fraction <= 1
    assert told.name == "score" and told.n_visited > 0


def test_what_waits_stays_within_its_memory():
    trees = random_trees(7, 80, max_size=40, depth=7)
    with pytest.raises(es.errors.MemoryBudgetError, match="Ask for fewer fragments"):
        mine_fragments(np.ones(len(trees)), trees, 10**6, kernel=es.SubsetTree(1.5), memory=3000)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((object(),), {}, TypeError, "dual_form"),
        (([1.0], ["(S a)"]), {}, ValueError, "need rows and a kernel"),
        (([1.0],), {"kernel": es.SubsetTree()}, ValueError, "need rows and a kernel"),
        (([1.0, 2.0], ["(S a)"]), {"kernel": es.SubsetTree()}, ValueError, "1 rows, but coefficients of shape"),
        (([np.nan], ["(S a)"]), {"kernel": es.SubsetTree()}, InputError, "not a finite number"),
        (([1.0], ["(S a)"], 0), {"kernel": es.SubsetTree()}, ValueError, "n must be a positive integer, got 0"),
        (([1.0], ["(S a)"]), {"kernel": es.SubsetTree(), "strategy": "best"}, ValueError, "'exact' or 'greedy'"),
        (([1.0], ["(S a)"]), {"kernel": es.SubsetTree(), "max_expansions": 2}, ValueError, "for strategy='greedy'"),
        (([1.0], ["(S a)"]), {"kernel": es.PartialTree(), "strategy": "greedy"}, InputError, "use 'exact'"),
        (
            ([1.0], [[1.0]]),
            {"kernel": es.RBF()},
            InputError,
            "Those of BagOfWords, PartialTree, Spectrum, Subsequence, SubsetTree and Subtree",
        ),
        (([1.0], ["(S a)"]), {"kernel": es.SubsetTree() * es.Subtree()}, InputError, "not those of products"),
        ((es.KernelSVC(es.SubsetTree()),), {}, ValueError, "not fitted"),
        ((es.GPRegressor(es.SubsetTree()),), {}, ValueError, "not fitted"),
    ],
)
def test_mistakes_are_one_clear_error(arguments, options, error, message):
    with pytest.raises(error, match=message):
        mine_fragments(*arguments, **options)


def test_rows_must_be_those_of_the_model():
    model = es.GPRegressor(es.SubsetTree(), learn=False).fit(TREES, Y)
    with pytest.raises(ValueError, match="to other ones; 2 were given"):
        mine_fragments(model, TREES[:2])
    with pytest.raises(ValueError, match="a model has its own"):
        mine_fragments(model, kernel=es.SubsetTree())


def test_trees_without_any_fragment_are_no_trouble():
    (mined,) = mine_fragments([1.0, 1.0], ["(x)", "(y)"], kernel=es.SubsetTree())
    assert len(mined) == 0 and mined.proven and mined.fragments.names() == []


def test_fragments_that_weigh_too_little_are_told():
    with pytest.raises(FloatingPointError, match=r"2 of 2 items have fragments.*Use a larger decay"):
        mine_fragments([1.0, -1.0], ["(S (A a))", "(B b)"], kernel=es.Normalized(es.SubsetTree(1e-310)))


def test_masked_coefficients_are_refused():
    coefficients = np.ma.masked_array(np.ones(3), mask=[False, False, True])
    with pytest.raises(InputError, match=r"model_or_weights is masked in 1 rows, the first is row 2"):
        mine_fragments(coefficients, TREES[:3], 5, kernel=es.SubsetTree())
