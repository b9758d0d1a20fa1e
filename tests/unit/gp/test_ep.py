"""Expectation propagation and variational inference against their definitions, exact inference and GPy."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es
from espalier.errors import InputError
from espalier.gp import (
    Bernoulli,
    LatentObjective,
    Likelihood,
    Ordinal,
    Settings,
    SitePosterior,
    Sites,
    StudentT,
    ep,
    exact,
    laplace,
    learn,
    variational,
)
from espalier.gp.inference.sites import conditioned_on
from likelihood_cases import BY_GROUP, CASES, GRADES, NUMBERS, SIGNS, STUDENT, THREE, VALUES, Counts, N, covariances
from reference import ep as slow
from reference.gaussian_process import central_difference

ALL = {**CASES, "student": STUDENT}
NONE = np.zeros((N, 0))
INFERENCES = [ep, variational]


@pytest.mark.parametrize(
    ("name", "size", "offset"),
    [
        *(("probit", size, offset) for size in (0.1, 3.0) for offset in (0.0, 0.7)),
        *(("poisson", size, 0.7) for size in (0.1, 3.0)),
        *((name, 0.5, 0.3) for name in ("own logistic", "ordinal", "gaussian")),
    ],
)
def test_sites_have_the_moments_of_their_targets(name, size, offset):
    likelihood, targets, y, formulas = CASES[name]
    K = covariances(size)
    mean, covariance, evidence = slow.ep(K, y, formulas, offset, sweeps=15, n_points=401)
    given = ep.condition(K, likelihood, targets, offset)
    np.testing.assert_allclose(given.latent, mean, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(given.covariance(K, K, NONE), covariance, rtol=1e-6, atol=1e-7 * size)
    np.testing.assert_allclose(given.latent_variance, covariance.diagonal(), rtol=1e-6)
    np.testing.assert_allclose(given.mean(K, NONE), mean, rtol=1e-6, atol=1e-7)
    assert given.log_evidence == pytest.approx(evidence, abs=1e-7)


@pytest.mark.parametrize("offset", [0.0, 0.7])
@pytest.mark.parametrize("size", [0.1, 3.0])
@pytest.mark.parametrize("name", ["probit", "own logistic", "poisson", "ordinal", "gaussian"])
def test_no_normal_posterior_has_a_higher_bound(name, size, offset):
    likelihood, targets, y, formulas = CASES[name]
    K = covariances(size)
    given = variational.condition(K, likelihood, targets, offset)
    covariance = given.covariance(K, K, NONE)
    top = slow.bound(K, y, formulas, given.latent, covariance, offset)
    assert given.log_evidence == pytest.approx(top, abs=1e-9)
    rng = np.random.default_rng(0)
    for _ in range(3):
        shift, noise = rng.normal(size=N), rng.normal(size=(N, N))
        change = np.linalg.cholesky(covariance) @ (noise + noise.T) @ np.linalg.cholesky(covariance).T

        def at(t, shift=shift, change=change):
            return slow.bound(K, y, formulas, given.latent + t * shift, covariance + t * change, offset)

        slope = central_difference(at, 0.0, 1e-3)
        assert slope == pytest.approx(0.0, abs=2e-6 * (1 + abs(top)))
        assert at(0.03) < top


@pytest.mark.parametrize("inference", INFERENCES)
def test_both_are_exact_for_normal_targets(inference):
    K = covariances()
    given = inference.condition(K, BY_GROUP, NUMBERS)
    known = exact.condition(K.copy(), BY_GROUP, NUMBERS, NONE)
    assert given.log_evidence == pytest.approx(known.log_evidence, abs=1e-10)
    cross = covariances(seed=3)
    np.testing.assert_allclose(given.mean(cross, NONE), known.mean(cross, NONE), atol=1e-10)
    np.testing.assert_allclose(
        given.variance(cross, np.full(N, 20.0), NONE), known.variance(cross, np.full(N, 20.0), NONE), atol=1e-10
    )


@pytest.mark.parametrize(("inference", "name"), [*((ep, own) for own in CASES), *((variational, own) for own in ALL)])
def test_gradients_are_those_of_differences(inference, name):
    likelihood, targets, _, _ = ALL[name]
    K, offset = covariances(2.0), np.linspace(-0.5, 0.5, N)
    found = inference.cotangent(inference.condition(K, likelihood, targets, offset), K, likelihood, targets, offset)
    for seed in range(3):
        D = covariances(seed=10 + seed)
        slope = central_difference(
            lambda t, D=D: inference.condition(K + t * D, likelihood, targets, offset).log_evidence, 0.0, 3e-3
        )
        assert (found.covariances * D).sum() == pytest.approx(slope, rel=1e-6, abs=1e-8)
    assert list(found.likelihood) == [parameter.path for parameter in likelihood.parameters()]
    for parameter in likelihood.parameters():
        slope = central_difference(
            lambda x, path=parameter.path: (
                inference.condition(K, likelihood.with_parameters({path: x}), targets, offset).log_evidence
            ),
            parameter.start,
            1e-2 * abs(parameter.start),
        )
        assert found.likelihood[parameter.path] == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("inference", [*INFERENCES, laplace])
def test_a_start_nearby_changes_only_the_time(inference):
    K = covariances(3.0)
    cold = inference.condition(1.1 * K, Bernoulli(), SIGNS)
    warm = inference.condition(1.1 * K, Bernoulli(), SIGNS, 0.0, inference.condition(K, Bernoulli(), SIGNS).near)
    assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=1e-10)
    np.testing.assert_allclose(warm.latent, cold.latent, atol=1e-6)


@pytest.mark.parametrize("inference", INFERENCES)
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e4, 1e8])
def test_tiny_huge_and_singular_covariances(inference, scale):
    """Items that occur twice, with equal and with opposite targets, and items without any covariance."""
    root = np.random.default_rng(1).normal(size=(4, 3))
    K = np.kron(np.ones((2, 2)), scale * root @ root.T)
    K[0, :] = K[:, 0] = 0.0
    given = inference.condition(K, Bernoulli(), SIGNS)
    assert np.isfinite(given.log_evidence) and given.log_evidence < 0
    assert np.isfinite(given.latent).all() and (given.latent_variance >= 0).all()
    slopes = inference.cotangent(given, K, Bernoulli(), SIGNS).covariances
    assert np.isfinite(slopes).all()


def test_latent_values_left_out_are_those_of_sites_without_them():
    K = covariances(2.0)
    given = ep.condition(K, Ordinal(-0.7, (0.4, 1.3)), GRADES)
    mean, variance = given.left_out()
    for k in range(N):
        rest = np.arange(N) != k
        gain = np.linalg.solve(K[np.ix_(rest, rest)] + np.diag(1 / given.sites.precision[rest]), K[rest, k])
        targets = given.sites.natural[rest] / given.sites.precision[rest]
        assert mean[k] == pytest.approx(gain @ targets, rel=1e-8)
        assert variance[k] == pytest.approx(K[k, k] - gain @ K[rest, k], rel=1e-8)


def test_targets_that_say_almost_nothing_keep_their_digits():
    """Variances are exact whether a site narrows its latent value by much, by a billionth or not at all."""
    K = covariances(2.0)
    precision = np.array([0.0, 1e-14, 1e-10, 1e-8, 1e-5, 1e-3, 1.0, 1e5])
    natural = precision * np.linspace(-1, 1, N) + 1e-9
    given = conditioned_on(K, Sites(precision, natural))
    root = np.sqrt(precision)
    known = root[:, None] * np.linalg.solve(np.eye(N) + root[:, None] * K * root, root[:, None] * K)
    covariance = K - K @ known
    np.testing.assert_allclose(given.latent_variance, covariance.diagonal(), rtol=1e-9)
    # A precision of 1e5 multiplies the rounding of both sides.
    np.testing.assert_allclose(given.latent, covariance @ natural, rtol=1e-6, atol=1e-12)
    mean, variance = given.left_out()
    few = precision < 1e-3
    wanted = covariance.diagonal() / (1 - precision * covariance.diagonal())
    np.testing.assert_allclose(variance[few], wanted[few], rtol=1e-11)
    np.testing.assert_allclose(given.kept[:-1], (1 - precision * covariance.diagonal())[:-1], rtol=1e-7)
    away = variance * (given.latent / covariance.diagonal() - natural)
    np.testing.assert_allclose(mean[few], away[few], rtol=1e-8, atol=1e-12)


def test_targets_far_away_end_in_finite_sites():
    targets = np.array([0, 3] * 4)
    given = ep.condition(covariances(1e6), THREE, targets)
    assert np.isfinite(given.log_evidence) and isinstance(given, SitePosterior)
    far = variational.condition(np.eye(N), StudentT(0.1, 3.0), np.where(np.arange(N) == 3, 100.0, 0.0))
    assert abs(far.latent[3]) < 1, "an outlier hardly moves its latent value"


def test_densities_that_are_not_log_concave_are_refused():
    with pytest.raises(InputError, match="log-concave likelihood, and StudentT"):
        ep.condition(np.eye(N), StudentT(), VALUES)


def test_results_have_the_same_bits_in_every_run():
    first, second = (ep.condition(covariances(3.0), THREE, GRADES) for _ in range(2))
    assert first.log_evidence == second.log_evidence and (first.dual == second.dual).all()


@pytest.mark.parametrize("inference", INFERENCES)
def test_learning_finds_a_higher_evidence(inference):
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, size=(40, 1))
    counts = rng.poisson(np.exp(1 + np.sin(2 * x[:, 0]))).astype(float)
    kernel = 1.0 * es.RBF(1.0)
    objective = LatentObjective(kernel, kernel.plan(x), Counts(), counts, 40, inference=inference)
    before = objective.value({})
    found = learn(objective, Settings(0, 100, 1e-5), rng)
    assert found.best.log_likelihood > before + 1 and found.best.converged
    assert set(found.best.values) == {"kernel.scale", "kernel.lengthscale", "rate"}


@pytest.fixture(scope="module")
def signs_of_vectors():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, 2))
    return x, np.where(x[:, 0] * x[:, 1] + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)


def agrees_with_gpy(K, signs):
    """Evidence, its gradient, means and variances are those of GPy, whose sweeps and steps end when they are exact."""
    gpy = pytest.importorskip("GPy", reason="GPy is in the test extra")
    inferences = gpy.inference.latent_function_inference
    by_mode = inferences.Laplace()
    by_mode._mode_finding_tolerance = 1e-7
    rows, none = np.arange(float(len(K)))[:, None], np.zeros((len(K), 0))
    for theirs, ours in ((inferences.EP(epsilon=1e-13), ep), (by_mode, laplace)):
        known = gpy.core.GP(
            *(rows, (signs[:, None] + 1) / 2, gpy.kern.Precomputed(1, K), gpy.likelihoods.Bernoulli()),
            inference_method=theirs,
        )
        given = ours.condition(K, Bernoulli(), signs)
        assert given.log_evidence == pytest.approx(float(known.log_likelihood()), abs=1e-6)
        mean, variance = known._raw_predict(rows)
        np.testing.assert_allclose(given.mean(K, none), mean[:, 0], rtol=1e-6, atol=1e-6)
        # Before it predicts, GPy adds 1e-7 to the diagonal of a matrix.
        np.testing.assert_allclose(given.variance(K, K.diagonal(), none), variance[:, 0], rtol=2e-6, atol=1e-6)
        slope = (ours.cotangent(given, K, Bernoulli(), signs).covariances * K).sum()
        assert slope == pytest.approx((known.grad_dict["dL_dK"] * K).sum(), rel=1e-5)


def test_gpy_has_the_same_evidence_and_moments(signs_of_vectors):
    x, signs = signs_of_vectors
    agrees_with_gpy(2.0 * es.RBF(1.0)(x), signs)


def test_gpy_has_the_same_evidence_and_moments_of_questions(data):
    lines = (data / "trec" / "constituency_test.tsv").read_text("utf-8").splitlines()[:120]
    labels, _, trees = zip(*(line.split("\t") for line in lines), strict=True)
    K = 4.0 * es.Normalized(es.SubsetTree(0.4))(list(trees))
    agrees_with_gpy(K, np.where([label.startswith("HUM") for label in labels], 1.0, -1.0))


def test_ep_is_nearer_to_the_truth_than_laplace(signs_of_vectors):
    """The evidence of six targets by brute force: the mean of their density over draws from the prior."""
    x, signs = signs_of_vectors
    K = 4.0 * es.RBF(1.0)(x[:6])
    rng = np.random.default_rng(0)
    draws = np.linalg.cholesky(K + 1e-12 * np.eye(6)) @ rng.normal(size=(6, 400_000))
    truth = np.log(np.exp(Bernoulli().log_density(draws.T, signs[:6]).sum(axis=1)).mean())
    errors = [abs(own.condition(K, Bernoulli(), signs[:6]).log_evidence - truth) for own in (ep, laplace)]
    assert errors[0] < 0.01 and errors[0] < 0.2 * errors[1]
    assert variational.condition(K, Bernoulli(), signs[:6]).log_evidence < truth, "it is a lower bound"


def test_a_likelihood_needs_two_methods_only():
    own, targets, _, _ = CASES["own logistic"]
    library = Bernoulli("logit")
    assert isinstance(own, Likelihood)
    for inference in (ep, variational, laplace):
        first, second = (inference.condition(covariances(2.0), each, targets) for each in (own, library))
        assert first.log_evidence == pytest.approx(second.log_evidence, abs=1e-9)
