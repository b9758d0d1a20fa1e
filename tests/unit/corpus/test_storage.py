"""Saved forests: exact, versioned, whole or not there, and harmless when hostile."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from espalier.corpus import Forest
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


def rewrite(path, change, metadata=None):
    arrays = {name: array.copy() for name, array in load_file(path).items()}
    header = json.loads(_metadata(path)["espalier"])
    change(arrays, header)
    save_file(arrays, path, metadata=metadata or {"espalier": json.dumps(header)})


def _metadata(path):
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        return file.metadata()


def test_another_version_or_format_says_so(saved) -> None:
    rewrite(saved, lambda arrays, header: header.update(version=99))
    with pytest.raises(InputError, match="version 99"):
        Forest.load(saved)
    rewrite(saved, lambda arrays, header: None, metadata={"espalier": "not json"})
    with pytest.raises(InputError, match="not a forest"):
        Forest.load(saved)


def put(name, index, value):
    def change(arrays, header):
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
    "a cycle": lambda arrays, header: arrays["child"].__setitem__(-1, len(arrays["label"]) - 1),
    "a label out of range": put("label", 0, 10_000),
    "a negative label": put("label", 0, -3),
    "a root out of range": put("root", 0, 10_000),
    "a subtree out of range": put("tree_subtree", 0, 10_000),
    "a count of zero": put("tree_count", 0, 0),
    "offsets past the end": put("child_start", -1, 10_000),
    "offsets that fall": put("child_start", 1, 7),
    "tree offsets whose differences wrap around": lambda arrays, header: arrays.update(
        tree_start=wrapping(arrays["tree_start"])
    ),
    "child offsets whose differences wrap around": lambda arrays, header: arrays.update(
        child_start=wrapping(arrays["child_start"])
    ),
    "a wrong height": put("height", -1, 0),
    "trees out of order": lambda arrays, header: arrays["tree_subtree"].__setitem__(
        slice(0, 2), arrays["tree_subtree"][:2][::-1].copy()
    ),
    "a child missing from its tree": lambda arrays, header: arrays.update(
        tree_subtree=np.delete(arrays["tree_subtree"], 0),
        tree_count=np.delete(arrays["tree_count"], 0),
        tree_start=np.maximum(arrays["tree_start"] - 1, 0),
    ),
    "a missing array": lambda arrays, header: arrays.pop("height"),
    "another type": lambda arrays, header: arrays.update(label=arrays["label"].astype(np.float64)),
    "labels that are no list": lambda arrays, header: header.update(labels="abc"),
    "a label twice": lambda arrays, header: header["labels"].__setitem__(1, header["labels"][0]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused(saved, name) -> None:
    rewrite(saved, HOSTILE[name])
    with pytest.raises(InputError):
        Forest.load(saved)
