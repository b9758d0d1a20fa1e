"""A kernel of a user that names a space is mined and explained without any other change."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest

import espalier as es
from espalier import KernelSVC, Normalized
from espalier.kernels import Constant, Idf, Linear, Precomputed, SmoothedPartialTree, Tagging, WeisfeilerLehman, fixed
from espalier.kernels.hyperparameters import Number, hyperparameter, number_of
from espalier.spaces import SPACES, listable_terms, parts_of
from espalier.spaces.space import Seen
from espalier.spaces.tree_space import TreeSearch
from espalier.testing import check_kernel, check_space


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


@dataclass(frozen=True, repr=False)
class Twice(Productions):
    """A kernel that weighs features in a way that its space cannot."""

    def pair(self, x, y):
        return 2 * super().pair(x, y)


def test_features_that_do_not_multiply_to_their_kernel_are_noticed():
    for kernel in (Productions(), 3.0 * Normalized(Productions()) + es.PartialTree() + es.Subtree()):
        check_space(kernel, TREES)
    for kernel in (es.BagOfWords(idf=Idf.fit(["a b"])), es.Spectrum(2), es.Subsequence(2, gap_decay=0.3)):
        check_space(kernel, ["a b a", "b a", ""])
    for check in (check_space, check_kernel):
        with pytest.raises(
            AssertionError, match=r"'subset trees' lists do not multiply.*k\(0, 0\) is 3, .* give 1.5\."
        ):
            check(Twice(), TREES)
    with pytest.raises(ValueError, match="names no feature space"):
        check_space(es.RBF(), [[1.0], [2.0]])
    with pytest.raises(ValueError, match=r"more than 20,000 features in these items\. Use smaller ones"):
        check_space(es.Subsequence(30), [" ".join(map(str, range(60)))])


def test_a_space_that_does_not_exist_is_named_with_those_that_do():
    @dataclass(frozen=True, repr=False)
    class Elsewhere(Productions):
        def feature_space(self):
            return "sub set trees"

    model = KernelSVC(Elsewhere()).fit(TREES, [1, 1, 0, 0])
    with pytest.raises(ValueError, match=r"'sub set trees', and the known ones are 'subset trees', .*spaces/terms.py"):
        es.mine_fragments(model)


def test_what_a_kernel_lacks_for_its_space_is_named():
    @dataclass(frozen=True, repr=False)
    class Bare(es.Kernel):
        def pair(self, x, y):
            return 1.0

        def feature_space(self):
            return "subset trees"

    model = KernelSVC(Bare()).fit(TREES, [1, 1, 0, 0])
    with pytest.raises(TypeError, match=r"needs _label_settings, lone_leaves, max_depth, but Bare has no _label_sett"):
        es.mine_fragments(model)


def test_a_search_in_python_need_not_say_how_far_it_is():
    class InPython(TreeSearch):
        def exact(self, *_):
            raise NotImplementedError

        def local(self, *_):
            raise NotImplementedError

    assert InPython(Productions(), es.Forest.from_trees(TREES)).seen() == Seen()


def test_kernels_whose_features_can_be_listed_are_named_from_their_classes():
    message = "Those of BagOfWords, PartialTree, Spectrum, Subsequence, SubsetTree and Subtree \\(of Subsequence only"
    with pytest.raises(es.InputError, match=message):
        listable_terms(es.RBF())


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
