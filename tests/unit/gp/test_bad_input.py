"""What bad input gets: one clear error that says what to do, or the documented result."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning, NotFittedError

import espalier as es
from espalier import GPRegressor, Learned, PerLabel, fixed
from espalier.errors import InputError
from espalier.gp.parameters import Parameter, Parameters

TREES = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(S (A c) (B c))"]
Y = [2.0, 2.1, 0.9, 1.0]
TABLE = es.Table(tree=TREES, x=np.eye(4))
TREE, VECTOR = es.SubsetTree(), es.RBF()


def fit(kernel=TREE, X=TREES, y=Y, *, options=None, **settings):
    return GPRegressor(kernel, **settings).fit(X, y, **(options or {}))


BAD = {
    "more targets": (
        lambda: fit(y=[1.0] * 5),
        InputError,
        "X has 4 rows, but y has 5 targets. Give one",
    ),
    "fewer targets": (lambda: fit(y=[1.0]), InputError, "X has 4 rows, but y has 1 targets"),
    "nan": (
        lambda: fit(y=[1, math.nan, 2, math.nan]),
        InputError,
        r"y contains NaN: row 1 .*\(2 values are not finite\). Drop",
    ),
    "infinite": (lambda: fit(y=[1, 2, 3, -math.inf]), InputError, "y contains infinity: row 3"),
    "missing": (lambda: fit(y=[1, None, 2, 3]), InputError, "y contains NaN: row 1"),
    "no examples": (lambda: fit(X=[], y=[]), InputError, "There are no rows to learn from"),
    "words": (
        lambda: fit(y=list("abcd")),
        InputError,
        "y must hold real numbers, one per row, got text, 'a' in row 0. .* KernelSVC or LinearizedTreeClassifier",
    ),
    "a word": (
        lambda: fit(y=np.array([1.0, 2.0, "b", 3.0], object), options={"sample_weight": [0, 1, 1, 1]}),
        InputError,
        "got text, 'b' in row 2",
    ),
    "numbers as words": (lambda: fit(y=list("1234")), InputError, "y must hold"),
    "complex": (lambda: fit(y=[1, 2, 3, 4j]), InputError, "Complex data not supported"),
    "dates": (lambda: fit(y=np.array(["2020-01-01"] * 4, "M8[D]")), InputError, "y must hold"),
    "two layers": (
        lambda: fit(y=np.ones((4, 2, 1))),
        InputError,
        r"one label or number per row, of shape \(4,\), got shape \(4, 2, 1\)",
    ),
    "one number": (lambda: fit(y=3.0), InputError, r"of shape \(4,\), got shape \(\)"),
    "ragged": (lambda: fit(y=[[1], [2, 3], [4], [5]]), InputError, "y must hold"),
    "no targets": (lambda: fit(y=None), InputError, "requires y to be passed"),
    "one tree": (lambda: fit(X=TREES[0], y=[1.0]), TypeError, r"a list of items, got one string. Write \[item\]."),
    "unknown column": (
        lambda: fit(es.SubsetTree(on="source"), TABLE),
        InputError,
        "There is no column 'source'; the columns are 'tree', 'x'.",
    ),
    "column of no table": (
        lambda: fit(es.SubsetTree(on="tree")),
        InputError,
        "reads the column 'tree', but was not given a table",
    ),
    "table without a column": (lambda: fit(X=TABLE), InputError, "names no column, but was given a table of tree, x"),
    "trees as vectors": (lambda: fit(VECTOR), (TypeError, ValueError), "."),
    "vectors as trees": (lambda: fit(TREE, np.eye(4)), (TypeError, ValueError), "."),
    "trees in a linear mean": (lambda: fit(mean="linear"), (TypeError, ValueError), "."),
    "unknown column in a mean": (
        lambda: fit(es.SubsetTree(on="tree"), TABLE, mean=es.gp.LinearMean(on="y")),
        InputError,
        "There is no column 'y'",
    ),
    "nan in vectors": (lambda: fit(VECTOR, np.diag([1, 2, math.nan, 3])), ValueError, "nan"),
    "a broken tree": (lambda: fit(X=[*TREES[:3], "(S (A a)"]), es.errors.TreeSyntaxError, "never closed"),
    "kernel is a name": (
        lambda: fit("rbf"),
        TypeError,
        "kernel must be a kernel of Espalier such as SubsetTree.., got 'rbf'",
    ),
    "kernel is a class": (lambda: fit(es.SubsetTree), TypeError, "kernel must be a kernel of Espalier"),
    "kernel is another's": (
        lambda: fit(__import__("sklearn.gaussian_process.kernels", fromlist=["RBF"]).RBF()),
        TypeError,
        "kernel must be a kernel of Espalier",
    ),
    "negative noise": (lambda: fit(noise=-0.1), ValueError, "noise must be positive, got -0.1"),
    "no noise, learned": (lambda: fit(noise=0), ValueError, r"noise must be positive, got 0. Write fixed\(0\)"),
    "noise is a word": (lambda: fit(noise="low"), TypeError, "noise must be a number"),
    "noise is an array": (lambda: fit(noise=np.ones(4)), TypeError, "noise must be a number"),
    "noise outside its bounds": (lambda: fit(noise=1e-9), ValueError, "noise starts at 1e-09, outside its bounds"),
    "mean": (lambda: fit(mean="quadratic"), ValueError, "mean must be None, 'constant', 'linear'"),
    "transform": (lambda: fit(target_transform="exp"), ValueError, "target_transform must be one of None, 'log'"),
    "log of 0": (
        lambda: fit(target_transform="log", y=[1, 2, 0, 3]),
        InputError,
        r"above 0, but 1 are not; the first is y\[2\] = 0. Use",
    ),
    "negative weights": (
        lambda: fit(options={"sample_weight": [1, 1, -1, 1]}),
        InputError,
        r"sample_weight\[2\] is -1; it must not be below 0",
    ),
    "weights of 0": (lambda: fit(options={"sample_weight": [0, 0, 0, 0]}), InputError, "Every sample_weight is zero"),
    "nan in weights": (
        lambda: fit(options={"sample_weight": [1, math.nan, 1, 1]}),
        InputError,
        "sample_weight contains NaN: row 1",
    ),
    "too few weights": (
        lambda: fit(options={"sample_weight": [1, 1]}),
        InputError,
        "one number for each of the 4 rows",
    ),
    "weights are words": (
        lambda: fit(options={"sample_weight": list("abcd")}),
        InputError,
        "sample_weight must hold real numbers",
    ),
    "negative variances": (
        lambda: fit(options={"noise_variance": [-1, 0, 0, 0]}),
        InputError,
        r"noise_variance\[0\] is -1; it must not be below 0",
    ),
    "groups without PerLabel": (
        lambda: fit(options={"noise_groups": list("aabb")}),
        InputError,
        r"Write noise=PerLabel\(0.1\)",
    ),
    "PerLabel without groups": (lambda: fit(noise=PerLabel(0.1)), InputError, "the groups are needed: noise_groups="),
    "too few groups": (
        lambda: fit(noise=PerLabel(0.1), options={"noise_groups": ["a"]}),
        InputError,
        "X has 4 examples but noise_groups has 1",
    ),
    "restarts": (lambda: fit(restarts=-1), ValueError, "restarts must be an integer of at least 0, got -1"),
    "max_iterations": (
        lambda: fit(max_iterations=2.5),
        ValueError,
        "max_iterations must be an integer of at least 0 or None, got 2.5",
    ),
    "tolerance": (lambda: fit(tolerance=0), ValueError, "tolerance must be a positive finite number, got 0"),
    "tolerance is nan": (lambda: fit(tolerance=math.nan), ValueError, "tolerance must be a positive finite number"),
    "prior": (lambda: fit(noise=Learned(0.1, prior=3)), TypeError, "The prior of noise must be"),
    "prior is a class": (
        lambda: fit(noise=Learned(0.1, prior=es.gp.LogNormal)),
        TypeError,
        r"The prior of noise must be .* Write LogNormal\(...\), with its numbers",
    ),
    "prior of nothing": (
        lambda: fit(noise=Learned(0.1, prior=es.gp.HalfNormal(1e-200))),
        ValueError,
        "noise starts at 0.1, which its prior .* excludes. Start where",
    ),
    "linear mean of a table": (
        lambda: fit(es.SubsetTree(on="tree"), TABLE, mean="linear"),
        InputError,
        r"the columns are tree, x. Write mean=LinearMean\(on='features'\)",
    ),
    "linear mean of no table": (
        lambda: fit(mean=es.gp.LinearMean(on="x")),
        InputError,
        r"LinearMean\(on='x'\) reads a column, but X is not a table",
    ),
    "linear mean on a number": (lambda: es.gp.LinearMean(on=3), TypeError, "on must name a column or several"),
    "learn is a word": (lambda: fit(learn="no"), TypeError, "learn must be True or False, got 'no'"),
    "standardize is a word": (lambda: fit(standardize="yes"), TypeError, "standardize must be True or False"),
    "progress is a number": (lambda: fit(progress=3), TypeError, "progress must be a function .* or None, got 3"),
    "noise per dimension": (
        lambda: fit(noise=es.PerDimension(0.1)),
        TypeError,
        r"noise must be a number, fixed\(...\), Learned\(...\) or PerLabel\(...\), got PerDimension",
    ),
    "groups of text": (
        lambda: fit(es.SubsetTree(PerLabel(0.4, groups={"g": "AB"}))),
        ValueError,
        "The group 'g' must list its labels",
    ),
    "one model to compare": (lambda: es.compare(fit(learn=False)), TypeError, r"Write compare\(\[model\]\)"),
    "another model to compare": (
        lambda: es.compare([es.KernelSVR(TREE)]),
        TypeError,
        "compare takes fitted GPRegressors, or fitted GPClassifiers and GPOrdinals, got KernelSVR",
    ),
    "words to compare": (
        lambda: es.compare(["a"]),
        TypeError,
        "compare takes fitted GPRegressors, or fitted GPClassifiers and GPOrdinals, got 'a'",
    ),
    "a number to compare": (lambda: es.compare(3), TypeError, "compare takes a list or a dict of fitted GPRegressors"),
    "numbers to compare": (
        lambda: es.compare({"a": 3}),
        TypeError,
        "compare takes fitted GPRegressors, or fitted GPClassifiers and GPOrdinals, got 3",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_one_clear_error(case):
    call, kind, message = BAD[case]
    with pytest.raises(kind, match=message) as caught:
        call()
    text = str(caught.value)
    assert "Traceback" not in text and len(text) > 20
    assert text.rstrip("'\"")[-1] in ".?)^" or "\n" in text, text  # a full sentence, or one with a caret


MODEL = fit()


AFTER = {
    "both": (
        lambda: MODEL.predict(TREES, return_std=True, return_cov=True),
        ValueError,
        "return_std or return_cov, not both",
    ),
    "levels": (
        lambda: MODEL.predict(TREES, quantiles=[0.0, 0.5]),
        ValueError,
        "quantiles must lie between 0 and 1, both excluded",
    ),
    "percent": (lambda: MODEL.predict(TREES, quantiles=95), ValueError, "quantiles must lie between 0 and 1"),
    "nan level": (lambda: MODEL.predict(TREES, quantiles=[math.nan]), ValueError, "quantiles must lie between 0 and 1"),
    "masked levels": (
        lambda: MODEL.predict(TREES, quantiles=np.ma.masked_array([0.1, 0.5], mask=[False, True])),
        InputError,
        "quantiles is masked in 1 rows, the first is row 1",
    ),
    "a level in words": (
        lambda: MODEL.predict(TREES, quantiles="median"),
        ValueError,
        "quantiles must lie between 0 and 1, .*, got 'median'",
    ),
    "interval": (
        lambda: MODEL.predict_distribution(TREES).interval(90),
        ValueError,
        "probability must lie between 0 and 1",
    ),
    "one item": (lambda: MODEL.predict(TREES[0]), TypeError, r"Write \[item\]"),
    "a table": (lambda: MODEL.predict(TABLE), InputError, "names no column"),
    "groups": (
        lambda: MODEL.predict(TREES, return_std=True, noise_groups=list("abcd")),
        InputError,
        "noise is one number",
    ),
    "density of too few": (
        lambda: MODEL.log_predictive_density(TREES, [1.0]),
        InputError,
        "4 predictions, so y must hold as many",
    ),
    "density of nan": (lambda: MODEL.log_predictive_density(TREES[:1], [math.nan]), InputError, r"y\[0\] is nan"),
    "no draws": (lambda: MODEL.sample_posterior(TREES, 0), InputError, "n_samples must be a positive integer, got 0"),
    "half a draw": (
        lambda: MODEL.sample_prior(TREES, 0.5),
        InputError,
        "n_samples must be a positive integer, got 0.5",
    ),
    "unknown path": (
        lambda: MODEL.log_marginal_likelihood({"decay": 0.1}),
        KeyError,
        "not a learned hyperparameter; these are",
    ),
    "a negative decay": (
        lambda: MODEL.log_marginal_likelihood({"kernel.decay": -0.1}),
        ValueError,
        "decay must be positive",
    ),
    "a negative noise": (lambda: MODEL.log_marginal_likelihood({"noise": -0.1}), ValueError, "noise must be positive"),
    "a vector as theta": (
        lambda: MODEL.log_marginal_likelihood([0.1, 0.2, 0.3]),
        TypeError,
        "theta must map paths to values",
    ),
}


@pytest.mark.parametrize("case", AFTER)
def test_one_clear_error_after_fitting(case):
    call, kind, message = AFTER[case]
    with pytest.raises(kind, match=message):
        call()


def test_other_dimensions_than_in_training():
    model = fit(VECTOR, np.eye(4))
    with pytest.raises(ValueError, match="dimension"):
        model.predict(np.eye(3))
    assert model.predict(np.eye(4)).shape == (4,)


def test_nothing_works_before_fitting_but_the_prior():
    model = GPRegressor(TREE)
    for call in (
        lambda: model.predict(TREES),
        lambda: model.predict(TREES, return_std=True),
        lambda: model.predict_distribution(TREES),
        lambda: model.leave_one_out(),
        lambda: model.log_marginal_likelihood(),
        lambda: model.sample_posterior(TREES),
        lambda: model.log_predictive_density(TREES, Y),
    ):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            call()
    assert model.sample_prior(TREES, 2, random_state=0).shape == (4, 2)
    with pytest.raises(TypeError, match="kernel must be a kernel"):
        GPRegressor(None).sample_prior(TREES)
    with pytest.raises(InputError, match="the groups are needed"):
        GPRegressor(TREE, noise=PerLabel(0.1)).sample_prior(TREES)


def test_unseen_labels_and_words_are_fine():
    mean, std = MODEL.predict(["(UNSEEN (LABEL word))", "(S (A a) (B new))"], return_std=True)
    assert mean[0] == pytest.approx(np.mean(Y)) and mean[1] > 1.5
    assert std[0] > std[1] or std[0] == pytest.approx(math.sqrt(es.kernels.number_of(MODEL.noise_)) * np.std(Y))


def test_forms_of_targets():
    import pandas

    expected = MODEL.predict(TREES).tolist()
    for y in (np.array(Y), tuple(Y), pandas.Series(Y, index=[9, 8, 7, 6]), np.array(Y, object)):
        assert fit(y=y).predict(TREES).tolist() == expected
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        assert fit(y=np.array(Y)[:, None]).predict(TREES).tolist() == expected
    assert fit(y=[1, 0, 1, 0]).predict(TREES).tolist() == fit(y=[True, False, True, False]).predict(TREES).tolist()
    assert np.isfinite(fit(y=np.array([1, 2, 3, 4], np.float32), noise=fixed(0.1)).predict(TREES)).all()


def test_a_prior_with_an_end_is_named_where_it_stops_the_climb():
    class Uniform:
        """Up to 0.2, where the noise wants more."""

        def log_density(self, value):
            return 1.0 if value < 0.2 else -math.inf

        def slope(self, value):
            return 0.0

        def draw(self, rng):
            return float(rng.uniform(0, 0.2))

    rng = np.random.default_rng(0)
    model = GPRegressor(es.RBF(fixed(1.0)), noise=Learned(0.1, prior=Uniform()), standardize=False)
    model.set_params(tolerance=1e-9)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(rng.normal(size=(30, 1)), 3 * rng.normal(size=30))
    messages = " ".join(str(warning.message) for warning in caught)
    assert "too large" not in messages and ".." not in messages.replace("...", "")
    assert 0.1 < model.learned_["noise"].value < 0.2
    with pytest.raises(
        FloatingPointError, match=r"The prior of noise has a log density of -inf at 0.3. Declare bounds"
    ):
        Parameters([Parameter("noise", 0.1, 1e-6, 1.0, Uniform())]).log_prior({"noise": 0.3})


def test_numbers_of_numpy_are_numbers():
    assert repr(es.gp.LogNormal(np.float64(0.5), np.int64(1))) == "LogNormal(median=0.5, spread=1)"
    assert es.gp.LogNormal(np.float32(0.1)).log_density(0.1) == pytest.approx(es.gp.LogNormal(0.1).log_density(0.1))
    assert es.gp.LinearMean(on=["a", "b"]) == es.gp.LinearMean(on=("a", "b"))
    table = es.Table(tree=TREES, a=np.eye(4)[:, :2], b=np.arange(4.0)[:, None])
    model = GPRegressor(es.SubsetTree(on="tree"), mean=es.gp.LinearMean(on=["a", "b"])).fit(table, Y)
    assert len(model.mean_) == 4


@pytest.mark.parametrize(
    "prior",
    [es.gp.LogNormal(1e-320), es.gp.LogNormal(1e308, 1e-200), es.gp.LogNormal(0.1, 1e200), es.gp.HalfNormal(1e-200)],
    ids=repr,
)
def test_extreme_priors_have_densities(prior):
    for value in (1e-300, 0.1, 1e300):
        assert not math.isnan(prior.log_density(value))
        prior.slope(value)
    assert prior.draw(np.random.default_rng(0)) >= 0
