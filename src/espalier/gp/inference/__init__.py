"""Inference: from prior covariances, a likelihood and targets to a process that is conditioned on the targets."""

from espalier.gp.inference import exact, laplace
from espalier.gp.inference.conditioned import Conditioned
from espalier.gp.inference.exact import ExactPosterior
from espalier.gp.inference.laplace import LaplacePosterior

__all__ = ["Conditioned", "ExactPosterior", "LaplacePosterior", "exact", "laplace"]
