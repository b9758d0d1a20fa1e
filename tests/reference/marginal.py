"""Averages over hyperparameters by brute force: a fine grid in one or two of them, and plain sums."""

from __future__ import annotations

import itertools
import math

import numpy as np


def grid_posterior(log_likelihood, axes, log_priors):
    """The weight of each point of a grid over numbers on a log scale.

    ``axes`` has the numbers of each axis, equally spaced in the logarithm; ``log_priors`` a log density in natural
    units for each, or None for a flat logarithm. Returns the points, one row each, and weights that sum to 1.
    """
    points, heights = [], []
    for point in itertools.product(*axes):
        height = log_likelihood(*point)
        for x, log_prior in zip(point, log_priors, strict=True):
            if log_prior is not None:
                height += log_prior(x) + math.log(x)  # the density of the logarithm
        points.append(point)
        heights.append(height)
    heights = np.array(heights)
    weights = np.exp(heights - heights.max())
    return np.array(points), weights / weights.sum()


def normal_process(K, noise, y, cross, prior):
    """The log evidence of y, and the mean and the variance of new targets, noise included, by explicit inverses."""
    C = K + noise * np.eye(len(y))
    inverse = np.linalg.inv(C)
    log_evidence = -0.5 * y @ inverse @ y - 0.5 * np.linalg.slogdet(2 * math.pi * C)[1]
    mean = cross.T @ inverse @ y
    variance = prior + noise - np.einsum("in,ij,jn->n", cross, inverse, cross)
    return log_evidence, mean, variance


def mixture_density(y, means, variances, weights):
    """The density of each y under a mixture of normals, draw by draw."""
    total = np.zeros(len(y))
    for mean, variance, weight in zip(means, variances, weights, strict=True):
        for k in range(len(y)):
            away = y[k] - mean[k]
            total[k] += weight * math.exp(-0.5 * away**2 / variance[k]) / math.sqrt(2 * math.pi * variance[k])
    return total


def mixture_cdf(y, means, deviations, weights):
    """The distribution function of a mixture of normals at one y."""
    return sum(
        weight * 0.5 * math.erfc(-(y - mean) / (deviation * math.sqrt(2)))
        for mean, deviation, weight in zip(means, deviations, weights, strict=True)
    )
