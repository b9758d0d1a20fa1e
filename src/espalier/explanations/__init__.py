"""What decided, and how far to trust it: the fragments behind a kernel value, and pictures of a fitted model."""

from espalier.explanations.comparison import Comparison
from espalier.explanations.explaining import explain
from espalier.explanations.explanation import Explanation, Reason
from espalier.explanations.learned_plot import plot_learned
from espalier.explanations.plots import plot_calibration, plot_predictions, plot_restarts
from espalier.explanations.shared import SharedFragment, shared_fragments

__all__ = [
    "Comparison",
    "Explanation",
    "Reason",
    "SharedFragment",
    "explain",
    "plot_calibration",
    "plot_learned",
    "plot_predictions",
    "plot_restarts",
    "shared_fragments",
]
