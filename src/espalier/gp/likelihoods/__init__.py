"""Likelihoods: how probable a target is, given the value of the latent function. Each is a frozen value in one file."""

from espalier.gp.likelihoods.base import Expected, Likelihood, ParameterSlopes, Slopes, Tilt
from espalier.gp.likelihoods.bernoulli import Bernoulli
from espalier.gp.likelihoods.gaussian import Gaussian, Observed
from espalier.gp.likelihoods.ordinal import Ordinal
from espalier.gp.likelihoods.poisson import Poisson
from espalier.gp.likelihoods.softmax import Softmax
from espalier.gp.likelihoods.student import StudentT
from espalier.gp.likelihoods.weighted import Weighted, WeightedTargets

__all__ = [
    "Bernoulli",
    "Expected",
    "Gaussian",
    "Likelihood",
    "Observed",
    "Ordinal",
    "ParameterSlopes",
    "Poisson",
    "Slopes",
    "Softmax",
    "StudentT",
    "Tilt",
    "Weighted",
    "WeightedTargets",
]
