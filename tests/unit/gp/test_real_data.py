"""Learning on a small part of the real data sets, where they are at hand."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import espalier as es
from espalier import GPRegressor, Learned, PerLabel
from espalier.gp import Gamma

N_TRAIN, N_TEST = 120, 80


@pytest.fixture(scope="module")
def headlines(data):
    """Parses of headlines with the score of one emotion, from 0 to 100."""
    lines = (data / "affective" / "test.tsv").read_text(encoding="utf-8").splitlines()
    names = lines[0].split("\t")
    rows = [line.split("\t") for line in lines[1:] if line][: N_TRAIN + N_TEST]
    return es.Forest.from_brackets([row[-1] for row in rows]), np.array(
        [float(row[names.index("sadness")]) for row in rows]
    )


@pytest.fixture(scope="module")
def translations(data):
    """Sentences and their translations with 17 features and the seconds per word of correcting them."""
    place = data / "qe" / "en-es"

    def lines(name):
        raw = (place / name).read_bytes()
        text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode()
        return text.splitlines()[: N_TRAIN + N_TEST]

    features = np.array([line.split() for line in lines("feats.17")], float)
    response = np.array(lines("time"), float) / features[:, 1]
    features = (features - features.mean(axis=0)) / (features.std(axis=0) + 1e-12)
    forests = {side: es.Forest.from_brackets(lines(f"{side}.trees.gz")) for side in ("source", "target")}
    return es.Table(**forests, features=features), response


TRAIN, TEST = np.arange(N_TRAIN), np.arange(N_TRAIN, N_TRAIN + N_TEST)


def learned_against_start(kernel, X, y, **settings):
    start = GPRegressor(kernel, learn=False, **settings).fit(X[TRAIN], y[TRAIN])
    model = GPRegressor(kernel, **settings).fit(X[TRAIN], y[TRAIN])
    assert model.log_marginal_likelihood_ > start.log_marginal_likelihood_
    for row in model.learned_:
        assert row.low <= row.value <= row.high
    return model, start


def test_headlines(headlines):
    X, y = headlines
    model, start = learned_against_start(1.0 * es.Normalized(es.SubsetTree()), X, y)
    gain = model.log_predictive_density(X[TEST], y[TEST]) - start.log_predictive_density(X[TEST], y[TEST])
    assert gain.mean() > -0.1
    guess = np.sqrt(((y[TEST] - y[TRAIN].mean()) ** 2).mean())
    assert np.sqrt(((y[TEST] - model.predict(X[TEST])) ** 2).mean()) < 1.02 * guess


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # 40 steps are few for 47 decays
def test_headlines_with_a_decay_for_each_label(headlines):
    """120 rows do not hold 47 decays, though evidence and leave-one-out density rise.

    Without a prior the noise ends at its bound, and a headline that comes twice with different scores is predicted
    with a deviation of 0.03 points of 100: a held-out log density of -238 per row, where the start has -4.5. A prior
    of the noise prevents the collapse (-4.8); it does not make so many decays worth learning from so few rows. With the
    default prior of the decays as well they are as good as one decay.
    """
    X, y = headlines
    kernel = 1.0 * es.Normalized(es.SubsetTree(PerLabel(0.4, prior=None)))
    with pytest.warns(UserWarning, match="memorised its training rows: it learned 48 numbers from 120 rows"):
        free, start = learned_against_start(kernel, X, y, max_iterations=40)
    assert "noise" in free.learned_.at_bounds
    careful, _ = learned_against_start(kernel, X, y, max_iterations=40, noise=Learned(0.3, prior=Gamma(5.0, 0.1)))
    weak, _ = learned_against_start(
        1.0 * es.Normalized(es.SubsetTree(PerLabel(0.4))), X, y, noise=Learned(0.3, prior=Gamma(5.0, 0.1))
    )
    density = [model.log_predictive_density(X[TEST], y[TEST]).mean() for model in (free, start, careful, weak)]
    assert density[0] < density[1] - 10  # a known weakness: where this fails, be glad and change the test
    assert density[2] > density[1] - 1
    assert density[3] > density[1]


def test_translations(translations):
    X, y = translations
    trees = es.Normalized(es.SubsetTree(on="source")) + es.Normalized(es.SubsetTree(on="target"))
    features = GPRegressor(1.0 * es.Matern(3.0, on="features"), target_transform="log").fit(X[TRAIN], y[TRAIN])
    kernel = 1.0 * es.Matern(3.0, on="features") + 0.1 * trees
    model, _ = learned_against_start(kernel, X, y, target_transform="log")
    assert model.log_marginal_likelihood_ > features.log_marginal_likelihood_ - 0.5
    guess = np.abs(y[TEST] - np.median(y[TRAIN])).mean()
    prediction = model.predict_distribution(X[TEST])
    assert np.abs(y[TEST] - prediction.median).mean() < guess
    low, high = prediction.interval(0.9).T
    assert 0.75 < ((low < y[TEST]) & (y[TEST] < high)).mean() <= 1.0
    untransformed = GPRegressor(kernel).fit(X[TRAIN], y[TRAIN])
    assert model.log_marginal_likelihood_ > untransformed.log_marginal_likelihood_ + 10
