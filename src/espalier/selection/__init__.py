"""Selecting features in the space of a kernel: the few that matter among very many."""

from espalier.selection.frequent import frequent_counts
from espalier.selection.selector import KernelSpaceSelector

__all__ = ["KernelSpaceSelector", "frequent_counts"]
