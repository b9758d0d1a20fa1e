"""Classes by regression agree with one Gaussian process for each class, and their gradients with differences."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.kernels import BagOfWords, Normalized, PerLabel, Subsequence, fixed
from espalier_experiments.beck2014.one_vs_rest import Classes, SharedEvidence, learn, predict

gp = pytest.importorskip("espalier.gp")

TEXTS = [
    "who wrote the song",
    "who sang the old song",
    "who was he",
    "where is the old town",
    "where was he born",
    "where is it",
    "when was the town built",
    "when did he sing",
    "when is it",
]
LABELS = np.repeat(["human", "place", "time"], 3)
NEW = ["who is it", "where was the song", "when was it built", "who built the town"]
KERNEL = 0.7 * Normalized(Subsequence(2, 0.4, 0.6, order_weights=fixed(1.0))) + 0.3 * Normalized(BagOfWords())


def processes(noise):
    """One regressor for each class, at the kernel's own values."""
    for column in Classes.of(LABELS).targets.T:
        yield gp.GPRegressor(KERNEL, noise=fixed(noise), standardize=False, learn=False).fit(TEXTS, column)


def at_start(problem):
    return {parameter.path: parameter.start for parameter in problem.parameters()}


def test_targets_are_centred_and_add_up_to_nothing():
    classes = Classes.of(LABELS)
    assert classes.names.tolist() == ["human", "place", "time"] and classes.share.tolist() == [1 / 3] * 3
    assert np.allclose(classes.targets.sum(axis=0), 0) and np.allclose(classes.targets.sum(axis=1), 0)


def test_the_evidence_is_the_sum_over_classes():
    problem = SharedEvidence.of(KERNEL, TEXTS, LABELS, noise=0.05)
    value, _ = problem.gradient(at_start(problem))
    assert value == pytest.approx(sum(process.log_marginal_likelihood_ for process in processes(0.05)))


def test_one_class_against_the_rest_is_a_regressor():
    labels = np.where(LABELS == "human", "human", "other")
    problem = SharedEvidence.of(KERNEL, TEXTS, labels, noise=0.05)
    value, gradient = problem.gradient(at_start(problem))
    process = gp.GPRegressor(KERNEL, noise=0.05, standardize=False, max_iterations=0)
    process.fit(TEXTS, Classes.of(labels).targets[:, 0])
    own, slopes = process.log_marginal_likelihood({"noise": 0.05}, gradient=True)
    assert value == pytest.approx(2 * own)  # the other class has the same targets, with the other sign
    assert gradient == pytest.approx({path: 2 * slope for path, slope in slopes.items()})


def test_the_largest_mean_wins():
    means = np.stack([process.predict(NEW) for process in processes(0.05)], axis=1) + 1 / 3
    found = predict(KERNEL(TEXTS), KERNEL(NEW, TEXTS), LABELS, 0.05)
    assert found.tolist() == Classes.of(LABELS).names[means.argmax(axis=1)].tolist()
    assert found.tolist()[:3] == ["human", "place", "time"]


@pytest.mark.parametrize("kernel", [KERNEL, Normalized(Subsequence(2, PerLabel(0.4), order_weights=fixed(1.0)))])
def test_gradients_are_those_of_differences(kernel):
    problem = SharedEvidence.of(kernel, TEXTS, LABELS, noise=0.05)
    values = at_start(problem)
    _, gradient = problem.gradient(values)
    assert set(gradient) == set(values)
    for path, value in values.items():
        step = 1e-5 * value
        up, down = (problem.gradient({**values, path: value + sign * step})[0] for sign in (1, -1))
        assert gradient[path] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-6)


def test_learning_finds_more_evidence_and_keeps_the_form():
    problem = SharedEvidence.of(KERNEL, TEXTS, LABELS)
    before, _ = problem.gradient(at_start(problem))
    found = learn(KERNEL, TEXTS, LABELS)
    assert found.evidence > before and found.n_evaluations > 1
    assert set(found.kernel.parameters()) == set(KERNEL.parameters())
    values = {f"kernel.{path}": value for path, value in found.kernel.parameters().items()}
    assert problem.gradient({**values, "noise": found.noise})[0] == pytest.approx(found.evidence)
