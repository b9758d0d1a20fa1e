"""Numbers of labels that the data do not have."""

from __future__ import annotations

import warnings

import pytest

import espalier as es

TREES = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(S (VP b))", "(S (NP c) (VP b))"]
Y = [0.0, 1.0, 0.5, 0.3]


def fit(kernel):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = es.GPRegressor(kernel, noise=0.1, max_iterations=3).fit(TREES, Y)
    return model, [str(warning.message) for warning in caught if "The data have no label" in str(warning.message)]


@pytest.mark.parametrize(
    "around", [lambda kernel: kernel, es.Normalized, lambda kernel: 2.0 * kernel + es.SubsetTree()]
)
def test_a_fit_warns_once_of_numbers_that_nothing_uses(around):
    decay = es.PerLabel(0.4, groups={"g": ["NP"]}, values={"gg": 0.2, "g": 0.3, "VP": 0.3}, prior=None)
    model, messages = fit(around(es.SubsetTree(decay)))
    assert len(messages) == 1
    assert "no label for 1 of the numbers that values of PerLabel gives" in messages[0]
    (path,) = (path for path in model.kernel_.parameters() if path.endswith("decay[gg]"))
    assert f": {path}. " in messages[0]
    assert model.kernel_.parameters()[path] == pytest.approx(0.2)


def test_many_numbers_that_nothing_uses_are_counted():
    _, messages = fit(es.SubsetTree(es.PerLabel(0.4, values={f"x{k}": 0.2 for k in range(8)})))
    assert len(messages) == 1
    assert "8 of the numbers" in messages[0]
    assert "decay[x4] and 3 more." in messages[0]


@pytest.mark.parametrize("values", [None, {"S": 0.2, "g": 0.3}])
def test_numbers_that_the_data_use_give_no_warning(values):
    assert fit(es.SubsetTree(es.PerLabel(0.4, groups={"g": ["NP", "QP"]}, values=values)))[1] == []
    fixed = es.PerLabel(es.fixed(0.4), values={"gg": 0.2})
    assert fit(es.SubsetTree(fixed))[1] == []
