"""Saved taggers and rerankers, damaged: one clear error, or something that works; never a crash.

As in ``test_fragment_files``: what loads is used, for the compiled core trusts it.
"""

from __future__ import annotations

import warnings

import pytest
from tests.properties.test_fragment_files import CHANGES, loaded
from tests.properties.test_reader_fuzz import mutations, tried
from tests.unit.parsing.test_pcfg import TREES

import espalier as es
from espalier.parsing import Tagger
from espalier.rerank import GPPreference, RankingSVM, Reranker, VotedPerceptron

pytestmark = pytest.mark.fuzz

GROUPS = [
    es.Group(["(S (NP (N cat)) (V sat))", "(S (N cat) (V sat))", "(S (X cat) (V sat))"], [-1.0, -2.0, -3.5], gold)
    for gold in ("(S (NP (N cat)) (V sat))", "(S (N cat) (V sat))")
]
KERNEL = es.SubsetTree(0.4)
LEARNERS = {
    "perceptron": VotedPerceptron(KERNEL, random_state=0),
    "sum that is not compressed": VotedPerceptron(KERNEL + es.Subtree(0.5), random_state=0),
    "ranking machine": RankingSVM(KERNEL, random_state=0),
    "preferences": GPPreference(KERNEL, max_iterations=2),
}


def fitted(name):
    if name == "tagger":
        return Tagger.from_sentences(TREES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two groups teach little, and the learner says so
        return Reranker(LEARNERS[name]).fit(GROUPS)


def use(found):
    with warnings.catch_warnings():
        # Numbers of any size overflow, and that is no crash.
        warnings.simplefilter("ignore")
        if isinstance(found, Tagger):
            return [found.tag(["the", "Flump", "saw", "cats"], 3)]
        return found.predict(GROUPS)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["tagger", *LEARNERS])
def test_damaged_files_raise_or_work(tmp_path, name, change):
    model, path = fitted(name), tmp_path / "saved"
    model.save(path)
    whole = path.read_bytes()
    n_read = 0
    for data in mutations(whole, seed=12, change=lambda _, rng: CHANGES[change](whole, rng)):
        path.write_bytes(data)
        found = loaded(type(model).load, path)
        if found is not None:
            n_read += 1
            tried(lambda found=found: use(found), data)
    assert n_read > 0 or change == "bytes"
