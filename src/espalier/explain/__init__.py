"""What decided, and how far to trust it: the fragments behind a kernel value, and pictures of a fitted model."""

import sys
from types import ModuleType
from typing import Any

from espalier.explain.comparison import Comparison
from espalier.explain.explaining import explain
from espalier.explain.explanation import Explanation, Reason
from espalier.explain.learned_plot import plot_learned
from espalier.explain.plots import plot_calibration, plot_predictions, plot_restarts
from espalier.explain.shared import SharedFragment, shared_fragments

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


class _Explain(ModuleType):
    """The package, which is also the function ``es.explain``: importing it must not hide the function."""

    def __call__(self, *args: Any, **options: Any) -> Explanation:
        return explain(*args, **options)


sys.modules[__name__].__class__ = _Explain
