"""Classes and grades through a few structures: ``GPClassifier(inducing=...)`` and ``GPOrdinal(inducing=...)``."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import espalier as es
from espalier.gp import Inducing
from espalier.gp.inference import sparse_sites
from processes import KERNEL, TREES, Y
from reference.gaussian_process import central_difference

TWO = np.where(np.median(Y) < Y, "large", "small")
THREE = np.digitize(Y, np.quantile(Y, [0.33, 0.66]))
SETTINGS = {"variance_prior": None, "max_iterations": 3, "tolerance": 1.0}


def sparse(inducing, **options):
    return es.GPClassifier(KERNEL, inducing=inducing, **{**SETTINGS, **options})


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three"])
@pytest.mark.parametrize("mean", [None, "constant"])
def test_with_all_structures_it_is_variational_inference(y, mean):
    exact = es.GPClassifier(KERNEL, inference="variational", mean=mean, learn=False).fit(TREES, y)
    for choose in ("greedy", "random"):
        model = sparse(Inducing(100, choose=choose), mean=mean, learn=False).fit(TREES, y)
        assert model.log_marginal_likelihood_ == pytest.approx(exact.log_marginal_likelihood_, abs=1e-5)
        np.testing.assert_allclose(model.predict_proba(TREES), exact.predict_proba(TREES), atol=1e-4)
        np.testing.assert_allclose(model.leave_one_out(), exact.leave_one_out(), atol=1e-3)


def test_numbers_are_learned_on_the_pilot_and_kept():
    model = sparse(6, pilot=20).fit(TREES, TWO)
    assert len(model.inducing_rows_) == 6 and model.n_examples_ == 30
    pilot = es.GPClassifier(KERNEL, pilot=20, **SETTINGS).fit(TREES, TWO)
    assert model.kernel_ == pilot.kernel_
    assert model.score(TREES, TWO) > 0.6


def test_learning_by_the_bound_goes_on_from_the_pilot():
    kept = sparse(6).fit(TREES, TWO)
    model = sparse(Inducing(6, learn="bound")).fit(TREES, TWO)
    assert model.log_marginal_likelihood_ > kept.log_marginal_likelihood_
    assert len(model.restarts_) == 2


@pytest.mark.parametrize(
    "model", [sparse(5, learn=False), es.GPOrdinal(KERNEL, inducing=5, learn=False)], ids=["classes", "grades"]
)
def test_gradients_are_those_of_differences(model):
    model.fit(TREES, THREE, sample_weight=np.linspace(0.5, 2, 30))
    theta = {parameter.path: parameter.start for parameter in model._evidence().parameters()}
    value, gradient = model.log_marginal_likelihood(theta, gradient=True)
    assert value == pytest.approx(model.log_marginal_likelihood_, abs=1e-8) and len(theta) >= 3
    for path, start in theta.items():

        def evidence(x, path=path):
            return model.log_marginal_likelihood({**theta, path: x})

        expected = central_difference(evidence, start, 1e-3 * max(1e-3, abs(start)))
        assert gradient[path] == pytest.approx(expected, rel=1e-4, abs=1e-5), path


@pytest.mark.parametrize("learner", [es.GPClassifier, es.GPOrdinal])
@pytest.mark.parametrize("mean", [None, "constant"])
def test_files_and_dual_forms(learner, mean, tmp_path):
    model = learner(KERNEL, inducing=6, mean=mean, **SETTINGS).fit(TREES, THREE)
    model.save(tmp_path / "model.espalier")
    again = es.load(tmp_path / "model.espalier")
    np.testing.assert_allclose(again.predict_proba(TREES), model.predict_proba(TREES), atol=1e-9)
    np.testing.assert_array_equal(again.inducing_rows_, model.inducing_rows_)
    assert again.log_marginal_likelihood_ == model.log_marginal_likelihood_
    dual = model.dual_form()
    scores = dual.coefficients @ dual.kernel(dual.inputs, TREES) + dual.intercepts[:, None]
    np.testing.assert_allclose(scores.T.squeeze(), model.predict_latent(TREES)[0], atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"likelihood": "softmax", "inducing": 5}, "inducing needs one function for each class"),
        ({"inducing": Inducing(5, power=1.0)}, "needs combine=None and power=0.0"),
        ({"inducing": Inducing(5, combine=10)}, "needs combine=None and power=0.0"),
        ({"inducing": 0}, "inducing must be None"),
    ],
)
def test_what_cannot_be_sparse_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        es.GPClassifier(KERNEL, **options).fit(TREES, TWO)


def test_sites_that_do_not_settle_name_the_inference_that_was_used(monkeypatch):
    monkeypatch.setattr(sparse_sites, "SWEEPS", 2)
    with pytest.warns(ConvergenceWarning, match=r"^Variational inference through inducing structures had not settled"):
        sparse(6, learn=False).fit(TREES, TWO)
