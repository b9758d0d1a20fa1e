"""Jobs and what they may use: threads, memory, whom to tell how far they are. Knows no kernel and no learner."""

from espalier._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
