"""Numbers and truth values as arguments, wherever they are taken."""

from __future__ import annotations

import math

import numpy as np
import pytest

import espalier as es
from espalier.demo import generate
from espalier.gp.prediction import levels_of
from espalier.kernels import fixed as fixed_number
from espalier.kernels.expressions import parse_kernel
from espalier.parsing import PCFG, Tagger
from espalier.rerank import jackknifed
from espalier.structures.numbers import (
    as_float,
    finite_in_text,
    finite_number,
    is_whole,
    number_in_text,
    shown,
    whole_number,
)

TREES = ["(S (NP (N cats)) (VP (V sleep)))", "(S (NP (D the) (N dog)) (VP (V barks)))"]
KERNELS = {
    "max_depth": lambda n: es.SubsetTree(max_depth=n),
    "length": lambda n: es.Subsequence(n),
    "shortest": lambda n: es.Spectrum(3, n),
    "n-grams": lambda n: es.Spectrum(n),
    "iterations": lambda n: es.WeisfeilerLehman(n),
    "degree": lambda n: es.Polynomial(n),
}


@pytest.mark.parametrize("make", KERNELS.values(), ids=KERNELS)
def test_kernels_take_numpys_integers_and_keep_pythons(make):
    kernel = make(2)
    for number in (np.int64(2), np.int8(2), np.uint16(2)):
        again = make(number)
        assert again == kernel and hash(again) == hash(kernel) and repr(again) == repr(kernel)
        assert parse_kernel(repr(again)) == again
    for wrong in (True, np.True_, 2.0, "2", -1, 2**31, 10**5000):
        with pytest.raises(ValueError, match="must be"):
            make(wrong)


def test_everything_that_counts_takes_numpys_integers():
    two = np.int64(2)
    model = es.KernelSVC(es.SubsetTree(), max_iterations=np.int64(100), n_threads=two).fit(TREES, [0, 1])
    np.testing.assert_array_equal(es.SubsetTree()(TREES, n_threads=two), es.SubsetTree()(TREES))
    assert es.nearest(es.SubsetTree(), TREES, TREES, k=two)[0].shape == (2, 2)
    assert len(es.mine_fragments(model, n=two, max_size=two)[0].fragments) == 2
    assert es.HashedFragments(max_size=two, n_features=np.int64(16)).transform(TREES).shape == (2, 16)
    assert es.Embedding({"a": [1.0]}, power=two).power == 2
    grammar = PCFG.from_treebank(TREES, unknown=two, least=np.int64(0), max_unary=two, markov=(two, two))
    assert len(grammar.parse(["the", "dog", "barks"], k=two)) == 1
    assert len(jackknifed(TREES * 2, folds=two)) == 4
    assert len(generate(two, seed=two)) == 2
    process = es.GPRegressor(es.SubsetTree(), n_threads=two, restarts=np.int64(1), max_iterations=two, learn=False)
    assert process.fit(TREES, [1.0, 2.0]).sample_posterior(TREES, two).shape == (2, 2)


def test_truth_values_are_no_numbers():
    for call in (
        lambda: es.SubsetTree()(TREES, n_threads=True),
        lambda: es.nearest(es.SubsetTree(), TREES, TREES, k=True),
        lambda: es.Embedding({"a": [1.0]}, power=True),
        lambda: PCFG.from_treebank(TREES, unknown=True),
        lambda: PCFG.from_treebank(TREES, max_unary=True),
        lambda: es.mine_fragments(es.KernelSVC(es.SubsetTree()).fit(TREES, [0, 1]), n=True),
        lambda: es.Tree("a").to_brackets(max_nodes=True),
        lambda: es.Tree("a").pretty(max_nodes=True),
        lambda: es.structures.tree_text(es.Tree("a"), max_nodes=True),
        lambda: es.structures.ReadLimits(max_lines=True),
        lambda: PCFG.from_treebank(TREES, smoothing=True),
    ):
        with pytest.raises(ValueError, match="got True"):
            call()


def test_a_number_that_is_too_large_says_what_is_allowed():
    with pytest.raises(ValueError, match="max_depth must be a positive integer, at most 2,147,483,647 or None, got 21"):
        es.SubsetTree(max_depth=2**31)
    np.testing.assert_array_equal(es.SubsetTree(max_depth=2**31 - 1)(TREES), es.SubsetTree()(TREES))
    with pytest.raises(ValueError, match="length must be a positive integer, at most 2,147,483,647, got 1099511627776"):
        es.Subsequence(2**40)
    with pytest.raises(
        ValueError, match="order_weights has one number for each length, and at most 1,000,000 are allowed"
    ):
        es.Subsequence(2**30)
    with pytest.raises(ValueError, match="iterations must be an integer from 0 to 999,999, got 1073741824"):
        es.WeisfeilerLehman(2**30)
    with pytest.raises(ValueError, match="n must be an integer of at least 0, got an integer of about 5,001 digits"):
        whole_number("n", -(10**5000), 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda huge: es.SubsetTree(decay=huge),
        lambda huge: es.SubsetTree(decay=fixed_number(huge)),
        lambda huge: es.SubsetTree(decay=es.PerLabel(huge)),
        lambda huge: es.SubsetTree(decay=es.PerLabel(0.4, values={"A": huge})),
        lambda huge: es.SubsetTree().with_parameters({"decay": huge}),
        lambda huge: es.RBF(es.PerDimension(1.0, values=(huge, 1.0))),
        lambda huge: es.Subsequence(2, order_weights=huge),
        lambda huge: es.Subsequence(2, order_weights=(huge, 1.0)),
        lambda huge: es.RBF() ** huge,
        lambda huge: es.GPRegressor(es.SubsetTree(), noise=huge).fit(TREES, [1.0, 2.0]),
        lambda huge: es.KernelSVC(es.SubsetTree(), C=huge).fit(TREES, [0, 1]),
        lambda huge: es.KernelSVC(es.SubsetTree(), class_weight={0: huge, 1: 1}).fit(TREES, [0, 1]),
        lambda huge: es.RankingSVM(es.SubsetTree(), C=huge)._check(),
        lambda huge: es.RankingSVM(es.SubsetTree(), score_weight=huge)._check(),
        lambda huge: es.GPRegressor(es.SubsetTree(), learn=False).fit(TREES, [1.0, 2.0]).sample_posterior(TREES, huge),
        lambda huge: es.GPRegressor(es.SubsetTree()).sample_prior(TREES, huge),
        lambda huge: es.shared_fragments(es.Tree("a"), es.Tree("a"), decay=huge),
        lambda huge: PCFG.from_treebank(TREES, smoothing=huge),
        lambda huge: PCFG.from_treebank(TREES).parse(["a"], beam=huge),
        lambda huge: PCFG.from_treebank(TREES).parse(["a"], coarse=huge),
        lambda huge: Tagger.from_sentences(TREES, smoothing=huge),
        lambda huge: Tagger.from_sentences(TREES, suffix=huge),
        lambda huge: es.KernelSVR(es.SubsetTree()).fit(TREES, [huge, 1]),
        lambda huge: es.KernelSVR(es.SubsetTree()).fit(TREES, [0, 1], sample_weight=[huge, 1]),
    ],
)
def test_a_number_that_no_float_holds_is_no_raw_error(make):
    with pytest.raises(ValueError, match="must") as caught:
        make(10**400)
    assert len(str(caught.value)) < 300  # and not all its digits


def test_weights_of_lengths_are_all_learned_or_all_fixed():
    kernel = es.Subsequence(2, order_weights=(fixed_number(0), fixed_number(1.0)))
    assert kernel.value("a b", "a b") == es.Subsequence(2, order_weights=(1e-300, 1.0)).value("a b", "a b")
    assert not any("order" in path for path in kernel.parameters()) and parse_kernel(repr(kernel)) == kernel
    with pytest.raises(TypeError, match=r"order_weights\[0\] must be a plain number, got fixed\(0\).*all fixed"):
        es.Subsequence(2, order_weights=(fixed_number(0), 1.0))
    with pytest.raises(ValueError, match=r"order_weights\[0\] must be positive, got 0.*\(fixed\(0\), fixed\(1.0\)\)"):
        es.Spectrum(2, 1, order_weights=(0, 1.0))
    with pytest.raises(ValueError, match=r"frontier must be positive, got 0.0. Zero is allowed only .*PerLabel\(fixed"):
        es.SubsetTree(frontier=es.PerLabel(1.0, values={"A": 0.0}))
    with pytest.raises(TypeError, match=r"values\[0\] of PerDimension must be a plain number, got fixed\(1\)"):
        es.PerDimension(1.0, values=(fixed_number(1), 2.0))
    assert es.SubsetTree(frontier=es.PerLabel(fixed_number(1.0), values={"A": 0.0})).parameters() == {"decay": 0.4}


def test_numbers_of_numpy_print_as_they_are_read():
    half = np.float64(0.5)
    for setting in (fixed_number(half), es.Learned(half), es.PerLabel(half, values={"A": half}), es.PerLabel(half)):
        assert "np." not in repr(setting)
        assert parse_kernel(repr(es.SubsetTree(setting))) == es.SubsetTree(setting)


def test_checks_return_numbers_of_python():
    assert [is_whole(value) for value in (3, np.int64(3), True, 3.0)] == [True, True, False, False]
    assert finite_number("C", np.float32(0.5)) == 0.5 and as_float(2) == 2.0
    assert finite_number("C", 0, zero=True) == 0.0
    assert shown(-5) == "-5" and shown("x") == "'x'"


def test_large_integers_are_shown_short():
    assert shown(10**5000) == "an integer of about 5,001 digits"
    assert as_float(10**400) == math.inf == -as_float(-(10**400))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda huge: es.gp.Gamma(huge),
            "shape of a Gamma prior must be a positive finite number, got an integer of about",
        ),
        (
            lambda huge: es.gp.LogNormal(huge, 1.0),
            "median of a LogNormal prior must be a positive finite number, got an int",
        ),
        (lambda huge: es.GPRegressor(es.SubsetTree(), tolerance=huge).fit(TREES, [0, 1]), "tolerance must be a posi"),
        (lambda huge: levels_of([huge]), "quantiles must lie between 0 and 1"),
        (
            lambda huge: es.kernels.SimilarityTable(["a", "b"], [[1, huge], [huge, 1]]),
            "matrix contains an integer that is too",
        ),
        (lambda huge: es.Precomputed([[huge]]), "matrix contains an integer that is too large for a float64"),
        (lambda huge: es.Embedding({"b": [1], "a": [huge]}), "The vector of 'a' contains an integer that is too large"),
        (lambda huge: es.Embedding.from_arrays(["a"], [[huge]]), "vectors contains an integer that is too large"),
        (lambda huge: es.KernelSVC(es.SubsetTree(), C=huge).fit(TREES, [0, 1]), "C must be .*integer of about 401"),
        (lambda huge: es.KernelSVR(es.SubsetTree(), epsilon=huge).fit(TREES, [0, 1]), "epsilon must be .*about 401"),
        (
            lambda huge: es.SmoothedPartialTree(es.kernels.Exact(), threshold=huge),
            "threshold must lie .*about 401 digits",
        ),
        (lambda huge: es.Spectrum(3, huge), r"shortest must be an integer from 1 to length \(3\), got an integer of"),
    ],
)
def test_an_integer_beyond_every_float_is_refused_in_few_words(call, message):
    with pytest.raises(ValueError, match=f"^{message}") as caught:
        call(10**400)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    "make",
    [
        lambda value: es.SubsetTree(lone_leaves=value).lone_leaves,
        lambda value: es.Subtree(lone_leaves=value).lone_leaves,
        lambda value: es.KernelSVC(es.SubsetTree()).set_params(kernel__lone_leaves=value).kernel.lone_leaves,
        lambda value: es.DependencySubtree(contiguous=value).contiguous,
        lambda value: es.Embedding({"a": [1.0]}, clip=value).clip,
        lambda value: es.Embedding({"a": [1.0]}, normalize=value).normalize,
        lambda value: es.Graph(["a"], directed=value).directed,
    ],
)
def test_truth_values_are_those_of_python_or_numpy(make):
    assert make(np.True_) is True and make(np.False_) is False
    for wrong in (1, 0.0, "no", None):
        with pytest.raises(TypeError, match="must be True or False, got"):
            make(wrong)


def test_truth_values_of_numpy_are_those_of_python_for_kernels_and_learners():
    np.testing.assert_array_equal(es.SubsetTree(lone_leaves=np.True_)(TREES), es.SubsetTree(lone_leaves=True)(TREES))
    np.testing.assert_array_equal(es.Subtree(lone_leaves=np.True_)(TREES), es.Subtree(lone_leaves=True)(TREES))
    with pytest.raises(TypeError, match="learn must be True or False, got 'no'"):
        es.GPPreference(es.SubsetTree(), learn="no")._check()
    es.KernelGridSearch(es.KernelSVC(es.SubsetTree()), {}, cv=2, refit=np.True_).fit(TREES * 2, [0, 1] * 2)


def test_limits_of_readers_may_be_integers_of_numpy():
    limits = es.structures.ReadLimits(np.int64(10), np.int32(10), np.uint8(10))
    assert limits == es.structures.ReadLimits(10, 10, 10) and repr(limits) == repr(es.structures.ReadLimits(10, 10, 10))
    assert es.structures.ReadLimits(max_bytes=2**80).max_bytes == 2**80


@pytest.mark.parametrize(
    "text", ["1", "-1.5", "+.5", "5.", "1e3", "1.5E-3", " 2\t", "inf", "-Infinity", "NaN", "1e999"]
)
def test_numbers_in_texts_are_those_of_float(text):
    np.testing.assert_equal(number_in_text(text), float(text))


@pytest.mark.parametrize(
    "text", ["", ".", "e3", "1_0", "\u00a01", "1\u00a0", "\x1f1", "\u0661", "1 2", "1" * 50_000 + "x"]
)
def test_other_texts_are_no_numbers(text):
    with pytest.raises(ValueError, match="is not a number"):
        number_in_text(text)


def test_finite_numbers_in_texts():
    assert finite_in_text(" -1.5e3") == -1500.0
    assert [finite_in_text(text) for text in ("inf", "nan", "1e999", "1_000", "")] == [None] * 5
