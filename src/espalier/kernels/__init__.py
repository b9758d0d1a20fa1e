"""What counts as similar: kernels as values, composed with + and *."""

from espalier._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
