"""Climbs keep their best point; rows without weight may miss their target."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import espalier as es
from espalier.gp.optimize import Climb, Settings
from espalier.gp.parameters import Parameter, Parameters


def test_a_worse_point_never_takes_the_place_of_a_better_one():
    """The line search overshoots, and is interrupted just there."""
    told = []

    def evaluate(values):
        return (3.0 if values["x"] == 1.0 else 1.0), {"x": 1.0}

    def stop(progress):
        told.append(progress)
        if progress.log_likelihood < progress.best:
            raise KeyboardInterrupt

    parameters = Parameters([Parameter("x", 1.0, 0.1, 10.0)])
    climb = Climb(SimpleNamespace(n_targets=1, gradient=evaluate), parameters, Settings(0, 20, 1e-5, progress=stop))
    climb.run([parameters.start()] * 3)
    assert climb.stop is not None and [x.log_likelihood for x in told] == [3.0, 1.0]
    assert [x.best for x in told] == [3.0, 3.0]
    assert climb.best.values == {"x": 1.0} and climb.best.log_likelihood == 3.0
    assert climb.best.gradient == {"x": 1.0}


@pytest.mark.parametrize("missing", [None, np.nan, "masked"])
def test_targets_of_rows_without_weight_may_be_missing(missing):
    X, y, weight = np.arange(6.0)[:, None], np.arange(6.0), np.array([1.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    given = np.ma.masked_array(y, mask=weight == 0) if missing == "masked" else [*y[:2], missing, *y[3:]]
    found = es.GPRegressor(es.RBF(), learn=False).fit(X, given, sample_weight=weight)
    kept = es.GPRegressor(es.RBF(), learn=False).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(found.predict(X), kept.predict(X))
    with pytest.raises(es.InputError, match=r"row 2"):
        es.GPRegressor(es.RBF(), learn=False).fit(X, given)
