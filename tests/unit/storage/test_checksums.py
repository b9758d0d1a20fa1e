"""Every kind of saved file has a checksum over all of its bytes, and no flipped bit goes unnoticed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import re
import threading
import warnings

import numpy as np
import pytest
from safetensors.numpy import load, save
from tests.saved_files import joined, split

import espalier as es
from candidate_groups import groups_of
from espalier.corpus import Arcs, Forest, Graphs, Sequences
from espalier.errors import InputError
from espalier.fragments import FragmentVectorizer, LinearizedTreeClassifier
from espalier.parsing import PCFG, PerceptronTagger, Tagger
from espalier.rerank import GPPreference, Reranker, VotedPerceptron

TREES = [
    "(S (NP (D the) (N cat)) (VP (V sat)))",
    "(S (NP (D a) (N dog)) (VP (V sat) (R there)))",
    "(S (VP (V run) (R there)))",
]
ARCS = [es.DependencyTree(["cats", "sleep"], ["N", "V"], [2, 0], ["nsubj", "root"])]


def linear() -> LinearizedTreeClassifier:
    return LinearizedTreeClassifier(es.SubsetTree(0.3), n_fragments=6, max_size=3).fit(TREES, ["a", "b", "c"])


MAKERS = {
    "kernel": (lambda: es.SubsetTree(es.PerLabel(0.3)) + es.Precomputed(np.eye(3)), es.load),
    "process": (lambda: es.GPRegressor(es.SubsetTree(0.3), learn=False).fit(TREES, [1.0, 2.0, 4.0]), es.load),
    "machine": (lambda: es.KernelSVC(es.SubsetTree(0.3)).fit(TREES, ["a", "b", "c"]), es.KernelSVC.load),
    "regression": (lambda: es.KernelSVR(es.SubsetTree(0.3)).fit(TREES, [1.0, 2.0, 4.0]), es.KernelSVR.load),
    "forest": (lambda: Forest.from_brackets(TREES), Forest.load),
    "sequences": (lambda: Sequences.from_items(["the cat", "a"]), Sequences.load),
    "arcs": (lambda: Arcs.from_trees(ARCS, ("tags",)), Arcs.load),
    "graphs": (lambda: Graphs.from_items(ARCS, "words"), Graphs.load),
    "vectorizer": (lambda: linear().vectorizer_, FragmentVectorizer.load),
    "classifier": (linear, LinearizedTreeClassifier.load),
    "grammar": (lambda: PCFG.from_treebank([es.Tree.from_brackets(text) for text in TREES]), PCFG.load),
    "tagger": (lambda: Tagger.from_sentences([es.Tree.from_brackets(text) for text in TREES]), Tagger.load),
    "perceptron tagger": (lambda: PerceptronTagger.from_sentences(TREES), PerceptronTagger.load),
    "perceptron": (lambda: Reranker(VotedPerceptron(es.SubsetTree(0.3))).fit(groups_of(0)[:4]), Reranker.load),
    "preferences": (
        lambda: Reranker(GPPreference(es.SubsetTree(0.3), max_iterations=1)).fit(groups_of(0)[:4]),
        Reranker.load,
    ),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few groups teach nothing
        for name, (make, _) in MAKERS.items():
            make().save(folder / name)
    return folder


@pytest.mark.parametrize("name", MAKERS)
def test_no_flipped_bit_goes_unnoticed(files, tmp_path, name):
    load, whole, rng = MAKERS[name][1], (files / name).read_bytes(), random.Random(name)
    load(files / name)
    n_header = 8 * (8 + int.from_bytes(whole[:8], "little"))
    start = 8 * re.search(rb"sha256", whole).start()
    # Around the checksum, where damage could hide it, in the header, and anywhere.
    bits = {*rng.sample(range(start - 300, start + 700), 250), *rng.sample(range(n_header), 100)}
    bits |= {rng.randrange(8 * len(whole)) for _ in range(150)}
    place = tmp_path / "flipped"
    for bit in sorted(bits):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        place.write_bytes(data)
        try:
            load(place)
        except InputError as error:
            assert str(place) in str(error)
        else:
            pytest.fail(f"bit {bit} of the file was flipped, and it loads")


def test_the_checksum_is_that_of_the_file_with_zeros_in_its_place(files):
    data = (files / "forest").read_bytes()
    (digits,) = re.findall(rb'\\"sha256\\": \\"([0-9a-f]{64})\\"', data)
    assert hashlib.sha256(data.replace(digits, b"0" * 64)).hexdigest().encode() == digits


def test_damage_says_what_is_wrong_and_what_to_do(files, tmp_path):
    data = bytearray((files / "forest").read_bytes())
    data[-1] ^= 4
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(InputError, match=r"checksum is not that of its contents. Copy the file again .* save it again"):
        Forest.load(tmp_path / "x")


@pytest.mark.parametrize("name", MAKERS)
def test_a_file_without_a_checksum_is_refused(files, tmp_path, name):
    """Files of Espalier 0.1 had none and load: see ``tests/golden/test_old_files.py``. All later ones have one."""
    data = (files / name).read_bytes()
    metadata = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    header = {key: value for key, value in json.loads(metadata["espalier"]).items() if key != "sha256"}
    (tmp_path / "x").write_bytes(save(load(data), metadata={"espalier": json.dumps(header)}))
    with pytest.raises(InputError, match="checksum cannot be read"):
        MAKERS[name][1](tmp_path / "x")


def test_a_label_that_looks_like_a_checksum_is_a_label(tmp_path):
    odd = ['"espalier":"{\\"sha256\\": \\"' + "0" * 64 + '\\"', '"espalier":"{"sha256": "' + "1" * 64 + '"']
    Sequences.from_items([odd, odd[::-1]]).save(tmp_path / "x")
    assert list(Sequences.load(tmp_path / "x")) == [tuple(odd), tuple(odd[::-1])]


def test_a_file_that_is_cut_while_it_is_read_is_no_crash(tmp_path):
    """Bytes are read and not mapped: a mapping ends Python by a signal where the file shrinks."""
    place, forest = tmp_path / "forest", Forest.from_brackets(TREES * 2000)
    forest.save(place)
    whole, done = place.read_bytes(), threading.Event()

    def cut_and_mend():
        while not done.is_set():
            os.truncate(place, 100)
            place.write_bytes(whole)

    thread = threading.Thread(target=cut_and_mend)
    thread.start()
    try:
        for _ in range(50):
            with contextlib.suppress(InputError):
                assert len(Forest.load(place)) == len(forest)
    finally:
        done.set()
        thread.join(60)


def test_the_same_model_gives_the_same_file(tmp_path):
    for name in ("a", "b"):
        Forest.from_brackets(TREES).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_file_that_was_put_together_again_is_read(files, tmp_path):
    (tmp_path / "x").write_bytes(joined(*split((files / "forest").read_bytes())))
    np.testing.assert_array_equal(
        Forest.load(tmp_path / "x").arrays["label"], Forest.load(files / "forest").arrays["label"]
    )
