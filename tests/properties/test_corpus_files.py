"""Saved sequences, dependency trees and graphs, damaged: one clear error, or a corpus that works; never a crash.

As in ``test_fragment_files``: what loads is used, for the compiled core trusts it. And any corpus comes back as it was.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.properties.test_fragment_files import CHANGES, loaded
from tests.properties.test_reader_fuzz import mutations, tried

import espalier as es
from espalier.corpus import Arcs, Graphs, Sequences

TREES = [
    es.DependencyTree(["cats", "sleep"], ["N", "V"], [2, 0], ["nsubj", "root"], features=[["a", "b"], []]),
    es.DependencyTree(list("wxyz"), list("NVNV"), [3, 4, 0, 0], list("abcd"), features=[["a"], ["b"], [], []]),
    es.DependencyTree(["go"], ["V"], [0], ["root"]),
]
TEMPLATES = ("tags", "own", "distance")
CORPORA = {
    "sequences": (Sequences.from_items(["the cat", "", "a cat the cat"]), es.Spectrum(2, shortest=1)),
    "tags": (Sequences.from_items(["D N", "V"], "tags"), es.BagOfWords(of="tags")),
    "graphs": (
        Graphs.from_items([*TREES, es.Graph(["N", "N"], [(0, 1), (0, 0, "x")]), es.Graph([])]),
        es.WeisfeilerLehman(2),
    ),
    "arcs": (Arcs.from_trees(TREES, TEMPLATES), es.DependencySubtree(TEMPLATES)),
}


@pytest.mark.fuzz
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", CORPORA)
def test_damaged_files_raise_or_work(tmp_path, name, change):
    corpus, kernel = CORPORA[name]
    path = tmp_path / "saved"
    corpus.save(path)
    whole = path.read_bytes()
    n_read = 0
    for data in mutations(whole, seed=7, change=lambda _, rng: CHANGES[change](whole, rng)):
        path.write_bytes(data)
        found = loaded(type(corpus).load, path)
        if found is not None:
            n_read += 1
            # Another unit or other templates may have been written there: an error that says so.
            tried(lambda found=found: kernel(found, n_threads=1), data)
            n = len(found)
            tried(lambda found=found, n=n: kernel.vjp(found[::-1], n_threads=1)[1](np.ones((n, n))), data)
            assert len(list(found.vocabulary)) == len(found.vocabulary)
    assert n_read > 0


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(WORDS, max_size=5), max_size=4), st.sampled_from(["words", "characters", "tags"]))
def test_any_sequences_come_back(tmp_path, items, of):
    corpus = Sequences.from_items(items, of)
    corpus.save(tmp_path / "saved")
    again = Sequences.load(tmp_path / "saved")
    assert list(again) == list(corpus) == [tuple(item) for item in items] and again.of == of


@st.composite
def dependency_trees(draw):
    n = draw(st.integers(1, 5))
    order = draw(st.permutations(range(n)))
    heads = [0] * n
    for k in range(1, n):
        heads[order[k]] = draw(st.sampled_from([0, *(token + 1 for token in order[:k])]))
    words, tags, relations = (draw(st.lists(WORDS, min_size=n, max_size=n)) for _ in range(3))
    own = draw(st.lists(st.lists(WORDS, max_size=2), min_size=n, max_size=n))
    return es.DependencyTree(words, tags, heads, relations, features=own)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(dependency_trees(), max_size=4), st.permutations(["words", "tags", "own"]))
def test_any_dependency_trees_come_back(tmp_path, trees, templates):
    corpus = Arcs.from_trees(trees, tuple(templates))
    corpus.save(tmp_path / "saved")
    again = Arcs.load(tmp_path / "saved")
    assert list(again.vocabulary) == list(corpus.vocabulary) and again.templates == corpus.templates
    assert {name: array.tolist() for name, array in again.arrays.items()} == {
        name: array.tolist() for name, array in corpus.arrays.items()
    }
