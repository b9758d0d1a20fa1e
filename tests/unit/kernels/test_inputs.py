"""One side of a kernel call: whose vocabulary new rows share, and what each side refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

import espalier as es
from espalier.kernels.inputs import Inputs

TREES = [
    "(S (NP (D the) (N cat)) (VP (V sleeps)))",
    "(S (NP (D the) (N dog)) (VP (V eats)))",
    "(S (NP (D a) (N dog)) (VP (V sleeps)))",
    "(S (NP (N fish)) (VP (V swims)))",
]
Y = np.array([1.0, 2.0, 1.5, -1.0])
NEW = ["(Z (Q q) (D the))", "(S (VP (V eats)) (NP (D the) (N dog)))", "(NP (D the) (N cat))"]


def plain(trees):
    return trees


def tables(trees):
    return {"tree": trees, "x": np.arange(float(len(trees)))}


ON_TREE = es.SubsetTree(on="tree") + es.Constant()
MODELS = {
    "process": (es.GPRegressor(es.SubsetTree(), noise=0.1, learn=False), plain),
    "regressor": (es.KernelSVR(es.SubsetTree(), epsilon=0.01), plain),
    "normalised": (es.KernelSVR(es.Normalized(es.SubsetTree()), epsilon=0.01), plain),
    "process of a table": (es.GPRegressor(ON_TREE, noise=0.1, learn=False), tables),
    "regressor of a table": (es.KernelSVR(ON_TREE, epsilon=0.01), tables),
}


@pytest.mark.parametrize("train", [list, es.Forest.from_trees], ids=["list", "forest"])
@pytest.mark.parametrize("name", MODELS)
def test_a_forest_interned_on_its_own_is_predicted_like_its_trees(name, train):
    model, wrap = MODELS[name]
    rows = train(TREES)
    labels = list(rows.vocabulary) if isinstance(rows, es.Forest) else []
    model.fit(wrap(rows), Y)
    expected = model.predict(wrap(NEW))
    forest = es.Forest.from_trees(NEW)
    for _ in range(2):
        np.testing.assert_array_equal(model.predict(wrap(forest)), expected)
        np.testing.assert_array_equal(model.predict(wrap(forest[1:])), expected[1:])
    if labels:
        assert list(rows.vocabulary) == labels
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(again.predict(wrap(es.Forest.from_trees(NEW))), expected, rtol=1e-12)


def test_all_that_a_process_predicts_takes_a_forest_of_its_own():
    model = es.GPRegressor(es.SubsetTree(es.PerLabel(0.4)), noise=0.1, learn=False).fit(TREES, Y)
    forest = es.Forest.from_trees(NEW)
    for ours, theirs in zip(model.predict(forest, return_std=True), model.predict(NEW, return_std=True), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(model.predict(forest, return_cov=True), model.predict(NEW, return_cov=True), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    drawn = [model.sample_posterior(X, 2, random_state=0) for X in (forest, NEW)]
    np.testing.assert_allclose(*drawn)


def test_a_classifier_takes_a_forest_of_its_own_in_blocks_too():
    model = es.KernelSVC(es.SubsetTree()).fit(TREES, ["a", "b", "a", "b"])
    forest = es.Forest.from_trees(NEW * 40)
    expected = model.decision_function(NEW * 40)
    np.testing.assert_array_equal(model.decision_function(forest), expected)
    model.set_params(memory=4000)
    np.testing.assert_allclose(model.decision_function(forest), expected, rtol=1e-12)


@pytest.mark.parametrize("call", [lambda a, b: es.SubsetTree()(a, b), lambda a, b: es.nearest(es.SubsetTree(), a, b)])
def test_two_forests_that_a_caller_compares_must_agree(call):
    a, b = es.Forest.from_trees(TREES), es.Forest.from_trees(NEW)
    with pytest.raises(es.errors.VocabularyMismatchError, match=r"with_vocabulary\(first.vocabulary"):
        call(a, b)
    assert call(a, b.with_vocabulary(a.vocabulary.extended())) is not None


def test_a_second_side_that_agrees_is_not_interned_again():
    forest = es.Forest.from_trees(TREES)
    first = Inputs.of(forest)
    first.forest(None)
    view = forest[1:]
    assert Inputs.of(view, like=first).forest(None) is view


@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        (np.eye(2), TypeError, "^Column 'x': .* reads trees, .* numbers, an array of float64.*such as RBF\\(on='x'\\)"),
        (np.arange(2), TypeError, "^Column 'x': .* reads trees, but was given numbers, an array of int64"),
        (
            sparse.csr_matrix(np.eye(2)),
            TypeError,
            "^Column 'x': .* reads trees, but was given numbers, a sparse matrix",
        ),
        ([[1.0, 2.0], [3.0, 4.0]], TypeError, "^Column 'x': Row 0: as_tree converts"),
        (["(A a)", None], es.InputError, "^Column 'x': Row 1 has no tree"),
        (["(A a)", "(A a"], es.errors.TreeSyntaxError, "^column 'x', row 1, line 1, column 1: this bracket"),
        ([es.Tree("a"), "(A a"], es.errors.TreeSyntaxError, "^column 'x', row 1, line 1, column 1: this bracket"),
    ],
)
def test_what_is_no_column_of_trees_names_the_column(column, error, message):
    with pytest.raises(error, match=message):
        es.SubsetTree(on="x")({"x": column})


def test_vectors_alone_are_no_trees():
    for rows in (np.eye(2), sparse.csr_matrix(np.eye(2))):
        with pytest.raises(TypeError, match=r"This kernel reads trees, but was given numbers, .*such as RBF"):
            es.SubsetTree()(rows)


BOTH = r"reads as a tree in brackets, .*Forest\.from_trees.*Sequences\.from_items\(texts\) or lists of words"
SEQUENCE_KERNELS = [
    es.BagOfWords(),
    es.Spectrum(2),
    es.Subsequence(2),
    es.Subsequence(2, of="characters"),
    es.Normalized(es.BagOfWords()),
    es.Tagging(),
]


@pytest.mark.parametrize("kernel", SEQUENCE_KERNELS, ids=repr)
def test_a_string_that_reads_as_a_tree_is_refused_by_kernels_of_sequences(kernel):
    for call in (
        lambda: kernel(TREES),
        lambda: kernel(np.array(TREES)),
        lambda: kernel.diagonal(TREES),
        lambda: kernel.value(TREES[0], TREES[1]),
        lambda: es.nearest(kernel, TREES, TREES),
        lambda: es.GPRegressor(kernel).fit(TREES, Y),
        lambda: es.KernelSVR(kernel).fit(TREES, Y),
    ):
        with pytest.raises(es.InputError, match="^Row 0 " + BOTH):
            call()


def test_the_refusal_names_the_column():
    with pytest.raises(es.InputError, match="^Column 'x': Row 1 " + BOTH):
        es.BagOfWords(on="x")({"x": ["the cat", TREES[0]]})


@pytest.mark.parametrize(
    "fit", [es.kernels.Idf.fit, lambda texts: es.kernels.LatentSemantic.fit(texts, n_components=1)]
)
def test_what_is_fitted_on_words_refuses_strings_that_read_as_trees(fit):
    with pytest.raises(es.InputError, match="^Row 0 " + BOTH):
        fit(TREES)
    fit(es.Forest.from_trees(TREES))


def test_kernels_of_one_column_read_its_strings_alike():
    words, trees = es.BagOfWords(), es.SubsetTree()
    forest = es.Forest.from_trees(TREES)
    expected = words(forest) + trees(forest)
    for kernel in (words + trees, trees + words, words + es.Normalized(1.0 * trees) + 1.0 * trees):
        extra = 0.0 if len(kernel.terms) == 2 else es.Normalized(trees)(forest)
        np.testing.assert_allclose(kernel(TREES), expected + extra)
        np.testing.assert_allclose(kernel(TREES, TREES[:2]), (expected + extra)[:, :2])
        np.testing.assert_allclose(kernel.diagonal(TREES), np.diag(expected + extra))
    graphs = es.WeisfeilerLehman(1)
    np.testing.assert_allclose((words + graphs)(TREES), words(forest) + graphs(TREES))
    np.testing.assert_allclose((es.Tagging() + trees)(TREES), es.Tagging()(list(forest)) + trees(forest))
    nearest = es.nearest(words + trees, TREES, TREES)[1]
    np.testing.assert_allclose(nearest[:, 0], np.max(expected, axis=1))


def test_a_column_of_trees_says_nothing_of_another_column():
    kernel = es.SubsetTree(on="tree") + es.BagOfWords(on="text")
    with pytest.raises(es.InputError, match="^Column 'text': Row 0 " + BOTH):
        kernel({"tree": TREES, "text": TREES})


LEARNERS = {
    "process": lambda kernel: es.GPRegressor(kernel, noise=0.1, learn=False),
    "machine": lambda kernel: es.KernelSVR(kernel, epsilon=0.01),
}


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_a_model_of_trees_reads_strings_as_trees(learner):
    forest = es.Forest.from_trees(TREES)
    for rows in (forest, list(forest)):
        model = learner(es.BagOfWords()).fit(rows, Y)
        expected = model.predict(es.Forest.from_trees(NEW))
        for again in (model, pickle.loads(pickle.dumps(model))):
            np.testing.assert_allclose(again.predict(NEW), expected)
            np.testing.assert_allclose(again.predict([["q", "the"]]), expected[:1])
            with pytest.raises(es.InputError, match=r"^Row 1 is not a tree in brackets, 'q the'.*lists of words"):
                again.predict([NEW[0], "q the"])


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_a_model_of_words_refuses_trees_in_brackets(learner):
    texts = ["the cat sleeps", "(sic)", "a dog sleeps :(", "fish swim"]
    for rows in (texts, es.Sequences.from_items(texts)):
        model = learner(es.BagOfWords()).fit(rows, Y)
        with pytest.raises(es.InputError, match="^Row 1 " + BOTH):
            model.predict(["the cat", TREES[0]])
        words = model.predict([["(sic)"], ["the", "cat"]])
        np.testing.assert_allclose(model.predict(["(sic)", "the cat"]), words)
        np.testing.assert_allclose(model.predict(["(sic)"]), words[:1])
        np.testing.assert_allclose(model.predict(es.Forest.from_trees(["(NP (D the) (N cat))"])), words[1:])


def test_the_rows_that_a_machine_keeps_are_read_as_all_rows_were():
    model = es.KernelSVR(es.BagOfWords(), epsilon=1.0).fit(["(sic)", "the cat", "(sad)"], [5.0, 0.0, -5.0])
    assert model.support_data_ == ["(sic)", "(sad)"]
    np.testing.assert_allclose(model.predict(["(sic)", "a dog"]), [model.dual_coef_[0, 0], 0.0], atol=1e-12)


@pytest.mark.parametrize("kernel", [es.BagOfWords(), es.Normalized(es.Subsequence(2)), es.Spectrum(1)], ids=repr)
def test_both_inputs_of_a_call_decide_together_what_strings_are(kernel):
    words = ["plain text (sic)"]
    expected = kernel([["plain", "text", "(sic)"]], [["(sic)"]])
    np.testing.assert_array_equal(kernel(words, ["(sic)"]), expected)
    np.testing.assert_array_equal(kernel(["(sic)"], words), expected.T)
    brackets = ["(NP (D the) (N cats))"]
    trees = [es.Tree.from_brackets(text) for text in brackets]
    np.testing.assert_array_equal(kernel(trees, brackets), kernel(trees, trees))
    np.testing.assert_array_equal(kernel(brackets, trees), kernel(trees, trees))


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (["plain text"], ["(S (N cats))"], BOTH),
        (["(N cats)"], ["(N dogs)"], BOTH),
        ([["plain", "text"]], ["(N cats)"], BOTH),
        (["plain text"], es.Forest.from_trees(["(N cats)"]), "is not a tree in brackets, 'plain text'"),
        (["plain text"], [es.Tree.from_brackets("(N cats)")], "is not a tree in brackets, 'plain text'"),
    ],
)
def test_what_is_refused_does_not_depend_on_the_order_of_the_inputs(one, other, message):
    for a, b in ((one, other), (other, one)):
        with pytest.raises(es.InputError, match="^Row 0 " + message):
            es.BagOfWords()(a, b)
        with pytest.raises(es.InputError, match="^Column 'x': Row 0 " + message):
            es.BagOfWords(on="x")({"x": a}, {"x": b})


def test_words_in_brackets_can_be_chosen():
    corpus = es.Sequences.from_items(TREES)
    assert es.BagOfWords()(corpus)[0, 0] == len(TREES[0].split())
    assert es.BagOfWords()([text.split() for text in TREES])[0, 0] == len(TREES[0].split())
