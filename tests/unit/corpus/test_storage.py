"""Saved corpora: exact, versioned, whole or not there, and harmless when hostile."""

import numpy as np
import pytest
from safetensors.numpy import save
from tests.saved_files import rewrite

import espalier as es
from espalier.corpus import Arcs, Forest, Graphs, Sequences
from espalier.corpus.soundness import FEATURE
from espalier.errors import InputError

TEXTS = ["(S (NP (D the) (N cat)) (VP (V eats) (NP (D the) (N mouse))))", "(NP (D the) (N é))", "(X)"]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "forest.safetensors"
    Forest.from_trees([*TEXTS, None], missing="empty").save(path)
    return path


def test_a_forest_comes_back_whole(saved) -> None:
    forest = Forest.load(saved)
    assert [forest[row].to_brackets() for row in range(3)] == TEXTS
    assert forest.describe().empty == 1
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_a_view_is_saved_as_it_is(tmp_path) -> None:
    forest = Forest.from_brackets(TEXTS)[[2, 0]]
    forest.save(tmp_path / "view")
    assert list(Forest.load(tmp_path / "view")) == list(forest)


def test_a_missing_file_is_the_usual_error(tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        Forest.load(tmp_path / "nothing")


@pytest.mark.parametrize("size", [0, 4, 100, 400])
def test_a_truncated_file_is_refused(saved, size) -> None:
    saved.write_bytes(saved.read_bytes()[:size])
    with pytest.raises(InputError, match="damaged"):
        Forest.load(saved)


def test_another_version_or_format_says_so(saved) -> None:
    rewrite(saved, lambda header, arrays: header["$file"].update(version=99))
    with pytest.raises(InputError, match="version 99"):
        Forest.load(saved)
    saved.write_bytes(save({"label": np.zeros(1)}, metadata={"espalier": "not json"}))
    with pytest.raises(InputError, match="not one that Espalier saved"):
        Forest.load(saved)


def put(name, index, value):
    def change(header, arrays):
        arrays[name][index] = value

    return change


def wrapping(offsets):
    """Offsets that fall once, by more than an integer holds."""
    out = offsets.copy()
    out[1:4] = [2**63 - 1, -(2**63), -1]
    return out


HOSTILE = {
    "a child after its parent": put("child", 0, 10_000),
    "a negative child": put("child", 0, -1),
    "a cycle": lambda header, arrays: arrays["child"].__setitem__(-1, len(arrays["label"]) - 1),
    "a label out of range": put("label", 0, 10_000),
    "a negative label": put("label", 0, -3),
    "a root out of range": put("root", 0, 10_000),
    "a subtree out of range": put("tree_subtree", 0, 10_000),
    "a count of zero": put("tree_count", 0, 0),
    "another count": put("tree_count", 0, 7),
    "a count of the root": put("tree_count", -1, 2),
    "a root below its tree": lambda header, arrays: arrays["root"].__setitem__(0, arrays["root"][1]),
    "no root above a tree": put("root", 0, -1),
    "a root without a tree": put("root", 3, 0),
    "a subtree twice": lambda header, arrays: arrays["label"].__setitem__(1, arrays["label"][0]),
    "offsets past the end": put("child_start", -1, 10_000),
    "offsets that fall": put("child_start", 1, 7),
    "tree offsets whose differences wrap around": lambda header, arrays: arrays.update(
        tree_start=wrapping(arrays["tree_start"])
    ),
    "child offsets whose differences wrap around": lambda header, arrays: arrays.update(
        child_start=wrapping(arrays["child_start"])
    ),
    "a wrong height": put("height", -1, 0),
    "trees out of order": lambda header, arrays: arrays["tree_subtree"].__setitem__(
        slice(0, 2), arrays["tree_subtree"][:2][::-1].copy()
    ),
    "a child missing from its tree": lambda header, arrays: arrays.update(
        tree_subtree=np.delete(arrays["tree_subtree"], 0),
        tree_count=np.delete(arrays["tree_count"], 0),
        tree_start=np.maximum(arrays["tree_start"] - 1, 0),
    ),
    "a missing array": lambda header, arrays: arrays.pop("height"),
    "another type": lambda header, arrays: arrays.update(label=arrays["label"].astype(np.float64)),
    "labels that are no list": lambda header, arrays: header["vocabulary"].update(labels="abc"),
    "a label twice": lambda header, arrays: header["vocabulary"]["labels"].__setitem__(
        1, header["vocabulary"]["labels"][0]
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused(saved, name) -> None:
    rewrite(saved, HOSTILE[name])
    with pytest.raises(InputError):
        Forest.load(saved)


TREES = [
    es.DependencyTree(["cats", "sleep"], ["N", "V"], [2, 0], ["nsubj", "root"], features=[["a", "b"], []]),
    es.DependencyTree(["go"], ["V"], [0], ["root"]),
    es.DependencyTree(list("wxyz"), list("NVNV"), [3, 4, 0, 0], list("abcd"), features=[["a"], ["b"], [], []]),
]


@pytest.fixture
def saved_sequences(tmp_path):
    path = tmp_path / "sequences.safetensors"
    Sequences.from_items(["the cat", "", ["a word", "é"]], "tags").save(path)
    return path


@pytest.fixture
def saved_arcs(tmp_path):
    path = tmp_path / "arcs.safetensors"
    Arcs.from_trees(TREES, ("tags", "own")).save(path)
    return path


def test_sequences_come_back_whole(saved_sequences) -> None:
    again = Sequences.load(saved_sequences)
    assert list(again) == [("the", "cat"), (), ("a word", "é")] and again.of == "tags"
    assert [path.name for path in saved_sequences.parent.iterdir()] == [saved_sequences.name]
    again[[2]].save(saved_sequences)
    assert list(Sequences.load(saved_sequences)) == [("a word", "é")]
    Sequences.from_items([]).save(saved_sequences)
    assert list(Sequences.load(saved_sequences)) == []


def test_dependency_trees_come_back_whole(saved_arcs) -> None:
    corpus, again = Arcs.from_trees(TREES, ("tags", "own")), Arcs.load(saved_arcs)
    assert again.templates == corpus.templates and list(again.vocabulary) == list(corpus.vocabulary)
    for name, array in corpus.arrays.items():
        np.testing.assert_array_equal(again.arrays[name], array)
        assert again.arrays[name].dtype == array.dtype
    kernel = es.DependencySubtree(("tags", "own"))
    np.testing.assert_array_equal(kernel(again, corpus), kernel(TREES))
    other = Arcs.from_trees(TREES[::-1], ("tags", "own")).with_vocabulary(corpus.vocabulary.extended())
    other.save(saved_arcs)
    np.testing.assert_array_equal(kernel(Arcs.load(saved_arcs)), kernel(TREES[::-1]))
    Arcs.from_trees([], ("tags",)).save(saved_arcs)
    assert len(Arcs.load(saved_arcs)) == 0


def test_a_file_of_another_kind_says_what_it_holds(saved, saved_sequences, saved_arcs) -> None:
    for load, path, reader in (
        (Forest.load, saved_sequences, "Sequences"),
        (Sequences.load, saved_arcs, "Arcs"),
        (Arcs.load, saved, "Forest"),
    ):
        with pytest.raises(InputError, match=f"holds a {reader}, no "):
            load(path)


def test_another_version_of_sequences_says_so(saved_sequences, saved_arcs) -> None:
    for path, load in ((saved_sequences, Sequences.load), (saved_arcs, Arcs.load)):
        rewrite(path, lambda header, arrays: header["$file"].update(version=99))
        with pytest.raises(InputError, match="version 99"):
            load(path)
        path.write_bytes(path.read_bytes()[:100])
        with pytest.raises(InputError, match="damaged"):
            load(path)


def set_header(**values):
    return lambda header, arrays: header.update(values)


HOSTILE_SEQUENCES = {
    "a symbol out of range": put("symbol", 0, 10_000),
    "a negative symbol": put("symbol", 0, -1),
    "offsets past the end": put("start", -1, 10_000),
    "offsets that fall": put("start", 1, 4),
    "offsets that do not start at 0": put("start", 0, 1),
    "offsets that wrap around": lambda header, arrays: arrays.update(start=wrapping(np.arange(5))),
    "no offsets": lambda header, arrays: arrays.update(start=np.zeros(0, np.int64)),
    "a missing array": lambda header, arrays: arrays.pop("symbol"),
    "another type": lambda header, arrays: arrays.update(symbol=arrays["symbol"].astype(np.int64)),
    "another shape": lambda header, arrays: arrays.update(symbol=arrays["symbol"][None]),
    "another unit": set_header(of="letters"),
    "no unit": lambda header, arrays: header.pop("of"),
    "labels that are no texts": lambda header, arrays: header["vocabulary"].update(labels=[1, 2, 3, 4]),
    "half a character": lambda header, arrays: header["vocabulary"]["labels"].__setitem__(0, "\ud800"),
    "a label twice": lambda header, arrays: header["vocabulary"]["labels"].__setitem__(
        1, header["vocabulary"]["labels"][0]
    ),
}


@pytest.mark.parametrize("name", HOSTILE_SEQUENCES)
def test_a_hostile_file_of_sequences_is_refused(saved_sequences, name) -> None:
    rewrite(saved_sequences, HOSTILE_SEQUENCES[name])
    with pytest.raises(InputError, match=str(saved_sequences)):
        Sequences.load(saved_sequences)


HOSTILE_ARCS = {
    "a head out of range": put("head", 0, 2),
    "a negative head": put("head", 0, -2),
    "a token that is its own head": put("head", 0, 0),
    "a circle": lambda header, arrays: arrays["head"].__setitem__(slice(0, 2), [1, 0]),
    "a tree without words": put("start", 1, 0),
    "offsets past the end": put("start", -1, 10_000),
    "feature offsets that fall": put("feature_start", 1, 100),
    "too few feature offsets": lambda header, arrays: arrays.update(feature_start=arrays["feature_start"][1:]),
    "a feature out of range": put("second", 0, 10_000),
    "a negative text": put("first", 0, -2),
    "a template out of range": put("template", 0, 2),
    "a feature twice": lambda header, arrays: [arrays[name].__setitem__(2, arrays[name][1]) for name in FEATURE],
    "features of a root": put("head", 0, -1),
    "an unknown template": set_header(templates=["tags", "worms"]),
    "a template too few": set_header(templates=["tags"]),
    "templates that are none": set_header(templates=3),
    "templates of templates": set_header(templates=[["tags"]]),
    "no templates": lambda header, arrays: header.pop("templates"),
    "a missing array": lambda header, arrays: arrays.pop("head"),
    "another type": lambda header, arrays: arrays.update(head=arrays["head"].astype(np.float32)),
}


# The same trees, with ROOT: their heads are [-1, 2, 0], [-1, 0] and [-1, 3, 4, 0, 0].
HOSTILE_ROOTS = {
    "a word without a head": put("head", 2, -1),
    "a ROOT with a head": put("head", 0, 1),
    "a ROOT that is not in front": lambda header, arrays: arrays["head"].__setitem__(slice(0, 3), [1, -1, 1]),
    "a ROOT without words": put("start", 1, 1),
    "a setting that is neither true nor false": set_header(root="yes"),
}


@pytest.mark.parametrize("name", HOSTILE_ROOTS)
def test_a_hostile_file_of_trees_with_roots_is_refused(tmp_path, name) -> None:
    path = tmp_path / "arcs.safetensors"
    Arcs.from_trees(TREES, ("tags", "own"), root=True).save(path)
    rewrite(path, HOSTILE_ROOTS[name])
    with pytest.raises(InputError, match=str(path)):
        Arcs.load(path)


def test_dependency_trees_saved_before_roots_counted_load_without(saved_arcs) -> None:
    rewrite(saved_arcs, lambda header, arrays: header.pop("root"))
    again = Arcs.load(saved_arcs)
    kernel = es.DependencySubtree(("tags", "own"))
    assert again.root is False
    np.testing.assert_array_equal(kernel(again), kernel(TREES))


@pytest.mark.parametrize("name", HOSTILE_ARCS)
def test_a_hostile_file_of_dependency_trees_is_refused(saved_arcs, name) -> None:
    rewrite(saved_arcs, HOSTILE_ARCS[name])
    with pytest.raises(InputError, match=str(saved_arcs)):
        Arcs.load(saved_arcs)


GRAPHS = [*TREES, es.Graph(["a", "b", "a"], [(0, 1), (1, 2, "x"), (2, 2)]), es.Graph([]), es.Graph(["é"])]


@pytest.fixture
def saved_graphs(tmp_path):
    path = tmp_path / "graphs.safetensors"
    Graphs.from_items(GRAPHS, "words").save(path)
    return path


def test_graphs_come_back_whole(saved_graphs) -> None:
    corpus, again = Graphs.from_items(GRAPHS, "words"), Graphs.load(saved_graphs)
    assert again.labels == "words" and list(again.vocabulary) == list(corpus.vocabulary)
    assert repr(again) == repr(corpus) == "<Graphs: 6 with 11 nodes and 6 edges>"
    for name, array in corpus.arrays.items():
        np.testing.assert_array_equal(again.arrays[name], array)
        assert again.arrays[name].dtype == array.dtype
    kernel = es.WeisfeilerLehman(2, labels="words")
    np.testing.assert_array_equal(kernel(again[[3, 0]], corpus), kernel(GRAPHS)[[3, 0]])
    with pytest.raises(InputError, match=r"holds a Graphs, no Forest. espalier.load"):
        Forest.load(saved_graphs)


HOSTILE_GRAPHS = {
    "a node that is not there": put("target", 0, 2),
    "a negative node": put("source", 0, -1),
    "a label out of range": put("label", 0, 10_000),
    "an edge label out of range": put("edge_label", 0, 10_000),
    "a negative edge label": put("edge_label", 0, -2),
    "offsets past the end": put("start", -1, 10_000),
    "edge offsets that fall": put("edge_start", 1, 100),
    "too few directions": lambda header, arrays: arrays.update(directed=arrays["directed"][1:]),
    "another direction": put("directed", 0, 2),
    "a missing array": lambda header, arrays: arrays.pop("source"),
    "other labels of nodes": set_header(node_labels="lemmas"),
    "another version": lambda header, arrays: header["$file"].update(version=2),
}


@pytest.mark.parametrize("name", HOSTILE_GRAPHS)
def test_a_hostile_file_of_graphs_is_refused(saved_graphs, name) -> None:
    rewrite(saved_graphs, HOSTILE_GRAPHS[name])
    with pytest.raises(InputError, match=str(saved_graphs)):
        Graphs.load(saved_graphs)
