"""Kernels in files: every class of the library comes back equal, with its arrays, and gives the same values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from tests.saved_files import rewrite

import espalier as es
from espalier.errors import InputError
from espalier.gp import AroundCommon, Beta, Gamma, HalfNormal, LogNormal
from espalier.kernels import (
    Exact,
    Idf,
    Kernel,
    LatentSemantic,
    Power,
    SimilarityTable,
    Thresholded,
    expressions,
)
from espalier.storage.states import restored

TEXTS = ["the cat sleeps", "a cat purrs", "the kitten sleeps", "a kitten purrs", "the tax rises", "a tax"]
EMBEDDING = es.Embedding({"cat": [1.0, 0.3], "dog": [0.7, 0.5], "$kind": [0.1, 0.2]})
TABLE = SimilarityTable(["cat", "dog"], [[1.0, 0.5], [0.5, 1.0]])
PER_LABEL = es.PerLabel(
    es.Learned(0.4, bounds=(0.1, 0.9), prior=LogNormal(0.3, 1.0)),
    groups={"s": ["S", "SQ"]},
    values={"NP": 0.2, "$kind": 0.3, "$array": 0.1},
)
KERNELS = [
    es.SubsetTree(PER_LABEL, es.fixed(0.0), max_depth=3, lone_leaves=True),
    es.SubsetTree(es.PerLabel(0.4, prior=None), es.PerLabel(es.Learned(1.0, prior=None))),
    es.SubsetTree(es.PerLabel(0.4, prior=AroundCommon(0.3, 1.0))),
    es.Subtree(es.Learned(0.5, prior=Gamma(2.0, 1.0))),
    es.PartialTree(es.Learned(0.5, prior=Beta(2.0, 1.0)), on="x"),
    es.SmoothedPartialTree(EMBEDDING, decay=es.Learned(0.5, prior=HalfNormal(2.0))),
    es.SmoothedPartialTree(TABLE, mix=0.2, soft="all"),
    es.SmoothedPartialTree(Thresholded(EMBEDDING, 0.5)),
    es.SmoothedPartialTree(Exact()),
    es.SmoothedPartialTree(LatentSemantic.fit(TEXTS, 3)),
    es.Subsequence(3, order_weights=(1.0, 0.5, 0.25), similarity=TABLE, of="words"),
    es.Spectrum(3, shortest=1),
    es.BagOfWords(idf=Idf.fit([*TEXTS, "$kind $array"])),
    es.Tagging(),
    es.DependencySubtree(("tags", "own")),
    es.DependencySubtree(("tags",), max_arcs=2),
    es.WeisfeilerLehman(2, labels="words"),
    es.Precomputed([[1.0, 0.1 + 0.2], [0.1 + 0.2, 1.0]], on="row"),
    es.RBF(es.PerDimension(1.0, values=(0.5, 2.0)), on=("a", "b")),
    es.Matern(smoothness=2.5),
    es.Linear(),
    es.Polynomial(2),
    es.Constant(0.3),
    es.Coregion("task", 2, weights=es.PerLabel(0.7, values={"a,0": -0.3}), kappa=es.PerLabel(0.5, values={"a": 2.0})),
    es.EasyAdapt(shared=0.5),
    Power(es.Radial(es.Subtree(), 2.0), 3),
    es.fixed(2.0) * es.Normalized(es.SubsetTree()) * es.RBF(on="v") + 0.1 * es.Subtree(),
]


def test_all_classes_are_tried():
    def inside(kernel):
        return {type(kernel).__name__}.union(*(inside(child) for _, child in kernel._children()))

    missing = set(expressions.kernel_classes()) - set().union(*map(inside, KERNELS))
    assert not missing, f"Add {', '.join(sorted(missing))} to KERNELS above, so that files with them are tried."


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: repr(kernel)[:40])
def test_kernels_come_back_equal(tmp_path, kernel):
    kernel.save(tmp_path / "kernel")
    again = es.load(tmp_path / "kernel")
    assert type(again) is type(kernel) and again == kernel and hash(again) == hash(kernel)
    assert repr(again) == repr(kernel) and again.parameters() == kernel.parameters()
    assert type(kernel).load(tmp_path / "kernel") == Kernel.load(tmp_path / "kernel") == kernel
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "kernel").read_bytes()


def test_labels_in_a_file_that_names_no_prior_have_none():
    """They were written when ``PerLabel`` had no default prior."""
    content = {"$kind": "PerLabel", "value": 0.4, "groups": [["s", ["S", "SQ"]]], "values": [["NP", 0.2]]}
    assert restored(content, {}) == es.PerLabel(0.4, groups={"s": ["S", "SQ"]}, values={"NP": 0.2}, prior=None)
    learned = {"$kind": "Learned", "value": 0.4, "bounds": None, "prior": {"$kind": "HalfNormal", "scale": 2.0}}
    assert restored({**content, "value": learned}, {}).value == es.Learned(0.4, prior=HalfNormal(2.0))


def test_arrays_come_back_bit_for_bit(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(50, 7))
    similarity = es.Embedding({f"w{k}": row for k, row in enumerate(vectors)})
    similarity.save(tmp_path / "x")
    words = [f"w{k}" for k in range(60)]
    np.testing.assert_array_equal(es.load(tmp_path / "x")(words), similarity(words))


def test_a_kernel_of_another_class_is_refused(tmp_path):
    es.Subtree().save(tmp_path / "x")
    with pytest.raises(InputError, match=r"holds a Subtree, no SubsetTree. espalier.load\(path\) reads it"):
        es.SubsetTree.load(tmp_path / "x")


@dataclass(frozen=True, repr=False)
class OfMyOwn(Kernel):
    def pair(self, x, y):
        return 1.0


@dataclass(frozen=True)
class PriorOfMyOwn:
    def log_density(self, value):
        return 0.0


@pytest.mark.parametrize(
    "kernel",
    [
        OfMyOwn(),
        es.Subtree() + OfMyOwn(),
        es.Subtree(es.Learned(0.4, prior=PriorOfMyOwn())),
        es.SmoothedPartialTree(es.Embedding(lambda word: [1.0])),
    ],
)
def test_code_of_a_user_cannot_be_saved(tmp_path, kernel):
    with pytest.raises(InputError, match=r"[aA] file holds no code"):
        kernel.save(tmp_path / "x")
    assert not (tmp_path / "x").exists()


def nested(n):
    state = {"$kind": "Subtree"}
    for _ in range(n):
        state = {"$kind": "Normalized", "kernel": state}
    return state


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel": nested(10)}, "more than 10 kernels are nested in each other"),
        ({"kernel": nested(60)}, "objects are nested in each other"),
        ({"kernel": {"$kind": "Spectrum", "length": 10**9}}, "integers of its kernel add up to more than 2,000,000"),
        ({"kernel": {"$kind": "os"}}, "holds a 'os', which this version of Espalier does not have"),
        ({"kernel": {"$kind": "Kernel"}}, "does not have"),
        ({"kernel": {"$kind": ["Subtree"]}}, "must be a text"),
        ({"kernel": {"$kind": "Subtree", "decay": {"$array": "x"}}}, "the array 'x' is missing"),
        ({"kernel": {"$kind": "Subtree", "decay": {"$kind": "Subtree"}}}, "must be a number"),
        ({"kernel": {"$kind": "Subtree", "wings": 2}}, "wings"),
        ({"kernel": {"$kind": "Vocabulary", "labels": []}}, "made of kernels"),
        ({"kernel": {"$kind": "Subtree", "on": {}}}, "name a column"),
    ],
)
def test_hostile_kernels_are_refused(tmp_path, change, message):
    es.Normalized(es.Subtree()).save(tmp_path / "x")
    rewrite(tmp_path / "x", lambda state, arrays: state.update(change))
    with pytest.raises(InputError, match=message) as caught:
        es.load(tmp_path / "x")
    assert str(caught.value).startswith(str(tmp_path / "x"))


def test_kernels_that_no_file_could_hold_are_not_written(tmp_path):
    kernel = es.Subtree()
    for _ in range(10):
        kernel = es.Normalized(kernel)
    with pytest.raises(InputError, match="more than 10 kernels inside each other"):
        kernel.save(tmp_path / "x")
