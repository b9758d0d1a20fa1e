"""The gradient of the evidence against central differences, in every hyperparameter."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es
from espalier import GPRegressor, Learned, PerDimension, PerLabel, fixed
from espalier.gp import BoxCox, Warping
from random_trees import random_trees
from reference.gaussian_process import central_difference

SOURCE = [tree for tree in random_trees(5, 40, max_size=12) if tree.children][:11]
TARGET = [tree for tree in random_trees(6, 40, max_size=12) if tree.children][:11]
FEATURES = np.random.default_rng(0).normal(size=(11, 3))
TABLE = es.Table(source=SOURCE, target=TARGET, features=FEATURES)
Y = np.exp(np.random.default_rng(1).normal(size=11))
GROUPS = ["a", "b"] * 5 + ["c"]
WEIGHTS = np.linspace(0.5, 2.0, 11)


def tree(on, decay=0.3, frontier=0.7):
    return es.SubsetTree(decay, frontier, on=on)


BOTH = tree("source") * tree("target", 0.2)
KERNELS = {
    "composed": BOTH + es.RBF(on="features"),
    "composed, normalised": es.Normalized(tree("source")) * es.Normalized(tree("target")) + es.RBF(on="features"),
    "normalised as a whole": es.Normalized(BOTH) + 0.5 * es.RBF(on="features"),
    "per label": tree("source", PerLabel(0.3)) * tree("target", 0.2, PerLabel(0.5)) + es.RBF(on="features"),
    "per label, normalised": es.Normalized(tree("source", PerLabel(0.3), PerLabel(0.8))) + es.Matern(on="features"),
    "groups": tree("source", PerLabel(0.3, groups={"phrases": ["NP", "VP"]}), PerLabel(0.6, values={"S": 1.5})),
    "per dimension": BOTH
    + 0.7 * es.RBF(PerDimension(1.5), on="features")
    + es.Linear(PerDimension(0.3), on="features"),
    "partial trees": es.Normalized(es.PartialTree(0.4, 0.6, on="source")) + es.PartialTree(PerLabel(0.3), on="target"),
    "subtrees": es.Subtree(on="source") + es.Subtree(PerLabel(0.6), on="target"),
    "matern": 1.0 * es.Matern(2.0, on="features") + es.Polynomial(on="features") + es.Constant(0.2),
    "radial": es.Radial(tree("source"), 1.5) + es.kernels.Power(es.Normalized(tree("target")), 2),
    "frontier near its bound": tree("source", 0.3, 1e-6) + es.Normalized(tree("target", 0.3, 1e-6)),
    "decay near its bound": 10.0 * tree("source", 1e-6) + es.Normalized(tree("target", 0.999)),
    "one fixed": es.SubsetTree(fixed(0.4), 0.7, on="source") + es.SubsetTree(0.4, fixed(0), on="target"),
}


def check(model, *, rtol=2e-6, atol=1e-7):
    """Every path, in natural units; a step that bounds do not allow is taken all the same: kernels do not mind."""
    theta = {parameter.path: parameter.start for parameter in model._examples.parameters()}
    assert theta
    value, gradient = model.log_marginal_likelihood(theta, gradient=True)
    assert value == pytest.approx(model.log_marginal_likelihood(theta), rel=1e-12)
    assert set(gradient) == set(theta)
    for path, start in theta.items():
        signed = path.startswith(("transform.centre", "transform.power"))
        step = 1e-3 if signed else 2e-3 * start

        def evidence(x, path=path):
            return model.log_marginal_likelihood({**theta, path: x})

        expected = central_difference(evidence, start, step)
        # The difference of two evidences is rounded to about 1e-13 of their size.
        noise = 1e-12 * max(1.0, abs(value)) / step
        assert gradient[path] == pytest.approx(expected, rel=rtol, abs=atol + noise), path


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name):
    check(GPRegressor(KERNELS[name], noise=0.3, learn=False).fit(TABLE, Y))


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize(
    "mean", [None, "constant", es.gp.LinearMean(on="features")], ids=["none", "constant", "linear"]
)
@pytest.mark.parametrize(
    "transform", [None, "log", "sqrt", "boxcox", BoxCox(1e-7), BoxCox(-0.7), "warped", Warping(1)], ids=repr
)
def test_transforms_means_and_noise(transform, mean, standardize):
    kernel = es.Normalized(tree("source")) + es.RBF(on="features")
    options = {"target_transform": transform, "mean": mean, "standardize": standardize, "learn": False}
    check(GPRegressor(kernel, noise=0.3, **options).fit(TABLE, Y, noise_variance=np.linspace(0, 0.5, 11)))
    noise = PerLabel(0.2, values={"a": 0.4})
    check(
        GPRegressor(es.RBF(on="features"), noise=noise, **options).fit(
            TABLE, Y, noise_groups=GROUPS, sample_weight=WEIGHTS, noise_variance=0.1
        )
    )


@pytest.mark.parametrize("noise", [fixed(0.3), PerLabel(fixed(0.3)), Learned(0.3, bounds=(0.1, 1))], ids=repr)
def test_noise_forms(noise):
    groups = {"noise_groups": GROUPS} if isinstance(noise, PerLabel) else {}
    check(GPRegressor(es.RBF(on="features"), noise=noise, learn=False).fit(TABLE, Y, **groups))


@pytest.mark.parametrize(
    "trees",
    [["(A (A (A a)))", "(A a)", "(A (A a) (A a))"], ["(S (A a) (B b))"] * 3, ["(S (A a) (B b))"]],
    ids=["one label", "identical trees", "one tree"],
)
@pytest.mark.parametrize(
    "kernel",
    [
        es.SubsetTree(PerLabel(0.3), PerLabel(0.5)),
        1.0 * es.Normalized(es.SubsetTree(PerLabel(0.3), 1e-6)),
        es.PartialTree(PerLabel(0.4), PerLabel(0.6)),
    ],
    ids=repr,
)
def test_little_data(trees, kernel):
    y = np.array([1.0, 2.0, 4.0])[: len(trees)]
    check(GPRegressor(kernel, noise=0.3, standardize=False, learn=False).fit(trees, y))


def test_a_users_kernel_has_numerical_gradients():
    from dataclasses import dataclass

    @dataclass(frozen=True, repr=False)
    class Lengths(es.Kernel):
        width: float = es.kernels.hyperparameter(2.0)

        def pair(self, x, y):
            return float(np.exp(-((len(x) - len(y)) ** 2) / self.width**2))

    check(GPRegressor(Lengths(), noise=0.3, learn=False).fit(["a" * k for k in range(11)], Y), rtol=1e-4, atol=1e-5)
