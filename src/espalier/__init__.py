"""Espalier: learning from trees, sequences and vectors with structural kernels.

``import espalier as es``. The names of everyday work stand here, all others in their rooms: ``es.kernels``, ``es.gp``
and so on. ``__init__.pyi`` lists them. See README.md for a first example and ARCHITECTURE.md for the map.
"""

from espalier._lazy import names_of_stub
from espalier.gram import gram as gram  # at once: the room of the same name would hide the function later

__version__ = "0.2.0.dev0"

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
