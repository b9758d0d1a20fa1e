"""Kernel matrices over corpora, nearest neighbours without the full matrix, and what all learners share."""

from espalier.gram.forms import DualForm, PrimalForm
from espalier.gram.matrix import gram, nearest

__all__ = ["DualForm", "PrimalForm", "gram", "nearest"]
