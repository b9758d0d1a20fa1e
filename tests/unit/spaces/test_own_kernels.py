"""A kernel of a user that names a space is mined and explained without any other change."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest

import espalier as es
from espalier import KernelSVC, Normalized
from espalier.kernels import Constant, Linear, Precomputed, SmoothedPartialTree, Tagging, WeisfeilerLehman, fixed
from espalier.kernels.hyperparameters import Number, hyperparameter, number_of
from espalier.spaces import SPACES, parts_of


@dataclass(frozen=True, repr=False)
class Productions(es.Kernel):
    """Count the productions two trees share: fragments of depth 1."""

    decay: Number = hyperparameter(0.5, (1e-6, 1.0), zero=False)

    lone_leaves = False
    max_depth = 1

    def pair(self, x, y):
        s, t = (
            Counter((node.label, tuple((c.label, c.is_leaf) for c in node.children)) for node in tree if node.children)
            for tree in map(es.as_tree, (x, y))
        )
        return number_of(self.decay) * sum(s[key] * t[key] for key in s)

    def reads(self):
        return "trees"

    def feature_space(self):
        return "subset trees"

    def _label_settings(self):
        return [("decay", self.decay), ("frontier", fixed(1.0))]


TREES = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(T (A c) (B c))"]


@pytest.mark.parametrize("kernel", [Productions(), 2.0 * Normalized(Productions())], ids=repr)
def test_a_kernel_that_names_a_space_is_mined_and_explained(kernel):
    own = es.SubsetTree(0.5, max_depth=1)
    known = own if kernel == Productions() else 2.0 * Normalized(own)
    assert kernel(TREES) == pytest.approx(known(TREES))
    model, other = (KernelSVC(each).fit(TREES, [1, 1, 0, 0]) for each in (kernel, known))
    (mined,), (expected,) = (es.mine_fragments(each) for each in (model, other))
    assert mined.fragments.names() == expected.fragments.names()
    assert mined.weights == pytest.approx(expected.weights)
    why = es.explain(model, "(S (A a) (B d))")
    assert why.intercept + why.trees[0].total == pytest.approx(why.value)
    assert [str(reason.fragment) for reason in why] == [
        str(reason.fragment) for reason in es.explain(other, "(S (A a) (B d))")
    ]


@pytest.mark.parametrize(
    ("kernel", "reads", "space"),
    [
        (es.SubsetTree(), "trees", "subset trees"),
        (es.Subtree(), "trees", "subset trees"),
        (es.PartialTree(), "trees", "partial trees"),
        (SmoothedPartialTree(es.kernels.Exact()), "trees", None),
        (es.BagOfWords(of="tags"), "tags", "subsequences"),
        (es.Spectrum(of="characters"), "characters", "subsequences"),
        (es.Subsequence(), "words", "subsequences"),
        (Tagging(), "tagged words", None),
        (es.DependencySubtree(), "arcs", None),
        (WeisfeilerLehman(), "graphs", None),
        (es.RBF(), "vectors", None),
        (Linear(), "vectors", None),
        (Constant(), "nothing", None),
        (Precomputed([[1.0]]), "items", None),
    ],
    ids=repr,
)
def test_kernels_name_their_inputs_and_their_space(kernel, reads, space):
    assert kernel.reads() == reads and kernel.feature_space() == space
    assert space is None or SPACES[space].name == space
    terms, others = parts_of(3.0 * Normalized(kernel) + es.RBF(on="x"))
    assert len(terms) == (space is not None) and len(others) == 2 - len(terms)
