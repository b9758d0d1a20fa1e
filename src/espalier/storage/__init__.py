"""One file for everything that is fitted or interned: safetensors, a JSON header, a checksum.

A class that can be saved inherits from :class:`Storable` and has ``to_state`` and ``from_state``. This room knows no
such class: ``homes.py`` lists their names and modules, and a module is imported when a file needs it.
"""

from espalier.storage.files import Contents, Storable, load, read
from espalier.storage.states import Arrays, State, require

__all__ = ["Arrays", "Contents", "State", "Storable", "load", "read", "require"]
