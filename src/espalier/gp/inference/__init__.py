"""Inference: functions from covariances, a likelihood and targets to a process that is conditioned on the targets."""

from espalier.gp.inference import ep, exact, laplace, slice_sampling, softmax, variational
from espalier.gp.inference.columns import Columns
from espalier.gp.inference.conditioned import Conditioned
from espalier.gp.inference.exact import ExactPosterior
from espalier.gp.inference.laplace import LaplacePosterior
from espalier.gp.inference.sites import Cotangent, SitePosterior, Sites

__all__ = [
    "Columns",
    "Conditioned",
    "Cotangent",
    "ExactPosterior",
    "LaplacePosterior",
    "SitePosterior",
    "Sites",
    "ep",
    "exact",
    "laplace",
    "slice_sampling",
    "softmax",
    "variational",
]
