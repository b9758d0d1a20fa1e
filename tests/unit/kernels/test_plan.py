"""The contract of plans: what their values are, one evaluation, and labels to bind a kernel to."""

import numpy as np
import pytest

import espalier as es
from espalier.kernels.plan import Evaluated, Labels, bound
from espalier.kernels.row_blocks import ByRows

TREES = ["(S (NP (D the) (N cat)) (VP (V sleeps)))", "(S (NP (N cats)) (VP (V sleep)))", "(NP (D the) (N dog))"]
TEXTS = ["the cat sleeps", "cats sleep", "the dog"]
TAGGED = [es.TaggedSequence(["the", "cat"], ["D", "N"]), es.TaggedSequence(["cats"], ["N"])]
ARCS = [es.DependencyTree(["cats", "sleep"], ["NNS", "VBP"], [2, 0], ["nsubj", "root"])] * 3
VECTORS = np.arange(6.0).reshape(3, 2)
CASES = {
    "trees": (es.SubsetTree(), TREES),
    "sequences": (es.Subsequence(2), TEXTS),
    "tags": (es.Tagging(), TAGGED),
    "arcs": (es.DependencySubtree(), ARCS),
    "features": (es.BagOfWords(), TEXTS),
    "distances": (es.RBF(), VECTORS),
    "dot products": (es.Linear(), VECTORS),
    "polynomials": (es.Polynomial(2), VECTORS),
    "constants": (es.Constant(), TEXTS),
    "numbers of rows": (es.Precomputed(np.eye(3)), [0, 1, 2]),
    "sums": (es.SubsetTree() + 2.0 * es.PartialTree(), TREES),
    "products": (es.SubsetTree() * es.Subtree() ** 2, TREES),
    "cosines": (es.Normalized(es.SubsetTree()), TREES),
    "radial": (es.Radial(es.SubsetTree()), TREES),
}


@pytest.mark.parametrize("case", CASES)
def test_a_plan_says_what_its_values_are(case):
    kernel, items = CASES[case]
    n = len(items)
    for plan, kind, shape in [
        (kernel.plan(items), "symmetric", (n, n)),
        (kernel.plan(items, items[:1]), "cross", (n, 1)),
        (kernel.diagonal_plan(items), "diagonal", (n,)),
    ]:
        assert (plan.kind, plan.shape) == (kind, shape)
        assert plan.matrix(kernel).shape == shape
        assert plan.vjp(kernel)[0].shape == shape


@pytest.mark.parametrize("method", ["matrix", "vjp", "bind"])
def test_every_plan_refuses_a_kernel_of_another_form(method):
    for case in CASES:
        kernel, items = CASES[case]
        other = es.Matern() if case != "distances" else es.Linear()
        with pytest.raises(TypeError, match=r"This plan was made for .* only hyperparameters may differ"):
            getattr(kernel.plan(items), method)(other)


def test_values_that_a_pull_back_keeps_are_copied_for_who_takes_them():
    values = np.ones((2, 2))
    assert Evaluated(values, dict).taken() is values
    taken = Evaluated(values, dict, is_kept=True).taken()
    assert taken is not values and np.array_equal(taken, values)


def test_values_that_come_by_rows_are_added_without_a_matrix():
    read = []

    def rows(part):
        read.append(part)
        return np.full((300, 300), 2.0)[part]

    out = np.ones((300, 300))
    Evaluated(ByRows((300, 300), rows), dict).add_to(out)
    assert (out == 3.0).all()
    assert len(read) > 1


def test_a_kernel_is_bound_to_labels():
    decay = es.PerLabel(0.4)
    kernel = es.Normalized(es.PartialTree(decay)) + es.RBF(es.PerDimension(1.0))
    found = Labels(inside=((Labels(inside=((Labels(["NP"]), Labels(["VP"])),)),), (Labels(n_dimensions=2),)))
    paths = list(bound(kernel, found).parameters())
    decays = [path for path in paths if ".decay" in path]
    assert sorted(decays) == ["terms[0].decay[<leaf>]", "terms[0].decay[NP]", "terms[0].decay[VP]"]
    assert [path for path in paths if "lengthscale" in path] == ["terms[1].lengthscale[0]", "terms[1].lengthscale[1]"]
    assert bound(es.SubsetTree(0.3), Labels(["NP"])) == es.SubsetTree(0.3)
