"""Structures: trees, dependency trees, tagged sequences and tables, and what reads them.

This folder turns text, files and objects of other libraries into values; ``corpus`` interns them.
"""

from espalier._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
