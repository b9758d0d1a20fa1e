"""Explanations: the fragments behind a kernel value, a score or a choice."""

from espalier.explanations.comparison import Comparison
from espalier.explanations.explaining import explain
from espalier.explanations.explanation import Explanation, Reason
from espalier.explanations.shared import SharedFragment, shared_fragments

__all__ = [
    "Comparison",
    "Explanation",
    "Reason",
    "SharedFragment",
    "explain",
    "shared_fragments",
]
