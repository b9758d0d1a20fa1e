"""Jackknifing that goes on where it stopped: finished parts are read, and other settings or data are refused."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest

import espalier as es
from espalier.errors import InputError
from espalier.jobs import Processes
from espalier.parsing import PCFG, DependencyParser, Tagger
from espalier.rerank import jackknifed
from espalier.rerank.part_files import described
from espalier.structures.conllu import read_conllu_documents
from espalier.structures.files import write_text

NOUNS, VERBS = ("cats", "dogs", "birds", "fish"), ("sleep", "swim", "sing")
TREES = [f"(S (NP (N {noun})) (VP (V {verb}) (NP (N {noun}))))" for noun in NOUNS for verb in VERBS]
TAGGED = [es.TaggedSequence([noun, verb, f"{noun}!"], ["N", "V", "N"]) for noun in NOUNS for verb in VERBS]
ARCS = [es.DependencyTree(own.words, own.tags, [2, 0, 2], ["nsubj", "root", "obj"]) for own in TAGGED]
DEPENDENCIES = functools.partial(DependencyParser.from_treebank, epochs=1, bits=10)

made: list[int] = []  # how many trees each parser was made of
limit = [100]


def counted(trees, **options):
    """Make a parser, and fail once there are as many as ``limit`` says."""
    if len(made) >= limit[0]:
        raise KeyboardInterrupt
    made.append(len(trees))
    return PCFG.from_treebank(trees, **options)


@pytest.fixture(autouse=True)
def _none_made():
    made.clear()
    limit[0] = 100


@pytest.mark.parametrize(
    ("items", "make"),
    [(TREES, PCFG.from_treebank), (TAGGED, Tagger.from_sentences), (ARCS, DEPENDENCIES)],
    ids=["trees", "tags", "arcs"],
)
def test_groups_of_files_are_those_that_were_computed(tmp_path, items, make):
    expected = jackknifed(items, 3, folds=4, make=make)
    for _ in range(2):
        assert jackknifed(items, 3, folds=4, make=make, folder=tmp_path / "parts") == expected
    names = sorted(path.name for path in (tmp_path / "parts").iterdir())
    assert names == ["description.json", *(f"part-{n}-of-4.jsonl" for n in (1, 2, 3, 4))]
    first = es.read_groups(tmp_path / "parts" / "part-1-of-4.jsonl")
    assert len(first) == 3 and all(group in expected for group in first)


def test_an_interrupted_call_goes_on(tmp_path):
    options = {"k": 3, "folds": 5, "make": counted, "markov": (2, 1), "random_state": 2}
    expected = jackknifed(TREES, **options)
    made.clear()
    limit[0] = 2
    with pytest.raises(KeyboardInterrupt):
        jackknifed(TREES, **options, folder=tmp_path)
    assert len(list(tmp_path.glob("part-*"))) == 2
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    limit[0] = 100
    seen = []
    assert jackknifed(TREES, **options, folder=str(tmp_path), progress=seen.append) == expected
    assert len(made) == 5
    assert min(map(float, seen)) >= 4 / 12 and seen[-1].fraction == 1.0 and np.all(np.diff(list(map(float, seen))) >= 0)
    (tmp_path / "part-3-of-5.jsonl").unlink()
    assert jackknifed(TREES, **options, folder=tmp_path) == expected and len(made) == 6
    seen.clear()
    assert jackknifed(TREES, **options, folder=tmp_path, progress=seen.append) == expected and len(made) == 6
    assert [progress.fraction for progress in seen] == [1.0]


def test_how_parts_run_is_no_setting(tmp_path):
    expected = jackknifed(TREES, 3, folds=4)
    with Processes(2) as processes:
        assert jackknifed(TREES, 3, folds=4, folder=tmp_path, executor=processes) == expected
    assert jackknifed(TREES, np.int64(3), folds=4, folder=tmp_path, n_threads=1) == expected


def test_some_rows_have_parts_of_their_own(tmp_path):
    rows = [7, 2, 7, -1]
    expected = jackknifed(TREES, 3, folds=12, rows=rows)
    for _ in range(2):
        assert jackknifed(TREES, 3, folds=12, rows=rows, folder=tmp_path) == expected
    assert len(list(tmp_path.glob("part-*"))) == 3
    with pytest.raises(InputError, match=r"rows is '4, digest \w+' there and 'all' here"):
        jackknifed(TREES, 3, folds=12, folder=tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 4}, "k is '3' there and '4' here"),
        ({"folds": 3}, "folds is '4' there and '3' here"),
        ({"random_state": 1}, "random_state is '0' there and '1' here"),
        ({"beam": 5.0}, "beam is 'None' there and '5.0' here"),
        ({"make": PCFG.from_treebank}, r"make is '\S+\.counted' there and 'espalier\.parsing\.pcfg\.PCFG\.from_treeb"),
        ({"make": functools.partial(counted, least=2)}, r"make is '\S+\.counted' there and 'partial\(.*least=2\)'"),
        ({"markov": (2, 2)}, r"markov is '\(2, 1\)' there and '\(2, 2\)' here"),
        ({"least": 2}, "least is missing there and '2' here"),
        ({"trees": TREES[::-1]}, r"trees is '12 trees, digest \w+' there and '12 trees, digest \w+' here"),
        ({"trees": TAGGED}, r"trees is '12 trees, digest \w+' there and '12 tagged sequences, digest \w+' here"),
        ({"documents": [n // 2 for n in range(12)]}, r"documents is 'None' there and '6, digest \w+' here"),
        ({"k": 4, "least": 2}, "k is '3' there and '4' here; least is missing there and '2' here"),
    ],
)
def test_another_setting_is_refused(tmp_path, change, message):
    options = {"trees": TREES, "k": 3, "folds": 4, "make": counted, "markov": (2, 1), "folder": tmp_path}
    jackknifed(**options)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError, match=f"holds parts of another call: {message}.*Use another folder"):
        jackknifed(**options | change)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(0.5), "0.5"),
        ([1, (2, None)], "(1, (2, None))"),
        ({"b", "a"}, "{'a', 'b'}"),
        ({"a": np.int8(1)}, "{'a': 1}"),
        (es.SubsetTree(0.5), repr(es.SubsetTree(0.5))),
        (es.Tree.from_brackets, "espalier.structures.tree.Tree.from_brackets"),
        (es.Tree, "espalier.structures.tree.Tree"),
    ],
)
def test_settings_are_written_alike_in_every_process(value, text):
    assert described("x", value) == text


def test_long_settings_differ_by_their_digest():
    assert described("x", np.arange(5)) != described("x", np.arange(1, 6))
    long, other = ["word"] * 300, [*["word"] * 299, "other"]
    assert len(described("x", long)) < 300 and described("x", long) != described("x", other)


def test_names_of_documents_do_not_matter_but_their_sentences_do(tmp_path):
    options = {"k": 2, "folds": 3, "folder": tmp_path}
    expected = jackknifed(TREES, documents=[n // 2 for n in range(12)], **options)
    assert jackknifed(TREES, documents=[f"d{n // 2}" for n in range(12)], **options) == expected
    with pytest.raises(InputError, match="documents is"):
        jackknifed(TREES, documents=[n % 6 for n in range(12)], **options)


def test_a_setting_that_failed_at_once_does_not_occupy_the_folder(tmp_path):
    with pytest.raises(ValueError, match="k must be"):
        jackknifed(TREES, 0, folds=4, folder=tmp_path)
    assert len(jackknifed(TREES, 2, folds=4, folder=tmp_path)) == 12


def test_settings_that_cannot_be_compared_are_refused(tmp_path):
    folder = tmp_path / "parts"
    with pytest.raises(TypeError, match=r"make must be a function of a module if folder is given.*lambda"):
        jackknifed(TREES, make=lambda trees: PCFG.from_treebank(trees), folder=folder)
    with pytest.raises(TypeError, match=r"markov is <object .*, which cannot be compared with that of another call"):
        jackknifed(TREES, markov=object(), folder=folder)
    for seed in (None, np.random.default_rng(0)):
        with pytest.raises(ValueError, match="random_state must be an integer of at least 0 if folder is given, got"):
            jackknifed(TREES, random_state=seed, folder=folder)
    assert not folder.exists()


def test_other_files_are_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="file is a file, and a folder is needed"):
        jackknifed(TREES, folder=tmp_path / "file")
    jackknifed(TREES, 2, folds=3, folder=tmp_path / "parts")
    for text in ("", "{", "[]", '{"k": 2}', '{"settings": {"k": 2}}', '{"settings": []}'):
        (tmp_path / "parts" / "description.json").write_text(text)
        with pytest.raises(InputError, match=r"description\.json does not describe parts|holds parts of another call"):
            jackknifed(TREES, 2, folds=3, folder=tmp_path / "parts")
    (tmp_path / "parts" / "description.json").unlink()
    with pytest.raises(InputError, match=r"has parts, such as part-1-of-3\.jsonl, but no description\.json"):
        jackknifed(TREES, 2, folds=3, folder=tmp_path / "parts")


def test_a_damaged_part_is_named(tmp_path):
    jackknifed(TREES, 2, folds=3, folder=tmp_path)
    part, other = tmp_path / "part-2-of-3.jsonl", tmp_path / "part-1-of-3.jsonl"
    text = part.read_text()
    lines = text.splitlines(keepends=True)
    for damaged in ("", "".join(lines[1:]), text[:-20], other.read_text(), "".join(lines[::-1])):
        part.write_text(damaged)
        with pytest.raises(InputError, match=r"part-2-of-3\.jsonl.*Delete it, and the part is computed again"):
            jackknifed(TREES, 2, folds=3, folder=tmp_path)
    part.unlink()
    jackknifed(TREES, 2, folds=3, folder=tmp_path)
    assert part.read_text() == text


def test_a_full_disk_leaves_finished_parts_alone(tmp_path, monkeypatch):
    def full(path, text):
        if "part-3" in str(path):
            raise OSError(28, "No space left on device", str(path))
        write_text(path, text)

    monkeypatch.setattr("espalier.structures.groups.write_text", full)
    with pytest.raises(OSError, match="No space left on device"):
        jackknifed(TREES, 2, folds=4, make=counted, folder=tmp_path)
    monkeypatch.undo()
    assert jackknifed(TREES, 2, folds=4, make=counted, folder=tmp_path) == jackknifed(TREES, 2, folds=4)
    assert len(made) == 3 + 2


def test_the_description_can_be_read(tmp_path):
    jackknifed(ARCS, 2, folds=3, make=DEPENDENCIES, folder=tmp_path)
    found = json.loads((tmp_path / "description.json").read_text())
    assert found["settings"]["k"] == "2" and found["settings"]["trees"].startswith("12 dependency trees, digest ")
    assert found["settings"]["espalier"] == repr(es.__version__)


def test_real_parts_are_read_again(data, tmp_path):
    listed = read_conllu_documents(data / "ewt_ud" / "en_ewt-ud-dev.conllu.gz")
    pairs = [(tree, number) for number, document in enumerate(listed) for tree in document][:300]
    trees, documents = (list(column) for column in zip(*pairs, strict=True))
    options = {"k": 5, "folds": 3, "documents": documents, "make": DependencyParser.from_treebank}
    options |= {"epochs": 2, "bits": 16, "order": 1, "n_threads": 1}
    expected = jackknifed(trees, **options, folder=tmp_path)
    assert [group.gold.heads for group in expected] == [tree.heads for tree in trees]
    (tmp_path / "part-2-of-3.jsonl").unlink()
    assert jackknifed(trees, **options, folder=tmp_path) == expected
