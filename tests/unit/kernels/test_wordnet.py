"""WordNet: a small database written here, and the real one where it is installed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import espalier as es
from espalier.kernels.expressions import parse_kernel
from espalier.kernels.wordnet import _USUAL_FOLDERS

LICENCE = "  1 This is the licence.\n"
NOUNS = """00000010 03 n 01 entity 0 000 | all
00000020 03 n 01 animal 0 001 @ 00000010 n 0000 | alive
00000030 03 n 02 dog 0 domestic_dog 0 002 @ 00000020 n 0000 ~ 00000050 n 0000 | barks
00000040 03 n 01 cat 0 001 @ 00000020 n 0000 | purrs
00000050 03 n 01 Rex 0 002 @i 00000030 n 0000 @ 00000010 n 0000 | one of them
00000060 03 n 01 hit 0 001 @ 00000010 n 0000 | an event
"""
VERBS = """00000010 03 v 01 strike 0 000 01 + 08 00 | to strike
00000020 03 v 01 hit 0 001 @ 00000010 v 0000 01 + 08 00 | to hit
00000030 03 v 01 go 0 001 @ 00000040 v 0000 01 + 08 00 | a circle
00000040 03 v 01 walk 0 001 @ 00000030 v 0000 01 + 08 00 | of two
"""
INDEX_NOUNS = """animal n 1 1 @ 1 0 00000020
cat n 1 1 @ 1 1 00000040
dog n 2 2 @ ~ 2 1 00000030 00000040
domestic_dog n 1 1 @ 1 0 00000030
entity n 1 0 1 0 00000010
hit n 1 1 @ 1 1 00000060
rex n 1 1 @ 1 0 00000050
"""
INDEX_VERBS = """go v 1 1 @ 1 1 00000030
hit v 1 1 @ 1 1 00000020
strike v 1 0 1 1 00000010
walk v 1 1 @ 1 1 00000040
"""


@pytest.fixture
def folder(tmp_path):
    files = {
        "data.noun": LICENCE + NOUNS,
        "data.verb": LICENCE + VERBS,
        "index.noun": LICENCE + INDEX_NOUNS,
        "index.verb": LICENCE + INDEX_VERBS,
        "verb.exc": "went go\n",
        "noun.exc": "kine cow cat\n",
        "cntlist.rev": "hit%1:03:00:: 1 2\nhit%2:03:00:: 1 7\nbig%3:00:00:: 1 4\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def test_paths_and_depths(folder):
    # entity 1, animal 2, dog and cat 3, rex 4 deep; verbs have a root above strike.
    near = es.kernels.WordNet(folder=folder)
    np.testing.assert_allclose(near(["dog"], ["cat", "animal", "rex", "entity"])[0], [4 / 6, 4 / 5, 6 / 7, 2 / 4])
    path = es.kernels.WordNet("path", folder=folder)
    np.testing.assert_allclose(path(["dog"], ["cat", "animal", "rex", "entity"])[0], [1 / 3, 1 / 2, 1 / 2, 1 / 3])
    np.testing.assert_allclose(path(["dog"], ["hit", "strike", "the"])[0], [0, 0, 0])
    np.testing.assert_allclose(es.kernels.WordNet(power=2, folder=folder)(["dog"], ["cat", "dog"])[0], [4 / 9, 1.0])


def test_words_have_their_most_frequent_sense_in_any_form(folder):
    near = es.kernels.WordNet(folder=folder)
    np.testing.assert_allclose(near(["hit"], ["strike", "animal"])[0], [4 / 5, 0])  # the verb is more frequent
    np.testing.assert_allclose(near(["dogs"], ["CATS", "dog", "Domestic Dog", "kine"])[0], [4 / 6, 1, 1, 4 / 6])
    np.testing.assert_allclose(near(["went"], ["go", "hits", "strikes"])[0], [1, 2 / 6, 2 / 5])


def test_several_senses_take_the_nearest(folder):
    both = es.kernels.WordNet(senses=None, folder=folder)
    np.testing.assert_allclose(both(["dog", "hit"], ["cat", "hit", "strike"]), [[1, 2 / 5, 0], [2 / 5, 1, 4 / 5]])
    assert not both.is_positive and es.kernels.WordNet(folder=folder).is_positive


def test_circles_end(folder):
    near = es.kernels.WordNet("path", folder=folder)
    assert near(["go"], ["walk"])[0, 0] > 0


@pytest.mark.parametrize("measure", ["wu-palmer", "path"])
def test_one_sense_is_always_a_kernel(folder, measure):
    words = ["dog", "cat", "animal", "rex", "entity", "hit", "strike", "walk", "the"]
    assert np.linalg.eigvalsh(es.kernels.WordNet(measure, folder=folder)(words))[0] > -1e-12


def test_equality_copies_and_prints(folder):
    near = es.kernels.WordNet("path", power=2, folder=folder)
    assert near == es.kernels.WordNet("path", power=2, folder=folder) == pickle.loads(pickle.dumps(near))
    assert near != es.kernels.WordNet("path", folder=folder)
    assert hash(near) == hash(pickle.loads(pickle.dumps(near)))
    assert repr(near) == f"WordNet(measure='path', power=2, folder={folder!r})"


def test_the_folder_may_come_from_the_environment(folder, monkeypatch):
    monkeypatch.setenv("WNSEARCHDIR", str(folder))
    assert es.kernels.WordNet() == es.kernels.WordNet(folder=folder)


def test_a_missing_database_says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no database files of WordNet.*apt install wordnet-base.*folder="):
        es.kernels.WordNet(folder=tmp_path)


@pytest.mark.parametrize("name", ["data.noun", "data.verb", "index.noun", "index.verb", "cntlist.rev"])
def test_a_broken_database_is_an_error(folder, name):
    with (folder / name).open("a") as stream:
        stream.write("00000070 what\n")
    with pytest.raises(es.InputError, match=rf"{name}, line \d+: this is not a record of a WordNet database"):
        es.kernels.WordNet(folder=folder)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "lin"}, "measure must be 'wu-palmer' or 'path', got 'lin'"),
        ({"senses": 0}, "senses must be a positive integer, got 0"),
        ({"power": 0.5}, "power must be a positive integer, got 0.5"),
    ],
)
def test_bad_settings(folder, options, message):
    with pytest.raises(ValueError, match=message):
        es.kernels.WordNet(folder=folder, **options)


@pytest.fixture(scope="module")
def real():
    try:
        return es.kernels.WordNet(), es.kernels.WordNet("path")
    except FileNotFoundError:
        pytest.skip(f"WordNet is in none of {', '.join(_USUAL_FOLDERS)}")


def test_the_published_values_of_wordnet_3(real):
    # As NLTK's documentation has them for the first senses.
    near, path = real
    assert path(["dog"], ["cat"])[0, 0] == pytest.approx(0.2)
    assert near(["dog"], ["cat"])[0, 0] == pytest.approx(0.857142857)
    assert path(["hit"], ["slap"])[0, 0] == pytest.approx(0.142857142)
    assert near(["hit"], ["slap"])[0, 0] == pytest.approx(0.25)


def test_a_thousand_words_are_a_kernel(real):
    near, path = real
    words = sorted(near._database.senses["noun"])[::120] + sorted(near._database.senses["verb"])[::60]
    for similarity in (near, path):
        assert np.linalg.eigvalsh(similarity(words))[0] > -1e-9


def test_a_saved_kernel_may_not_choose_the_folder(folder, monkeypatch):
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    text = f"Subsequence(2, similarity=WordNet(folder={str(folder)!r}))"
    assert repr(parse_kernel(text).similarity) == f"WordNet(folder={str(folder)!r})"  # a caller may
    with pytest.raises(
        es.InputError, match=r"may not choose the folder .* set the environment variable WNSEARCHDIR to it"
    ):
        parse_kernel(text, saved=True)
    monkeypatch.setenv("WNSEARCHDIR", str(folder))
    usual = parse_kernel("Subsequence(2, similarity=WordNet())", saved=True)
    assert parse_kernel(text, saved=True) == usual == parse_kernel(text)
