"""Jobs, the threads and memory they may use, and reports of progress. This package knows no kernel and no learner."""

from espalier._lazy import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
