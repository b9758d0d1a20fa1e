"""Gaussian processes: learners that also learn the kernel, and predict with error bars."""

from espalier._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
