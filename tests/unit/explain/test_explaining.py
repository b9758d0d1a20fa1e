"""Explanations against listing: weights, contributions and shares of nodes that add up to the score."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import numpy as np
import pytest
from tests.random_trees import random_trees
from tests.reference.fragment_weights import fragment_weights, node_shares, subset_tree_features

import espalier as es

TREES, NEW = (
    [tree for tree in random_trees(seed, 90, max_size=11) if tree.children][:n] for seed, n in ((3, 30), (4, 8))
)
Y = np.array([str(tree).count("N") for tree in TREES], float)
KERNEL = es.Normalized(es.SubsetTree(0.4, 0.8))


def features(tree):
    """The features of a tree in the space of KERNEL."""
    plain = subset_tree_features(lambda label: 0.4, lambda label: 0.8)(tree)
    norm = np.sqrt(sum(value**2 for value in plain.values()))
    return {fragment: value / norm for fragment, value in plain.items()}


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


@pytest.mark.parametrize(
    "kernel",
    [es.PartialTree(0.3, 0.4), es.Normalized(es.SubsetTree(0.5, max_depth=2)), es.SubsetTree(0.3, lone_leaves=True)],
    ids=repr,
)
def test_other_tree_kernels_share_by_roots(kernel):
    model = es.KernelSVR(kernel, C=10.0).fit(TREES, Y)
    why = es.explain(model, NEW[0])
    (tree,) = why.trees
    assert tree.split == "root" and why.intercept + tree.shares.sum() == pytest.approx(why.value)
    assert why.value == pytest.approx(model.predict(NEW[:1])[0])


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
            {"example": TREES[:2]},
            es.InputError,
            "One example is explained at a time",
        ),
    ],
)
def test_mistakes_are_one_clear_error(model, options, error, message):
    with pytest.raises(error, match=message):
        es.explain(model, **options)


# Pictures


@pytest.fixture(scope="module")
def explanations():
    model = es.GPRegressor(1.0 * KERNEL, noise=0.3, learn=False).fit(TREES, Y)
    return es.explain(model, n=8), es.explain(model, NEW[1], n=8)


def test_pages_need_nothing_else(explanations, tmp_path):
    for k, explanation in enumerate(explanations):
        page = explanation.to_html(tmp_path / f"{k}.html")
        assert (tmp_path / f"{k}.html").read_text() == page == explanation._repr_html_()
        assert not re.search(r"(?:src|href)\s*=", page) and "<script" not in page and "@import" not in page
        assert page.count("<svg") >= 1


def test_labels_are_escaped():
    trees = ["(S (A <b>&) (B b))", "(S (A c) (B b))", "(S (A <b>&))", "(S (A c))"]
    model = es.KernelSVR(es.SubsetTree(0.5), C=10.0).fit(trees, [1.0, 0.0, 1.0, 0.0])
    for page in (es.explain(model).to_html(), es.explain(model, trees[0]).to_html()):
        assert "<b>" not in page and "&lt;b&gt;&amp;" in page


def test_plots_show_the_largest(explanations):
    for explanation, name in zip(explanations, ("weight in the model", "added to the score"), strict=True):
        axes = explanation.plot(n=3)
        assert len(axes.patches) == 3 and axes.get_xlabel() == name


def test_a_browser_shows_the_page(explanations, tmp_path):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no Chromium here: `make browser` installs it and runs this test")
    matplotlib_image = pytest.importorskip("matplotlib.image")
    for k, explanation in enumerate(explanations):
        explanation.to_html(tmp_path / f"{k}.html")
        picture = tmp_path / f"{k}.png"
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1300,1000"]
        command = [browser, *options, f"--screenshot={picture}", (tmp_path / f"{k}.html").as_uri()]
        plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # of a sanitizer
        done = subprocess.run(command, capture_output=True, timeout=120, check=False, env=plain)
        if not picture.exists():
            pytest.skip(f"this browser takes no screenshot: {done.stderr.decode(errors='replace')[-200:]}")
        image = matplotlib_image.imread(picture)[..., :3]
        green = (image[..., 1] > image[..., 0] + 0.2) & (image[..., 1] > image[..., 2] + 0.2)
        red = (image[..., 0] > image[..., 1] + 0.4) & (image[..., 0] > image[..., 2] + 0.4)
        # Something is written, something pushes up, and not all of the page is one colour.
        assert image.std() > 0.02 and green.sum() > 200 and (red | green).sum() < 0.5 * red.size
