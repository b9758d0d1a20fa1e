"""Graphs: values, conversions, and what is refused."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from espalier.errors import InputError
from espalier.structures import DependencyTree, Graph, Tree


def test_a_graph_is_a_value():
    graph = Graph(["a", "b", "c"], [(2, 1), (0, 1, "x"), np.array([0, 2]).tolist()])
    assert graph.labels == ("a", "b", "c") and graph.edges == ((0, 1, "x"), (0, 2), (1, 2)) and len(graph) == 3
    same = Graph(("a", "b", "c"), [(0, 2), (1, 2), (1, 0, "x")])
    assert graph == same and hash(graph) == hash(same)
    assert pickle.loads(pickle.dumps(graph)) == copy.deepcopy(graph) == graph
    assert eval(repr(graph)) == graph
    with pytest.raises(AttributeError):
        graph.labels = ()


def test_direction_is_kept_where_there_is_one():
    assert Graph(["a", "b"], [(1, 0)], directed=True).edges == ((1, 0),)
    assert Graph(["a", "b"], [(1, 0)], directed=True) != Graph(["a", "b"], [(0, 1)], directed=True)
    assert type(Graph(["a", "b"], [(np.int64(1), np.int32(0))]).edges[0][0]) is int


def test_a_dependency_tree_by_tags_and_by_words():
    tree = DependencyTree(["a", "b", "c"], ["A", "B", "C"], [2, 0, 0], ["x", "root", "root"])
    assert Graph.from_dependencies(tree) == Graph(["A", "B", "C"], [(1, 0, "x")], directed=True)
    assert Graph.from_dependencies(tree, "words").labels == ("a", "b", "c")
    with pytest.raises(ValueError, match="labels must be 'tags' or 'words', got 'lemmas'"):
        Graph.from_dependencies(tree, "lemmas")


def test_a_deep_tree():
    n = 20_000
    graph = Graph.from_tree(Tree.from_brackets("(X " * n + "x" + ")" * n))
    assert len(graph) == n + 1 and graph.edges[-1] == (n - 1, n)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Graph("abc"), TypeError, "labels must be a sequence of texts"),
        (lambda: Graph(["a", 1]), TypeError, r"labels\[1\] must be a str"),
        (lambda: Graph(["a", "b"], [(0, 2)]), InputError, r"edges\[0\] names the node 2, but there are 2 nodes"),
        (lambda: Graph(["a", "b"], [(0, 1), (-1, 0)]), InputError, r"edges\[1\] names the node -1"),
        (lambda: Graph([], [(0, 0)]), InputError, "there are 0 nodes"),
        (lambda: Graph(["a"], [(0, 0.0)]), TypeError, r"edges\[0\] must join two nodes by their numbers"),
        (lambda: Graph(["a"], ["00"]), TypeError, r"edges\[0\] must be \(i, j\) or \(i, j, label\), got '00'"),
        (lambda: Graph(["a"], [(0,)]), TypeError, r"must be \(i, j\)"),
        (lambda: Graph(["a"], [(0, 0, "x", "y")]), TypeError, r"must be \(i, j\)"),
        (lambda: Graph(["a"], [3]), TypeError, r"must be \(i, j\)"),
        (lambda: Graph(["a"], [(0, 0, 1)]), TypeError, r"The label of edges\[0\] must be a str, got 1"),
        (lambda: Graph(["a"], "ab"), TypeError, "edges must list pairs of nodes"),
        (lambda: Graph(["a"], None), TypeError, "edges must list pairs of nodes"),
        (lambda: Graph(["a"], directed="yes"), TypeError, "directed must be True or False"),
    ],
)
def test_what_is_no_graph(make, error, message):
    with pytest.raises(error, match=message):
        make()
