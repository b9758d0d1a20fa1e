"""Inference: functions from covariances, a likelihood and targets to a process that is conditioned on the targets."""

from espalier.gp.inference import exact, laplace
from espalier.gp.inference.conditioned import Conditioned
from espalier.gp.inference.exact import ExactPosterior
from espalier.gp.inference.laplace import LaplacePosterior
from espalier.gp.inference.sites import Cotangent, SitePosterior, Sites

__all__ = [
    "Conditioned",
    "Cotangent",
    "ExactPosterior",
    "LaplacePosterior",
    "SitePosterior",
    "Sites",
    "exact",
    "laplace",
]
