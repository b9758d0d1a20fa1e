"""A Gaussian process over whole tag sequences, against lists of all taggings and draws of another kind."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from espalier.kernels import RBF
from espalier.structures import Table
from espalier_experiments.beck2014.chains import Chains
from espalier_experiments.beck2014.tag_process import Predictor, TagProcess
from reference.gaussian_process import central_difference

LENGTHS, N_TAGS = [3, 1, 4, 3], 3
RNG = np.random.default_rng(0)
F, G = 2 * RNG.normal(size=(sum(LENGTHS), N_TAGS)), RNG.normal(size=(N_TAGS + 1, N_TAGS))
TAGS = RNG.integers(0, N_TAGS, sum(LENGTHS))


def weights(f, g):
    """The weight of each tagging of one sentence."""
    return {
        tags: np.exp(sum(f[t, y] for t, y in enumerate(tags)) + g[-1, tags[0]] + sum(g[s, y] for s, y in pairs(tags)))
        for tags in product(range(N_TAGS), repeat=len(f))
    }


def pairs(tags):
    return list(pairwise(tags))


def test_chains_are_those_of_all_taggings():
    chains = Chains.of(LENGTHS, N_TAGS)
    single, neighbours, log_p, start = np.zeros(F.shape), np.zeros(G.shape), 0.0, 0
    for length in LENGTHS:
        own = slice(start, start + length)
        all_weights = weights(F[own], G)
        total = sum(all_weights.values())
        log_p += np.log(all_weights[tuple(TAGS[own].tolist())] / total)
        for tags, weight in all_weights.items():
            for t, y in enumerate(tags):
                single[start + t, y] += weight / total
            for s, y in [(-1, tags[0]), *pairs(tags)]:
                neighbours[s, y] += weight / total
        start += length
    assert chains.log_probability(F, G, TAGS) == pytest.approx(log_p, rel=1e-12)
    found = chains.marginals(F, G)
    np.testing.assert_allclose(found[0], single, atol=1e-12)
    np.testing.assert_allclose(found[1], neighbours, atol=1e-12)
    assert chains.observed_pairs(TAGS).sum() == sum(LENGTHS)


def test_scores_far_apart_do_not_overflow():
    chains = Chains.of(LENGTHS, N_TAGS)
    assert chains.log_probability(1e4 * F, 100 * G, TAGS) < -1e3
    np.testing.assert_allclose(chains.marginals(1e4 * F, 100 * G)[0].sum(axis=1), 1.0)


@pytest.fixture(scope="module")
def process():
    table = Table({"x": np.linspace(-1, 1, sum(LENGTHS))})
    return TagProcess.of(4.0 * RBF(0.5, on="x"), 0.7, table, Chains.of(LENGTHS, N_TAGS), TAGS)


def test_slopes_are_those_of_differences(process):
    at = RNG.normal(size=process.size)
    _, slope = process.slope(at)
    for k in (0, 5, process.size - 1):
        step = np.eye(process.size)[k]
        found = central_difference(lambda t, step=step: process.slope(at + t * step)[0], 0.0, 1e-5)
        assert slope[k] == pytest.approx(found, rel=1e-6, abs=1e-8)


def test_the_most_probable_values_are_at_the_top(process):
    best = process.most_probable()
    flat = np.concatenate([best.tokens.ravel(), best.neighbours.ravel()])
    height, slope = process.slope(flat)
    assert np.abs(slope).max() < 1e-2
    assert all(process.slope(flat + 0.1 * RNG.normal(size=len(flat)))[0] < height for _ in range(5))


def test_both_kinds_of_draws_have_the_same_means(process):
    best = process.most_probable()
    fast = [(values.latent, height) for values, height in process.draws(best, 40, 200, 0)]
    slow = [(values.latent, height) for values, height in process.elliptical_draws(best, 1200, 2, 1)]
    for k, width in ((0, 0.7), (1, 0.7)):
        means = [np.mean([own[k] for own in draws], axis=0) for draws in (fast, slow)]
        assert np.abs(means[0] - means[1]).max() < width


def test_new_sentences_that_are_training_sentences_are_tagged_alike(process):
    best = process.most_probable()
    predictor = Predictor.of(process, process.table, LENGTHS)
    at_training = process.chains.marginals(best.latent, process.spread * best.neighbours)[0]
    np.testing.assert_allclose(predictor.marginals(best), at_training, atol=1e-3)
    drawn = predictor.marginals(best, np.random.default_rng(0))
    assert 0 < np.abs(drawn - at_training).max() < 0.05
