"""Kernel x corpus -> matrix: threads, tiles, progress, and matrices that are never formed."""

from espalier.gram.forms import DualForm, PrimalForm
from espalier.gram.matrix import gram
from espalier.gram.neighbours import nearest

__all__ = ["DualForm", "PrimalForm", "gram", "nearest"]
