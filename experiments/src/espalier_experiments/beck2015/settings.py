"""What the experiments of this paper share."""

from __future__ import annotations

from espalier_experiments.papers import Experiment, Setup

__all__ = ["PAPER", "Experiment", "Setup"]

PAPER = (
    "Beck, Cohn, Hardmeier and Specia, "
    "[Learning Structural Kernels for Natural Language Processing](https://aclanthology.org/Q15-1033), TACL 2015"
)
