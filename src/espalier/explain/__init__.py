"""What decided, and how far to trust it: the fragments behind a kernel value, and pictures of a fitted model."""

from espalier.explain.learned_plot import plot_learned
from espalier.explain.plots import plot_calibration, plot_predictions, plot_restarts
from espalier.explain.shared import SharedFragment, shared_fragments

__all__ = [
    "SharedFragment",
    "plot_calibration",
    "plot_learned",
    "plot_predictions",
    "plot_restarts",
    "shared_fragments",
]
