"""What decided: the fragments behind a kernel value, marked in the trees."""

from espalier.explain.shared import SharedFragment, shared_fragments

__all__ = ["SharedFragment", "shared_fragments"]
