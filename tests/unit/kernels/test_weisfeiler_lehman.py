"""WeisfeilerLehman against its twin, its own features, gradients, and what it reads."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.weisfeiler_lehman import weisfeiler_lehman

import espalier as es
from espalier.errors import InputError, KernelOverflowError, TreeSyntaxError, VocabularyMismatchError
from espalier.testing import check_gradients, check_kernel

KERNELS = [
    es.WeisfeilerLehman(),
    es.WeisfeilerLehman(0),
    es.WeisfeilerLehman(1, 0.5),
    es.WeisfeilerLehman(2, (1.0, 0.5, 2.0)),
    es.WeisfeilerLehman(4, es.fixed(1.0)),
]


def random_graph(rng, directed):
    """Few labels; edges with labels, without, twice, and from a node to itself."""
    n = int(rng.integers(1, 6))
    edges = []
    for _ in range(int(rng.integers(0, 8))):
        ends = tuple(map(int, rng.integers(0, n, size=2)))
        edges.append((*ends, str(rng.choice(["p", "q"]))) if rng.random() < 0.5 else ends)
    return es.Graph(list(map(str, rng.choice(["a", "b"], n))), edges, directed)


RNG = np.random.default_rng(0)
RANDOM = [random_graph(RNG, k % 2 == 0) for k in range(12)]
ITEMS = [*RANDOM, es.Graph([])]


def twin(kernel, a, b):
    weights = kernel.iteration_weights
    values = weights.values if isinstance(weights, es.PerDimension) else (weights.value,) * (kernel.iterations + 1)
    return np.array([[weisfeiler_lehman(g, h, values) for h in b] for g in a])


@pytest.mark.parametrize("kernel", KERNELS)
def test_values_are_those_of_counting(kernel):
    np.testing.assert_allclose(kernel(ITEMS), twin(kernel, ITEMS, ITEMS), rtol=1e-12)
    np.testing.assert_allclose(kernel(ITEMS[:4], ITEMS), twin(kernel, ITEMS[:4], ITEMS), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(ITEMS), twin(kernel, ITEMS, ITEMS).diagonal(), rtol=1e-12)
    rows = kernel.features(ITEMS)
    np.testing.assert_allclose((rows @ rows.T).toarray(), kernel(ITEMS), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_are_those_of_differences(kernel):
    check_gradients(kernel, RANDOM[:7])
    check_gradients(2.0 * es.Normalized(kernel), RANDOM[:5])


@pytest.mark.parametrize("weights", [1.0, (0.1, 0.7, 0.3, 1.9, 0.2, 0.4, 1.1, 0.6)])
def test_rounds_that_refine_nothing_are_computed_once_and_count_each(weights):
    kernel = es.WeisfeilerLehman(7, weights)
    paths = [es.Graph(list(labels), [(k, k + 1) for k in range(len(labels) - 1)]) for labels in ("a", "aba", "aaaaab")]
    np.testing.assert_allclose(kernel(paths), twin(kernel, paths, paths), rtol=1e-12)
    check_gradients(kernel, paths)
    few, many = (es.WeisfeilerLehman(n).features(ITEMS) for n in (20, 100_000))
    assert few.shape == many.shape


def test_very_many_rounds_cost_what_the_graphs_do():
    first, second = (es.WeisfeilerLehman(n)(ITEMS) for n in (20, 21))
    many = es.WeisfeilerLehman(100_000)(ITEMS)
    np.testing.assert_allclose(many, first + (second - first) * (100_000 - 20), rtol=1e-12)


def rename(graph):
    edges = [(i, j, *(f"<{label}>" for label in more)) for i, j, *more in graph.edges]
    return es.Graph([f"{label}{label}" for label in graph.labels], edges, graph.directed)


@pytest.mark.parametrize("kernel", [KERNELS[0], KERNELS[3]])
def test_it_keeps_the_laws(kernel):
    check_kernel(kernel, RANDOM[:6], rename=rename)
    table = {"graph": RANDOM[:4], "size": [1.0, 2.0, 3.0, 4.0]}
    check_kernel(es.WeisfeilerLehman(2, on="graph") * es.RBF(on="size"), table)


def test_the_order_of_nodes_and_edges_does_not_matter():
    rng = np.random.default_rng(1)
    for graph in RANDOM:
        place = rng.permutation(len(graph)).tolist()
        edges = [(place[i], place[j], *label) for i, j, *label in graph.edges]
        rng.shuffle(edges)
        labels = [graph.labels[place.index(k)] for k in range(len(graph))]
        moved = es.Graph(labels, edges, graph.directed)
        values = es.WeisfeilerLehman(3)([graph, moved])
        assert np.all(values == values[0, 0])


def test_two_triangles_and_a_hexagon_are_not_told_apart():
    # What the refinement is known for: regular graphs look alike from every node.
    triangles = es.Graph(["x"] * 6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])
    hexagon = es.Graph(["x"] * 6, [(k, (k + 1) % 6) for k in range(6)])
    path = es.Graph(["x"] * 6, [(k, k + 1) for k in range(5)])
    values = es.WeisfeilerLehman(3)([triangles, hexagon, path])
    assert values[0, 1] == values[0, 0] == 4 * 36 and values[0, 2] < values[0, 0]


def test_direction_and_labels_of_edges_count():
    plain = es.Graph(["a", "b"], [(0, 1)])
    there, back = (es.Graph(["a", "b"], [edge], directed=True) for edge in ((0, 1), (1, 0)))
    named, other = (es.Graph(["a", "b"], [(0, 1, label)]) for label in ("p", "q"))
    values = es.WeisfeilerLehman(1)([plain, there, back, named, other])
    np.testing.assert_array_equal(values, 2.0 * np.eye(5) + 2.0)


def test_dependency_trees_and_trees_are_graphs():
    cats = es.DependencyTree(["cats", "sleep"], ["N", "V"], [2, 0], ["nsubj", "root"])
    dogs = es.DependencyTree(["dogs", "sleep"], ["N", "V"], [2, 0], ["nsubj", "root"])
    kernel = es.WeisfeilerLehman(1)
    assert kernel([cats, dogs]).tolist() == [[4.0, 4.0], [4.0, 4.0]]
    assert es.WeisfeilerLehman(1, labels="words")([cats, dogs]).tolist() == [[4.0, 1.0], [1.0, 4.0]]
    same = es.Graph(["N", "V"], [(1, 0, "nsubj")], directed=True)
    assert kernel.value(cats, same) == 4.0
    tree = es.Tree.from_brackets("(NP (D the) (N cat))")
    turned = "(NP (N cat) (D the))"
    assert kernel([tree, turned]).tolist() == [[10.0, 10.0], [10.0, 10.0]]


def test_real_trees(data):
    from espalier.structures import read_conllu

    trees = read_conllu(data / "ewt_ud" / "en_ewt-ud-dev.conllu.gz")[:300]
    values, pull_back = es.WeisfeilerLehman(3).vjp(trees)
    graphs = [es.Graph.from_dependencies(tree) for tree in trees[:12]]
    np.testing.assert_array_equal(values[:12, :12], twin(es.WeisfeilerLehman(3), graphs, graphs))
    assert list(pull_back(np.ones_like(values))) == [f"iteration_weights[{k}]" for k in range(4)]


def test_a_long_path_and_a_large_star():
    n = 3000
    path = es.Graph(["x"] * n, [(k, k + 1) for k in range(n - 1)])
    star = es.Graph(["x"] * n, [(0, k) for k in range(1, n)])
    chain = "(X " * n + "x" + ")" * n
    # The two ends of a path, and then their neighbours, differ from all others.
    assert es.WeisfeilerLehman(2).value(path, path) == n**2 + (2**2 + (n - 2) ** 2) + (2**2 + 2**2 + (n - 4) ** 2)
    assert es.WeisfeilerLehman(1).value(star, star) == n**2 + 1 + (n - 1) ** 2
    assert es.WeisfeilerLehman(1).value(chain, chain) > 0


def test_corpora_are_selected_and_translated():
    kernel = es.WeisfeilerLehman(2)
    corpus = es.Graphs.from_items(RANDOM)
    whole = kernel(RANDOM)
    np.testing.assert_array_equal(kernel(corpus), whole)
    np.testing.assert_array_equal(kernel(corpus[[4, 0, 4]], corpus), whole[[4, 0, 4]])
    assert kernel(corpus[[]]).shape == (0, 0)
    other = es.Graphs.from_items(RANDOM[::-1])
    with pytest.raises(VocabularyMismatchError):
        kernel(corpus, es.Graphs.from_items([es.Graph(["z", "a"])]))
    np.testing.assert_array_equal(kernel(corpus, other.with_vocabulary(corpus.vocabulary.extended())), whole[:, ::-1])
    machine = es.KernelSVC(kernel).fit(corpus, np.arange(len(RANDOM)) % 2)
    assert len(machine.predict(es.Graphs.from_items(RANDOM[:2]))) == 2


def test_a_process_learns_which_rounds_count():
    rng = np.random.default_rng(2)
    graphs = [es.Graph(list("aabb"), [tuple(rng.choice(4, 2, replace=False)) for _ in range(3)]) for _ in range(60)]
    y = [float(sum({graph.labels[i], graph.labels[j]} == {"a", "b"} for i, j in graph.edges)) for graph in graphs]
    model = es.GPRegressor(es.WeisfeilerLehman(1), noise=0.1).fit(graphs, y)
    learned = model.learned_.to_dict()
    assert learned["kernel.iteration_weights[1]"] > learned["kernel.iteration_weights[0]"]


def test_it_prints_as_it_is_made():
    from espalier.kernels.expressions import parse_kernel

    for kernel in KERNELS:
        assert parse_kernel(repr(kernel)) == kernel
    assert repr(es.WeisfeilerLehman()) == "WeisfeilerLehman()"
    assert repr(KERNELS[3]) == "WeisfeilerLehman(iterations=2, iteration_weights=(1.0, 0.5, 2.0))"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: es.WeisfeilerLehman(-1), ValueError, "iterations must be an integer from 0 to 999,999, got -1"),
        (lambda: es.WeisfeilerLehman(True), ValueError, "iterations must be an integer"),
        (lambda: es.WeisfeilerLehman(1.5), ValueError, "iterations must be an integer"),
        (lambda: es.WeisfeilerLehman(1, (1.0,)), ValueError, "iteration_weights must have one .* from 0 to 1, got 1"),
        (lambda: es.WeisfeilerLehman(1, -1.0), ValueError, "iteration_weights must be positive"),
        (lambda: es.WeisfeilerLehman(labels="lemmas"), ValueError, "labels must be 'tags' or 'words'"),
        (lambda: es.WeisfeilerLehman()([3]), InputError, "Row 0 must be a Graph, a dependency tree or a tree"),
        (lambda: es.WeisfeilerLehman()([ITEMS[0], None]), InputError, "Row 1 must be a Graph"),
        (lambda: es.WeisfeilerLehman()(["(S"]), TreeSyntaxError, "row 0"),
        (lambda: es.WeisfeilerLehman(on="x")({"x": ["(S"]}), TreeSyntaxError, "column 'x', row 0"),
        (lambda: es.WeisfeilerLehman(on="x")({"x": [3]}), InputError, "Column 'x': Row 0"),
        (lambda: es.WeisfeilerLehman()(ITEMS[0]), TypeError, r"got one Graph. Write \[item\]"),
        (lambda: es.WeisfeilerLehman()(np.ones((2, 2))), TypeError, "given numbers"),
        (lambda: es.WeisfeilerLehman()([es.Graph(["a", "\ud800"])]), InputError, "Row 0 contains half of a surrogate"),
        (lambda: es.WeisfeilerLehman(labels="words")(es.Graphs.from_items(ITEMS)), InputError, "labelled by tags"),
        (lambda: es.WeisfeilerLehman(1, 1e308)([es.Graph(["a", "a"])]), KernelOverflowError, "graph 0 with itself"),
    ],
)
def test_mistakes_are_one_clear_error(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_empty_graphs_share_nothing():
    empty = es.Graph([])
    assert es.WeisfeilerLehman()([empty, empty]).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    with pytest.warns(UserWarning, match="1 of 2 items have no fragment"):
        values = es.Normalized(es.WeisfeilerLehman())([empty, es.Graph(["a"])])
    assert values.tolist() == [[0.0, 0.0], [0.0, 1.0]]
