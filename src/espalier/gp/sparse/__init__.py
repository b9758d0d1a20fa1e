"""Sparse Gaussian processes, whose inducing variables are structures, or weighted combinations of structures."""

from espalier.gp.sparse.inducing import Inducing as Inducing
