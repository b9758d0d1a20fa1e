"""Explanations against listing: weights, contributions and shares of nodes that add up to the score."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from tests.random_trees import random_trees
from tests.reference.fragment_weights import (
    fragment_weights,
    node_shares,
    normalized,
    partial_tree_features,
    subset_tree_features,
)

import espalier as es
from espalier.gram.forms import DualForm
from espalier.kernels.inputs import Inputs

TREES, NEW = (
    [tree for tree in random_trees(seed, 90, max_size=11) if tree.children][:n] for seed, n in ((3, 30), (4, 8))
)
Y = np.array([str(tree).count("N") for tree in TREES], float)
KERNEL = es.Normalized(es.SubsetTree(0.4, 0.8))
features = normalized(subset_tree_features(lambda label: 0.4, lambda label: 0.8))
MANY = 100_000


def by_label(default, **values):
    """A decay of its own for some labels, as a hyperparameter and as a function; leaves are written LEAF."""
    own = {"<leaf>" if label == "LEAF" else label: value for label, value in values.items()}
    return es.PerLabel(default, values=own), lambda label: own.get(label or "<leaf>", default)


DECAY, decay = by_label(0.4, S=1.1, NP=0.2, LEAF=0.7)
DEPTH_DECAY, depth_decay = by_label(0.5, VP=0.9, LEAF=0.3)
PARTIAL = {
    "plain": (es.PartialTree(0.3, 0.4), partial_tree_features(lambda label: 0.3, lambda label: 0.4)),
    "normalised": (
        es.Normalized(es.PartialTree(0.5, 0.8)),
        normalized(partial_tree_features(lambda label: 0.5, lambda label: 0.8)),
    ),
    "per label": (
        es.Normalized(es.PartialTree(DECAY, DEPTH_DECAY)),
        normalized(partial_tree_features(decay, depth_decay)),
    ),
}
OTHERS = {
    "depth": (
        es.Normalized(es.SubsetTree(0.5, max_depth=2)),
        normalized(subset_tree_features(lambda label: 0.5, lambda label: 1.0, 2)),
    ),
    "leaves": (
        es.SubsetTree(DECAY, 0.6, lone_leaves=True),
        subset_tree_features(decay, lambda label: 0.6, lone_leaves=True),
    ),
    "subtrees and leaves": (
        es.Normalized(es.Subtree(0.3, lone_leaves=True)),
        normalized(subset_tree_features(lambda label: 0.3, lambda label: 0.0, lone_leaves=True)),
    ),
}


def contributions(model, tree, features):
    """What each fragment of a tree adds to the score of a machine."""
    trees = [TREES[row] for row in getattr(model, "support_", range(len(TREES)))]
    weights = fragment_weights(trees, model.dual_form().coefficients[0], features)
    return {name: weights[name] * value for name, value in features(tree).items() if name in weights}


def n_nodes(name):
    return es.Fragment.from_brackets(name).tree.size


def check_largest(why, true, n):
    """The reasons are the n largest contributions; ties may be broken either way."""
    found = {str(reason.fragment): reason.contribution for reason in why}
    assert len(found) == len(why)
    assert found == {name: pytest.approx(true.get(name, 0.0), rel=1e-9, abs=1e-12) for name in found}
    largest = sorted((abs(value) for value in true.values() if abs(value) > 1e-12), reverse=True)[:n]
    assert [abs(reason.contribution) for reason in why][: len(largest)] == pytest.approx(largest, rel=1e-9)


# A model


def test_the_fragments_of_a_model_have_its_largest_weights():
    model = es.KernelSVR(KERNEL, C=10.0).fit(TREES, Y)
    dual = model.dual_form()
    kept = [TREES[row] for row in model.support_]
    true = fragment_weights(kept, dual.coefficients[0], features)
    explanation = es.explain(model, n=12)
    heaviest = sorted(map(abs, true.values()), reverse=True)[:12]
    assert [abs(reason.weight) for reason in explanation] == pytest.approx(heaviest)
    for reason in explanation:
        assert reason.weight == pytest.approx(true[str(reason.fragment)])
        assert reason.low is None and reason.contribution is None
        assert reason.n_trees == sum(bool(reason.fragment.occurrences(tree)) for tree in kept)
        assert reason.example.position in reason.fragment.occurrences(reason.example.tree)
        assert reason.example.tree == kept[reason.example.row]


def test_every_class_is_explained():
    labels = np.array(["none", "one", "many"])[np.minimum(Y, 2).astype(int)]
    explanation = es.explain(es.KernelSVC(KERNEL).fit(TREES, labels), n=5)
    assert explanation.scores == ["many", "none", "one"] and len(explanation.of("one")) == 5
    assert list(explanation.to_frame().columns) == ["score", "fragment", "weight", "n_trees"]


def test_weights_of_a_process_lie_in_their_posterior_intervals():
    # Bayesian linear regression on all fragments, written out.
    noise, scale = 0.3, 1.7
    model = es.GPRegressor(scale * KERNEL, noise=noise, learn=False).fit(TREES, Y)
    rows = [features(tree) for tree in TREES]
    names = sorted(set().union(*rows))
    X = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    unit = Y.std()
    precision = np.eye(len(names)) / scale + X.T @ X / noise
    covariance = np.linalg.inv(precision)
    mean = covariance @ X.T @ ((Y - Y.mean()) / unit) / noise
    for reason in es.explain(model, n=10):
        k = names.index(str(reason.fragment))
        deviation = unit * np.sqrt(covariance[k, k])
        assert reason.weight == pytest.approx(unit * mean[k], rel=1e-6)
        assert reason.high - reason.weight == pytest.approx(1.96 * deviation, rel=1e-4)
        assert reason.weight - reason.low == pytest.approx(1.96 * deviation, rel=1e-4)


# An example


@pytest.mark.parametrize("k", range(4))
def test_fragments_and_nodes_of_an_example_add_up_to_its_score(k):
    model = es.KernelSVC(KERNEL, C=10.0).fit(TREES, Y > 1)
    kept = [TREES[row] for row in model.support_]
    weights = fragment_weights(kept, model.dual_form().coefficients[0], features)
    own = features(NEW[k])
    true = {fragment: weights[fragment] * value for fragment, value in own.items() if fragment in weights}
    why = es.explain(model, NEW[k], n=10_000)
    assert why.value == pytest.approx(model.decision_function([NEW[k]])[0])
    found = {str(reason.fragment): reason.contribution for reason in why}
    assert found == pytest.approx({name: value for name, value in true.items() if abs(value) > 1e-14})
    assert why.intercept + sum(found.values()) == pytest.approx(why.value)
    (tree,) = why.trees
    plain = subset_tree_features(lambda label: 0.4, lambda label: 0.8)(NEW[k])
    norm = np.sqrt(sum(value**2 for value in plain.values()))
    shares = np.array(node_shares(NEW[k], weights, lambda label: 0.4, lambda label: 0.8)) / norm
    assert tree.shares == pytest.approx(shares, abs=1e-12) and tree.split == "equal"
    assert tree.shares.sum() + why.intercept == pytest.approx(why.value)
    frame = why.nodes()
    assert len(frame) == NEW[k].size and frame["share"].sum() == pytest.approx(tree.total)


@pytest.mark.parametrize(("mean", "spread"), [(None, 0.0), ("constant", 10.0), (es.gp.ConstantMean(0.7), 0.7)])
@pytest.mark.parametrize(
    "options", [{}, {"target_transform": "log"}, {"standardize": False}, {"noise": es.PerLabel(0.2)}]
)
def test_the_variance_of_an_explanation_is_that_of_the_prediction_with_any_mean(mean, spread, options):
    y = np.exp(0.3 * (Y - Y.mean())) + 3.0
    groups = {"noise_groups": ["a", "b"] * (len(y) // 2)} if "noise" in options else {}
    weight = np.linspace(0.5, 2.0, len(y))
    model = es.GPRegressor(0.7 * es.Normalized(es.SubsetTree(0.6)), mean=mean, learn=False, **options)
    model.fit(TREES, y, sample_weight=weight, **groups)
    example = TREES[4]  # whose fragments were all seen
    why = es.explain(model, example, n=MANY)
    ends = model.predict_distribution([example], include_noise=False).quantiles([ndtr(-1.0), ndtr(1.0)])[0]
    deviation = np.diff(model.transform_.forward(ends)[0])[0] / 2
    assert why.variance == pytest.approx(deviation**2, rel=1e-6)
    # From the definition: what the function without its mean shares with the function.
    K, cross = model.kernel_(TREES), model.kernel_(TREES, [example])[:, 0]
    noise = (0.2 if "noise" in options else 0.1) / weight
    shared = cross @ np.linalg.solve(K + spread**2 + np.diag(noise), cross + spread**2)
    unit = np.std(model.transform_.forward(y)[0]) if options.get("standardize", True) else 1.0
    expected = unit**2 * (model.kernel_.value(example, example) - shared)
    assert sum(reason.variance for reason in why) == pytest.approx(expected, rel=1e-6)


def test_the_variance_of_a_prediction_is_that_of_its_fragments():
    model = es.GPRegressor(1.3 * KERNEL, noise=0.2, learn=False, mean="constant").fit(TREES, Y)
    why = es.explain(model, TREES[5], n=100_000)
    mean, std = model.predict([TREES[5]], return_std=True, include_noise=False)
    assert why.value == pytest.approx(mean[0])
    plain = es.GPRegressor(1.3 * KERNEL, noise=0.2, learn=False).fit(TREES, Y)
    why = es.explain(plain, TREES[5], n=100_000)
    mean, std = plain.predict([TREES[5]], return_std=True, include_noise=False)
    assert np.sqrt(why.variance) == pytest.approx(std[0])
    assert sum(reason.variance for reason in why) == pytest.approx(why.variance)


@pytest.mark.parametrize("name", [*PARTIAL, *OTHERS])
@pytest.mark.parametrize("k", range(4))
def test_other_tree_kernels_share_by_roots_and_list_fragments(name, k):
    kernel, features = (PARTIAL | OTHERS)[name]
    model = es.KernelSVR(kernel, C=10.0).fit(TREES, Y)
    why = es.explain(model, NEW[k], n=MANY, max_size=MANY)
    (tree,) = why.trees
    assert tree.split == "root" and why.intercept + tree.shares.sum() == pytest.approx(why.value)
    assert why.value == pytest.approx(model.predict(NEW[k : k + 1])[0])
    assert sum(reason.contribution for reason in why) == pytest.approx(why.value - why.intercept)
    true = contributions(model, NEW[k], features)
    check_largest(why, true, MANY)
    check_largest(es.explain(model, NEW[k], n=4, max_size=MANY), true, 4)


@pytest.mark.parametrize("name", PARTIAL)
@pytest.mark.parametrize("max_size", [1, 3, None])
@pytest.mark.parametrize("n", [1, 7, MANY])
def test_partial_fragments_of_an_example_are_listed_up_to_a_size(name, max_size, n):
    kernel, features = PARTIAL[name]
    model = es.KernelSVC(kernel, C=10.0).fit(TREES, Y > 1)
    for tree in [*NEW, max(TREES, key=lambda tree: tree.size)]:
        true = contributions(model, tree, features)
        small = {name: value for name, value in true.items() if n_nodes(name) <= (max_size or 8)}
        why = es.explain(model, tree, n=n, max_size=max_size)
        check_largest(why, small, n)
        assert why.reasons == es.explain(model, tree, n=n, max_size=max_size, n_threads=3).reasons
        assert all(reason.contribution * reason.weight >= 0 for reason in why)


def test_subset_fragments_of_an_example_are_listed_up_to_a_size():
    model = es.KernelSVR(KERNEL, C=10.0).fit(TREES, Y)
    tree = max(TREES, key=lambda tree: tree.size)
    true = contributions(model, tree, features)
    small = {name: value for name, value in true.items() if es.Fragment.from_brackets(name).n_productions <= 2}
    assert len(small) < len(true)
    check_largest(es.explain(model, tree, n=MANY, max_size=2), small, MANY)


@pytest.mark.parametrize("name", PARTIAL)
def test_partial_fragments_of_an_example_know_what_a_process_knows(name):
    # Bayesian linear regression on all fragments, written out.
    kernel, features = PARTIAL[name]
    noise, scale = 0.3, 1.7
    model = es.GPRegressor(scale * kernel, noise=noise, learn=False).fit(TREES, Y)
    rows = [features(tree) for tree in TREES]
    names = sorted(set().union(*rows))
    X = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    unit = Y.std()
    inverse = np.linalg.inv(X @ X.T * scale + noise * np.eye(len(X)))
    mean = scale * X.T @ inverse @ ((Y - Y.mean()) / unit)
    own = X[5]
    why = es.explain(model, TREES[5], n=MANY, max_size=MANY)
    assert len(why) == np.count_nonzero(own)
    for reason in why:
        k = names.index(str(reason.fragment))
        column = scale * X[:, k]
        deviation = unit * np.sqrt(scale - column @ inverse @ column)
        assert reason.weight == pytest.approx(unit * mean[k], rel=1e-6, abs=1e-9)
        assert reason.contribution == pytest.approx(unit * mean[k] * own[k], rel=1e-6, abs=1e-9)
        assert reason.high - reason.weight == pytest.approx(1.96 * deviation, rel=1e-4)
        variance = unit**2 * own[k] * (scale * own[k] - column @ inverse @ X @ own * scale)
        assert reason.variance == pytest.approx(variance, rel=1e-6, abs=1e-9)
        assert reason.n_trees == np.count_nonzero(X[:, k])
    _, std = model.predict([TREES[5]], return_std=True, include_noise=False)
    assert sum(reason.variance for reason in why) == pytest.approx(why.variance) == pytest.approx(std[0] ** 2)


class Given:
    """A model of given coefficients; the covariance of its targets is that of its rows, plus 1."""

    def __init__(self, kernel, trees, coefficients):
        self.kernel, self.trees, self.coefficients = kernel, trees, np.array([coefficients])

    def dual_form(self):
        covariance = self.kernel(self.trees) + np.eye(len(self.trees))
        inputs = Inputs.of(self.trees)
        solve = lambda columns: np.linalg.solve(covariance, columns)  # noqa: E731
        return DualForm(self.kernel, inputs, self.coefficients, np.zeros(1), ("score",), solve)


@pytest.mark.parametrize("kernel", [es.PartialTree(0.5, 0.8), es.SubsetTree(0.5)], ids=repr)
def test_weights_that_cancel_divide_nothing(kernel):
    # 0.1 + 0.2 - 0.3 is not 0, and in another order it is.
    for coefficients in ([1.0, 0.0, -1.0, 0.5], [0.1, 0.2, -0.3, 0.5], [-0.3, 0.1, 0.2, 0.5], [0.0] * 4):
        trees = ["(S (A a))", "(S (A a) (B b))", "(S (A a) (C c))", "(T t)"]
        with np.errstate(all="raise"):
            why = es.explain(Given(kernel, trees, coefficients), "(S (A a))", max_size=MANY)
        assert sum(reason.contribution for reason in why) == pytest.approx(why.value, abs=1e-15)
        for reason in why:
            assert 0 < reason.variance < 1


def test_long_searches_stay_within_their_memory():
    model = es.KernelSVR(es.PartialTree(1.0, 1.0), C=10.0).fit(TREES, Y)
    with pytest.raises(es.errors.MemoryBudgetError, match=r"Explaining with PartialTree\(.*\) needs more than"):
        es.explain(model, NEW[0], n=MANY, memory=4000)


def test_columns_and_other_kernels_are_told_apart():
    table = {"a": TREES, "b": TREES[::-1], "x": np.arange(len(TREES), dtype=float)}
    kernel = 0.5 * es.Normalized(es.SubsetTree(0.3, on="a")) + es.Subtree(0.4, on="b") + es.RBF(on="x")
    model = es.GPRegressor(kernel, learn=False).fit(table, Y)
    row = {name: column[3:4] for name, column in table.items()}
    why = es.explain(model, row)
    assert [own.column for own in why.trees] == ["a", "b"] and why.left_out == ("RBF(on='x')",)
    assert why.intercept + sum(own.total for own in why.trees) + why.elsewhere == pytest.approx(why.value)
    assert why.value == pytest.approx(model.predict(row)[0])


def test_the_score_to_explain_can_be_chosen():
    labels = np.array(["none", "one", "many"])[np.minimum(Y, 2).astype(int)]
    model = es.KernelSVC(KERNEL).fit(TREES, labels)
    values = model.decision_function(NEW[:1])[0]
    assert es.explain(model, NEW[0]).value == pytest.approx(values.max())
    assert es.explain(model, NEW[0].to_brackets(), score="one").value == pytest.approx(values[2])
    with pytest.raises(es.InputError, match="has no score 'two'; it has 'many', 'none', 'one'"):
        es.explain(model, NEW[0], score="two")


def test_unseen_productions_and_lone_leaves_explain_nothing():
    model = es.KernelSVR(es.SubsetTree(0.4), C=10.0).fit(TREES, Y)
    for tree in ("(Q (R s))", "(x)"):
        why = es.explain(model, tree)
        assert len(why) == 0 and why.value == pytest.approx(why.intercept)
        assert why.to_html().startswith("<!doctype html>") and why.to_svg().startswith("<svg")
        with pytest.raises(ValueError, match="nothing to draw"):
            why.plot()


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        (object(), {}, TypeError, "method dual_form"),
        (es.KernelSVC(KERNEL), {}, ValueError, "not fitted"),
        (es.KernelSVR(es.RBF()).fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0]), {}, es.InputError, "cannot be listed"),
        (es.KernelSVR(KERNEL).fit(TREES, Y), {"n": 0}, ValueError, "n must be a positive integer"),
        (
            es.KernelSVR(KERNEL).fit(TREES, Y),
            {"example": TREES[0], "max_size": 0},
            ValueError,
            "max_size must be a positive integer or None",
        ),
        (
            es.KernelSVR(KERNEL).fit(TREES, Y),
            {"example": TREES[:2]},
            es.InputError,
            "Only one example can be explained at a time",
        ),
    ],
)
def test_mistakes_are_one_clear_error(model, options, error, message):
    with pytest.raises(error, match=message):
        es.explain(model, **options)
