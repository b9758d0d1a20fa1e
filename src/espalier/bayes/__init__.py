"""Averaging over hyperparameters: the same learners, with every plausible kernel in place of the best one."""

from espalier._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
