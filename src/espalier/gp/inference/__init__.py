"""Inference: from prior covariances, a likelihood and targets to a process that is conditioned on the targets."""

from espalier.gp.inference import exact, laplace
from espalier.gp.inference.conditioned import Conditioned
from espalier.gp.inference.exact import Exact
from espalier.gp.inference.laplace import Laplace

__all__ = ["Conditioned", "Exact", "Laplace", "exact", "laplace"]
