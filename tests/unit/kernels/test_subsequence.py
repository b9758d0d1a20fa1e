"""Subsequence against its twin, its gradients in every parameter, and at its edges."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.subsequence import subsequence

import espalier as es
from espalier.corpus.sequences import Sequences
from espalier.errors import InputError, KernelOverflowError, VocabularyMismatchError
from espalier.testing import check_gradients, check_kernel

SHORT = ["a b a c", "b a", "c", "a a a b", "d e", "", "a x b y c", "b b c a"]
KERNELS = [
    es.Subsequence(3),
    es.Subsequence(1, 0.5, 0.7),
    es.Subsequence(4, 0.9, 1.3, order_weights=(0.5, 2.0, 1.0, 3.0)),
    es.Subsequence(2, es.fixed(0), 1.0, order_weights=es.fixed(1.0)),
    es.Subsequence(3, es.PerLabel(0.5, values={"x": 0.9, "a": 0.2}), es.PerLabel(0.8, values={"b": 1.4})),
    es.Subsequence(3, 0.5, 0.9, of="characters"),
]


def twin(kernel, a, b):
    def value(setting):
        own = dict(setting.values) if isinstance(setting, es.PerLabel) else {}
        return lambda symbol: own.get(symbol, es.kernels.hyperparameters.default_of(setting))

    weights = kernel.order_weights
    weights = (weights.value,) * kernel.length if isinstance(weights, type(es.fixed(1))) else weights.values
    gap, match = value(kernel.gap_decay), value(kernel.match_decay)
    cut = list if kernel.of == "characters" else str.split
    return np.array([[subsequence(cut(s), cut(t), gap, match, weights) for t in b] for s in a])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_values_are_those_of_listing(kernel, n_threads):
    np.testing.assert_allclose(kernel(SHORT, n_threads=n_threads), twin(kernel, SHORT, SHORT), rtol=1e-12)
    cross = kernel(SHORT[:3], SHORT, n_threads=n_threads)
    np.testing.assert_allclose(cross, twin(kernel, SHORT[:3], SHORT), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(SHORT), twin(kernel, SHORT, SHORT).diagonal(), rtol=1e-12)
    assert kernel.value(SHORT[0], SHORT[3]) == pytest.approx(kernel(SHORT)[0, 3], rel=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_are_those_of_differences(kernel):
    check_gradients(kernel, SHORT)
    check_gradients(es.Normalized(kernel) if kernel.of == "characters" else 2.0 * kernel, SHORT[:5])


@pytest.mark.parametrize("kernel", [es.Subsequence(3), es.Subsequence(2, of="characters", order_weights=(1.0, 0.3))])
def test_it_keeps_the_laws(kernel):
    check_kernel(kernel, SHORT[:5] + SHORT[6:])


def test_random_sequences_of_few_symbols():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcd"), size=rng.integers(0, 9))) for _ in range(12)]
    kernel = es.Subsequence(5, 0.6, 0.9, order_weights=(1.0, 0.5, 2.0, 0.1, 1.5))
    np.testing.assert_allclose(kernel(texts), twin(kernel, texts, texts), rtol=1e-11)


def test_gradients_do_not_depend_on_threads():
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(list("abcdefgh"), size=rng.integers(1, 15))) for _ in range(150)]
    kernel = es.Subsequence(4, es.PerLabel(0.5), es.PerLabel(0.9))
    cotangent = rng.normal(size=(150, 150))
    found = []
    for n_threads in (1, 2, 3):
        values, pull_back = kernel.vjp(texts, n_threads=n_threads)
        found.append((values.tobytes(), pull_back(cotangent)))
    assert found[0] == found[1] == found[2]


def test_every_weight_is_a_hyperparameter():
    kernel = es.Subsequence(2, es.fixed(0.5), es.PerLabel(0.8))
    plan = kernel.plan(["a b", "b c"])
    bound = plan.bind(kernel)
    assert list(bound.parameters()) == [
        "match_decay[a]",
        "match_decay[b]",
        "match_decay[c]",
        "order_weights[0]",
        "order_weights[1]",
    ]
    assert bound.with_parameters({"order_weights[1]": 0.25}).order_weights.values == (1.0, 0.25)


def test_weights_that_are_all_fixed_have_no_gradient():
    kernel = es.Subsequence(2, order_weights=(es.fixed(1.0), es.fixed(0.5)))
    values, pull_back = kernel.vjp(["a b c", "a c"])
    assert pull_back(values).keys() == kernel.parameters().keys() == {"gap_decay", "match_decay"}


def test_kernels_print_as_they_are_made():
    from espalier.kernels.expressions import parse_kernel

    for kernel in KERNELS:
        assert parse_kernel(repr(kernel)) == kernel


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (es.Subsequence(), "Subsequence()"),
        (es.Subsequence(2), "Subsequence(length=2)"),
        (es.Subsequence(2, order_weights=1), "Subsequence(length=2)"),
        (es.Subsequence(2, order_weights=(1.0, 1.0)), "Subsequence(length=2)"),
        (es.Subsequence(2, order_weights=np.float64(2.0)), "Subsequence(length=2, order_weights=2.0)"),
        (es.Subsequence(2, order_weights=[1, 0.5]), "Subsequence(length=2, order_weights=(1.0, 0.5))"),
        (es.Subsequence(2, order_weights=es.PerDimension(3.0)), "Subsequence(length=2, order_weights=3.0)"),
        (es.Subsequence(2, order_weights=es.fixed(1.0)), "Subsequence(length=2, order_weights=fixed(1.0))"),
        (
            es.Subsequence(2, order_weights=es.Learned(1.0, bounds=(0.5, 2.0))),
            "Subsequence(length=2, order_weights=Learned(1.0, bounds=(0.5, 2.0)))",
        ),
        (
            es.Subsequence(2, order_weights=es.PerDimension(es.Learned(1.0, (0.5, 2.0)), values=(1.0, 2.0))),
            "Subsequence(length=2, order_weights=PerDimension(Learned(1.0, bounds=(0.5, 2.0)), values=(1.0, 2.0)))",
        ),
        (
            es.Subsequence(2, order_weights=es.PerDimension(es.fixed(1.0), values=(1.0, 1.0))),
            "Subsequence(length=2, order_weights=PerDimension(fixed(1.0), values=(1.0, 1.0)))",
        ),
        (es.Spectrum(2), "Spectrum(length=2)"),
        (es.Spectrum(2, shortest=1, order_weights=1.0), "Spectrum(length=2, shortest=1, order_weights=1.0)"),
        (
            es.Subsequence(2, order_weights=2.0).with_parameters({"order_weights[0]": 3.0}),
            "Subsequence(length=2, order_weights=(3.0, 2.0))",
        ),
    ],
)
def test_weights_of_lengths_print_as_a_user_writes_them(kernel, text):
    from espalier.kernels.expressions import parse_kernel

    assert repr(kernel) == text
    again = parse_kernel(text)
    assert again == kernel and hash(again) == hash(kernel) and again.parameters() == kernel.parameters()
    assert es.kernels.hyperparameters.default_of(again.order_weights) == es.kernels.hyperparameters.default_of(
        kernel.order_weights
    )


def test_trees_tags_and_lists_are_sequences_too():
    words = es.Subsequence(2)
    expected = words(["the cat sleeps", "the dog sleeps"])
    trees = [es.Tree.from_brackets(f"(S (NP (D the) (N {n})) (VP (V sleeps)))") for n in ("cat", "dog")]
    tagged = [es.TaggedSequence(["the", n, "sleeps"], ["D", "N", "V"]) for n in ("cat", "dog")]
    lists = [["the", "cat", "sleeps"], ("the", "dog", "sleeps")]
    for items in (trees, tagged, lists):
        np.testing.assert_array_equal(words(items), expected)
    tags = es.Subsequence(2, of="tags")
    np.testing.assert_array_equal(tags(trees), es.Subsequence(2)(["D N V", "D N V"]))
    np.testing.assert_array_equal(tags(tagged), tags(trees))


def test_columns_and_sums():
    table = {"text": ["a b", "b c", "a c"], "tree": ["(S a)", "(S b)", "(S a)"]}
    kernel = es.Subsequence(2, on="text") + es.Normalized(es.SubsetTree(on="tree"))
    values, pull_back = kernel.vjp(table)
    assert values.shape == (3, 3)
    assert "terms[0].order_weights[1]" in pull_back(np.ones((3, 3)))


def test_a_machine_learns_from_words():
    texts = ["good film", "very good film", "bad film", "very bad film"] * 3
    labels = ["up", "up", "down", "down"] * 3
    machine = es.KernelSVC(es.Normalized(es.Subsequence(2))).fit(texts, labels)
    assert machine.predict(["a good one", "a bad one"]).tolist() == ["up", "down"]


def test_a_process_learns_the_weights_of_lengths():
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(list("abcd"), size=6)) for _ in range(40)]
    y = np.array([float("a b" in text) for text in texts])
    kernel = es.Subsequence(2, es.fixed(1e-6), es.fixed(1.0), order_weights=(1.0, 1.0))
    model = es.GPRegressor(kernel, noise=0.1).fit(texts, y)
    first, second = (model.learned_.to_dict()[f"kernel.order_weights[{p}]"] for p in range(2))
    assert second > first


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: es.Subsequence(0), ValueError, "length must be a positive integer, got 0"),
        (lambda: es.Subsequence(True), ValueError, "length must be a positive integer"),
        (lambda: es.Subsequence(2, of="letters"), ValueError, "of must be one of 'words'"),
        (lambda: es.Subsequence(2, order_weights=(1.0,)), ValueError, "from 1 to 2, got 1"),
        (lambda: es.Subsequence(2, order_weights=(1.0, -1.0)), ValueError, "order_weights must be positive"),
        (lambda: es.Subsequence(2, es.PerDimension(1.0)), TypeError, "belongs to symbols"),
        (lambda: es.Subsequence(2, match_decay=es.fixed(0)), ValueError, "match_decay must be positive"),
        (lambda: es.Subsequence(2)([1, 2]), InputError, "Row 0 must be a text"),
        (lambda: es.Subsequence(2)(np.ones((2, 2))), TypeError, "given numbers"),
        (lambda: es.Subsequence(2)("a b"), TypeError, "Write \\[item\\]"),
        (lambda: es.Subsequence(2, on="x")({"x": [["a", 3]]}), InputError, "Column 'x': Row 0"),
    ],
)
def test_mistakes_are_one_clear_error(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_overflow_names_the_sequence():
    with pytest.raises(KernelOverflowError, match="smaller match_decay"):
        es.Subsequence(4, 1.0, 1e80)(["a b", "a b a b"])


def test_corpora_of_different_vocabularies_are_an_error():
    a, b = Sequences.from_items(["a b"]), Sequences.from_items(["b a"])
    with pytest.raises(VocabularyMismatchError):
        es.Subsequence(2)(a, b)
    np.testing.assert_array_equal(es.Subsequence(2)(a, b.with_vocabulary(a.vocabulary.extended())), [[0.5]])
