"""Published experiments, run again: one package per paper, on Espalier's public names alone.

``data`` reads the data sets, ``store`` keeps results and resumes, ``measures`` scores, ``records`` says what is kept of
a fit, ``selection`` chooses among models without test data, and ``page`` writes what is shown. The experiments
themselves stand in packages named for their papers, such as ``beck2015``.
"""

from importlib import import_module

from espalier_experiments.papers import Paper

__all__ = ["PAPERS", "Paper", "paper"]

PAPERS = ("beck2014", "beck2015", "collins2001", "pighin2009", "qian2015")


def paper(name: str) -> Paper:
    """The paper of a name, such as ``"beck2015"``."""
    if name not in PAPERS:
        raise ValueError(f"There is no paper {name!r}; there are {', '.join(PAPERS)}.")
    found: Paper = import_module(f"{__name__}.{name}").PAPER
    return found
