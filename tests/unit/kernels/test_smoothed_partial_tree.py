"""SmoothedPartialTree against its twin."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import espalier as es
from espalier.errors import InputError, KernelOverflowError, MemoryBudgetError
from espalier.kernels.embedding import Embedding
from espalier.kernels.hyperparameters import LEAF, Learned, PerDimension, PerLabel, fixed
from espalier.kernels.normalized import Normalized
from espalier.kernels.partial_tree import PartialTree
from espalier.kernels.similarity import Exact, SimilarityTable, Thresholded
from espalier.kernels.subset_tree import SubsetTree
from espalier.structures import Tree
from espalier.testing import check_gradients, check_kernel, rename_labels
from random_trees import INNER, WORDS, random_trees
from reference.smoothed_partial_tree import Smoothing, smoothed_partial_tree

SmoothedPartialTree = pytest.importorskip("espalier.kernels.smoothed_partial_tree").SmoothedPartialTree
pytestmark = pytest.mark.filterwarnings("ignore:.*labels occur at leaves and at inner nodes")

LABELS = sorted({*INNER, *WORDS})
VECTORS = dict(zip(LABELS, np.random.default_rng(3).standard_normal((len(LABELS), 4)), strict=True))
COSINE = Embedding(VECTORS, clip=False)
SOFT = ["leaves", "all"]

TREES = random_trees(5, 14, max_size=16)
FEW = random_trees(6, 6)
WIDE = [
    Tree("S", [Tree("N", [word]) for word in "abcab"]),
    Tree("S", [Tree("N", [word]) for word in "bacb"]),
    Tree("S", ["a", Tree("N", ["a"]), "b", Tree("a", ["b"]), "a"]),
    Tree("NP", ["a"]),
]
# So wide that cells are too many to list; too wide for the twin.
WIDER = [Tree("S", [Tree("N", [word]) for word in "abcabc"] + ["a", "b", Tree("NP", ["a", "b"])]), *WIDE[:3]]


def twin(a, b, kernel, decay, depth_decay):
    def value(setting):
        return setting if callable(setting) else lambda label: setting

    by = Smoothing(
        lambda x, y: float(kernel.similarity([x], [y])[0, 0]),
        kernel.threshold,
        es.kernels.number_of(kernel.mix),
        inner=kernel.soft == "all",
    )
    return np.array([[smoothed_partial_tree(s, t, by, value(decay), value(depth_decay)) for t in b] for s in a])


def close(actual, expected, tolerance=1e-12):
    """Products of unlike signs may cancel, so errors are relative to the largest value."""
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max(initial=0.0))


def same_everywhere(kernel, trees, expected):
    close(kernel(trees), expected)
    close(kernel(trees[:2], trees[2:]), expected[:2, 2:])
    close(kernel(trees[3:], trees[:3]), expected[3:, :3])
    close(kernel.diagonal(trees), expected.diagonal())
    close(kernel.value(trees[0], trees[1]), expected[0, 1])


@pytest.mark.parametrize("soft", SOFT)
@pytest.mark.parametrize("trees", [TREES, WIDE], ids=["random", "wide"])
@pytest.mark.parametrize("mix", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(("decay", "depth_decay"), [(0.4, 0.4), (1.2, 0.3), (1e-6, 1e-6)])
def test_equals_the_listing_of_subsequences(trees, soft, mix, decay, depth_decay):
    kernel = SmoothedPartialTree(COSINE, decay=decay, depth_decay=depth_decay, mix=fixed(mix), soft=soft)
    same_everywhere(kernel, trees, twin(trees, trees, kernel, decay, depth_decay))


@pytest.mark.parametrize("soft", SOFT)
def test_below_the_threshold_nothing_matches(soft):
    close_ones = np.eye(len(LABELS))
    for x, y, value in [("a", "b", 0.6), ("S", "NP", 0.5), ("VP", "N", 0.2), ("a", "NP", 0.1)]:
        i, j = LABELS.index(x), LABELS.index(y)
        close_ones[i, j] = close_ones[j, i] = value
    table = SimilarityTable(LABELS, close_ones)
    for threshold in (0.0, 0.15, 0.5, 0.55, 1.0):
        kernel = SmoothedPartialTree(table, threshold, soft=soft)
        same_everywhere(kernel, TREES, twin(TREES, TREES, kernel, 0.4, 0.4))


@pytest.mark.parametrize("soft", SOFT)
def test_one_value_per_label_and_the_root_of_two_where_labels_differ(soft):
    decays, depths = {"S": 0.9, "NP": 0.2, LEAF: 0.3}, {"N": 0.5, LEAF: 1.1}
    kernel = SmoothedPartialTree(
        COSINE, decay=PerLabel(0.4, values=decays), depth_decay=PerLabel(0.6, values=depths), soft=soft
    )

    def named(label):
        return LEAF if label is None else label

    for trees in (TREES, WIDE):
        expected = twin(
            trees,
            trees,
            kernel,
            lambda label: decays.get(named(label), 0.4),
            lambda label: depths.get(named(label), 0.6),
        )
        same_everywhere(kernel, trees, expected)


@pytest.mark.parametrize("soft", SOFT)
@pytest.mark.parametrize("trees", [TREES, WIDER], ids=["random", "wide"])
def test_exact_matching_is_the_partial_tree_kernel(soft, trees):
    decay, depth_decay = PerLabel(0.5, values={"NP": 0.3, LEAF: 0.7}), 0.6
    expected = PartialTree(decay, depth_decay)
    for kernel in (
        SmoothedPartialTree(Exact(), decay=decay, depth_decay=depth_decay, soft=soft),
        SmoothedPartialTree(COSINE, decay=decay, depth_decay=depth_decay, mix=fixed(1.0), soft=soft),
    ):
        same_everywhere(kernel, trees, expected(trees))
        cotangent = np.random.default_rng(0).standard_normal((len(trees),) * 2)
        wanted = expected.vjp(trees)[1](cotangent)
        found = kernel.vjp(trees)[1](cotangent)
        assert found.keys() == wanted.keys()
        for path, value in wanted.items():
            assert found[path] == pytest.approx(value, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("soft", SOFT)
@pytest.mark.parametrize("mix", [fixed(0.0), 1e-6, 0.5, 0.999])
@pytest.mark.parametrize("settings", [(0.4, 0.4), (1.2, 0.3), (1e-4, 0.5), (fixed(0.4), 0.4)])
def test_gradients(soft, mix, settings):
    for trees in (FEW, WIDE, WIDER):
        decay, depth_decay = settings
        check_gradients(SmoothedPartialTree(COSINE, decay=decay, depth_decay=depth_decay, mix=mix, soft=soft), trees)
        by_label = {"decay": PerLabel(decay), "depth_decay": PerLabel(depth_decay)}
        check_gradients(SmoothedPartialTree(COSINE, **by_label, mix=mix, soft=soft), trees)


@pytest.mark.parametrize("soft", SOFT)
@pytest.mark.parametrize("trees", [FEW, WIDER], ids=["random", "wide"])
@pytest.mark.parametrize(("mix", "step"), [(1.0, -1e-3), (1e-12, 1e-3)])
def test_the_gradient_by_mix_at_both_ends(soft, trees, mix, step):
    # Where mix is 1 unequal labels do not match, and still would if it were a little less.
    def weighed(at):
        return float(np.vdot(cotangent, SmoothedPartialTree(COSINE, mix=fixed(at), soft=soft)(trees)))

    cotangent = np.random.default_rng(1).standard_normal((len(trees),) * 2)
    weights = [-25 / 12, 4.0, -3.0, 4 / 3, -1 / 4]
    start = round(mix)
    expected = sum(weight * weighed(start + k * step) for k, weight in enumerate(weights)) / step
    gradient = SmoothedPartialTree(COSINE, mix=mix, soft=soft).vjp(trees)[1](cotangent)
    assert gradient["mix"] == pytest.approx(expected, rel=1e-7)
    assert gradient["mix"] != 0.0


@pytest.mark.parametrize(
    "kernel",
    [
        SmoothedPartialTree(COSINE),
        SmoothedPartialTree(COSINE, mix=0.5, soft="all"),
        SmoothedPartialTree(COSINE, decay=PerLabel(0.4), depth_decay=PerLabel(0.6), mix=0.2, soft="all"),
        Normalized(SmoothedPartialTree(COSINE, mix=0.2)),
        SmoothedPartialTree(COSINE, soft="all") + 0.5 * SubsetTree(),
        SmoothedPartialTree(Embedding(VECTORS, power=2), soft="all") * SubsetTree(),
    ],
    ids=repr,
)
def test_laws(kernel):
    check_kernel(kernel, FEW, prints=False)


@pytest.mark.parametrize("soft", SOFT)
def test_laws_of_exact_matching(soft):
    check_kernel(SmoothedPartialTree(Exact(), 0.3, soft=soft), FEW, rename=rename_labels)


@pytest.mark.parametrize("soft", SOFT)
@pytest.mark.parametrize("b", [None, TREES[3:]], ids=["own", "cross"])
def test_threads_change_no_bit(soft, b):
    kernel = SmoothedPartialTree(COSINE, decay=PerLabel(0.5), mix=0.3, soft=soft)
    trees = random_trees(11, 60, max_size=40, depth=6)
    cotangent = None
    seen = []
    for n_threads in (1, 2, 3):
        values, pullback = kernel.vjp(trees, b, n_threads=n_threads)
        cotangent = np.random.default_rng(2).standard_normal(values.shape) if cotangent is None else cotangent
        seen.append((values.tobytes(), pullback(cotangent)))
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("soft", SOFT)
@pytest.mark.parametrize("b", [None, TREES[3:]], ids=["own", "cross"])
def test_tiles_change_nothing(soft, b):
    kernel = SmoothedPartialTree(COSINE, mix=0.3, soft=soft)
    trees = random_trees(12, 40, max_size=30, depth=5)
    values, pullback = kernel.vjp(trees, b)
    cotangent = np.random.default_rng(3).standard_normal(values.shape)
    for memory in (2_000_000, 30_000, 12_000):
        tiled, pull_tiled = kernel.vjp(trees, b, memory=memory)
        close(tiled, values)
        gradient = pull_tiled(cotangent)
        for path, value in pullback(cotangent).items():
            assert gradient[path] == pytest.approx(value, rel=1e-9)
    close(kernel.diagonal(trees, memory=12_000), kernel.diagonal(trees))


def test_a_table_of_words_that_does_not_fit_is_cut():
    words = [f"w{k}" for k in range(300)]
    trees = [f"(S (N {one}) (N {other}))" for one, other in zip(words[::2], words[1::2], strict=True)]
    rng = np.random.default_rng(4)
    similarity = Embedding(dict(zip(words, rng.standard_normal((300, 5)), strict=True)), clip=False)
    kernel = SmoothedPartialTree(similarity)
    close(kernel(trees, memory=200_000), kernel(trees))
    assert 8 * 300**2 > 200_000
    with pytest.raises(MemoryBudgetError, match="alone needs"):
        kernel(trees, memory=20)


def test_deep_chains():
    n = 50_000
    text = "".join(f"(L{k} " for k in range(n)) + "a" + ")" * n
    values, pullback = SmoothedPartialTree(COSINE, mix=0.5).vjp([text, "(L7 b)"])
    assert np.isfinite(values).all()
    assert np.isfinite(list(pullback(np.ones((2, 2))).values())).all()
    with pytest.raises(MemoryBudgetError, match="Tree 0 with tree 0 alone"):
        SmoothedPartialTree(COSINE, soft="all")([text, "(L7 b)"], memory="64 MiB")


@pytest.mark.parametrize("soft", SOFT)
def test_lone_leaves_match_softly(soft):
    kernel = SmoothedPartialTree(COSINE, decay=0.5, depth_decay=0.5, soft=soft)
    close(kernel(["(a)", "(b)", "(S a)"])[:2, :2], 0.125 * COSINE(["a", "b"]))


@pytest.mark.parametrize("soft", SOFT)
def test_no_trees(soft):
    kernel = SmoothedPartialTree(COSINE, mix=0.5, soft=soft)
    assert kernel([]).shape == (0, 0)
    assert kernel([], FEW).shape == (0, len(FEW))
    assert kernel.diagonal([]).shape == (0,)
    assert set(kernel.vjp([])[1](np.zeros((0, 0))).values()) == {0.0}


def test_columns():
    rows = {"source": TREES, "other": TREES[::-1]}
    kernel = SmoothedPartialTree(COSINE, on="source")
    close(kernel(rows), SmoothedPartialTree(COSINE)(TREES))
    close((kernel + SmoothedPartialTree(COSINE, on="other"))(rows), kernel(rows) + kernel({"source": TREES[::-1]}))


def test_equal_kernels():
    kernel = SmoothedPartialTree(COSINE, 0.2, mix=0.5)
    again = SmoothedPartialTree(Embedding(VECTORS, clip=False), 0.2, mix=0.5)
    assert kernel == again
    assert hash(kernel) == hash(again)
    assert kernel != SmoothedPartialTree(Embedding(VECTORS), 0.2, mix=0.5)
    assert repr(SmoothedPartialTree(Exact(), 0.2, soft="all")) == (
        "SmoothedPartialTree(similarity=Exact(), threshold=0.2, soft='all')"
    )
    assert SmoothedPartialTree(COSINE).parameters() == {"decay": 0.4, "depth_decay": 0.4}
    assert SmoothedPartialTree(COSINE, mix=Learned(0.5)).bounds()["mix"] == (1e-6, 1.0)


def test_a_plan_serves_other_hyperparameters():
    plan = SmoothedPartialTree(COSINE, mix=0.5).plan(FEW)
    for mix in (0.25, 1.0):
        kernel = SmoothedPartialTree(COSINE, decay=0.3, mix=mix)
        assert np.array_equal(plan.matrix(kernel), kernel(FEW))
    with pytest.raises(TypeError, match="only hyperparameters may differ"):
        plan.matrix(SmoothedPartialTree(Exact(), mix=0.5))


def test_similarities_that_are_no_kernel_are_refused():
    vectors = {"a": [1.0, 0.0], "b": [0.8, 0.6], "c": [0.28, 0.96]}
    trees = ["(S a)", "(S b)", "(b c)"]
    similarity = Embedding(vectors, clip=False)
    SmoothedPartialTree(similarity)(trees)
    kernel = SmoothedPartialTree(similarity, 0.5)
    for call in (kernel, kernel.diagonal, lambda trees: kernel(trees[:2], trees[2:])):
        with pytest.raises(InputError, match=r"smallest eigenvalue is -0.*similarity\.nearest.*threshold=0"):
            call(trees)
    kernel(trees[:2])  # only symbols that meet are looked at
    kernel(["(a x)", "(b x)", "(c x)"])
    with pytest.raises(InputError, match="smallest eigenvalue"):
        SmoothedPartialTree(similarity, 0.5, soft="all")(["(a x)", "(b x)", "(c x)"])
    nearest = Thresholded(similarity, 0.5).nearest(["a", "b", "c"])
    assert np.linalg.eigvalsh(SmoothedPartialTree(nearest, soft="all")(trees))[0] > -1e-12
    assert np.linalg.eigvalsh(SmoothedPartialTree(nearest)(["(S a)", "(S b)", "(S c)"]))[0] > -1e-12


def test_a_label_of_leaves_and_inner_nodes_that_is_similar_to_other_words_is_told_of():
    trees = ["(b c)", "(S b)", "(S a)"]
    similarity = SimilarityTable(["a", "b"], [[1.0, 0.9], [0.9, 1.0]])
    kernel = SmoothedPartialTree(similarity, decay=1.0)
    message = r"1 labels occur at leaves.*'b' is one of them.*Use soft='all'"
    for call in (kernel, lambda trees: kernel(trees[:1], trees[1:]), Normalized(kernel)):
        with pytest.warns(UserWarning, match=message) as said:
            call(trees)
        assert len(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        soft = SmoothedPartialTree(similarity, decay=1.0, soft="all")(trees)
        SmoothedPartialTree(SimilarityTable(["a", "c"], [[1.0, 0.9], [0.9, 1.0]]))(trees)
        SmoothedPartialTree(similarity, mix=fixed(1.0))(trees)
        kernel(["(S b)", "(S a)"])
    assert np.linalg.eigvalsh(soft)[0] > 0


@pytest.mark.parametrize("soft", SOFT)
def test_a_leaf_and_an_inner_node_match_as_their_labels_do(soft):
    similarity = SimilarityTable(["cat", "dog"], [[1.0, 0.5], [0.5, 1.0]])
    kernel = SmoothedPartialTree(similarity, decay=0.5, depth_decay=0.4, soft=soft)
    assert kernel.value("(cat)", "(cat x)") == pytest.approx(0.4 * 0.5**2)
    assert kernel.value("(cat x)", "(dog)") == pytest.approx(0.5 * 0.4 * 0.5**2 if soft == "all" else 0.0)
    by_label = SmoothedPartialTree(
        similarity, decay=PerLabel(0.5, values={LEAF: 0.2}), depth_decay=PerLabel(0.4, values={"cat": 0.9}), soft=soft
    )
    assert by_label.value("(cat)", "(cat x)") == pytest.approx(np.sqrt(0.4 * 0.9) * 0.2 * 0.5)


@pytest.mark.parametrize("soft", SOFT)
def test_rows_and_columns_may_hold_a_label_in_one_form_each(soft):
    rows = [Tree("a", [Tree("S", ["b"])]), Tree("S", ["a", Tree("b", ["NP"])]), Tree("N")]
    columns = [Tree("b", ["a"]), Tree("S", [Tree("a", ["N"]), "b", Tree("NP", ["S", "a"])]), Tree("VP", ["NP"])]
    kernel = SmoothedPartialTree(COSINE, decay=PerLabel(0.4, values={"a": 0.7}), mix=0.3, soft=soft)
    expected = twin(rows, columns, kernel, lambda label: 0.7 if label == "a" else 0.4, 0.4)
    close(kernel(rows, columns), expected)
    close(kernel(columns, rows), expected.T)
    cotangent = np.zeros((6, 6))
    cotangent[:3, 3:] = np.random.default_rng(4).standard_normal((3, 3))
    own = kernel.vjp(rows + columns)[1](cotangent)
    for path, slope in kernel.vjp(rows, columns)[1](cotangent[:3, 3:]).items():
        assert slope == pytest.approx(own[path], rel=1e-10, abs=1e-14)


@pytest.mark.parametrize(
    ("error", "message", "arguments"),
    [
        (ValueError, "soft must be 'leaves' or 'all', got 'none'", {"soft": "none"}),
        (ValueError, "threshold must lie between 0 and 1, got -0.1", {"threshold": -0.1}),
        (ValueError, "threshold must lie between 0 and 1, got nan", {"threshold": float("nan")}),
        (TypeError, "threshold must be a number, got 'much'", {"threshold": "much"}),
        (TypeError, "similarity must be a Similarity or None, got dict. Write Embedding", {"similarity": VECTORS}),
        (TypeError, r"got None\. Exact\(\)", {"similarity": None}),
        (TypeError, "decay belongs to labels", {"decay": PerDimension(0.4)}),
        (TypeError, "mix must be one number", {"mix": PerLabel(0.4)}),
        (ValueError, "mix must lie between 0 and 1", {"mix": 1.5}),
        (ValueError, "decay must be positive", {"decay": fixed(0.0)}),
        (TypeError, "on must name a column", {"on": 3}),
    ],
)
def test_bad_arguments(error, message, arguments):
    with pytest.raises(error, match=message):
        SmoothedPartialTree(**{"similarity": COSINE, **arguments})


def test_overflow_names_the_tree():
    with pytest.raises(KernelOverflowError, match=r"tree 1 with itself.*smaller decay"):
        SmoothedPartialTree(COSINE, decay=1.0, depth_decay=1.0)(["(A a)", "(S " + "(X x) " * 3000 + ")"])
