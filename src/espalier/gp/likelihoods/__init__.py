"""Likelihoods: how probable a target is, given the value of the latent function. Each is a frozen value in one file."""

from espalier.gp.likelihoods.base import Likelihood, ParameterSlopes, Slopes
from espalier.gp.likelihoods.gaussian import Gaussian, Observed
from espalier.gp.likelihoods.probit import Probit

__all__ = ["Gaussian", "Likelihood", "Observed", "ParameterSlopes", "Probit", "Slopes"]
