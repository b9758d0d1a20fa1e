"""The experiments of Pighin and Moschitti (2009) on the fragments behind tree kernels.

``run("questions", data=..., out=...)`` computes what is missing and writes a page beside the results; so does the
command ``espalier reproduce pighin2009 questions``.
"""

from espalier.reproduce.papers import Paper

__all__ = ["EXPERIMENTS", "chosen", "run"]

EXPERIMENTS = {"questions": "questions", "boundary": "boundary", "roles": "roles", "fragments": "fragments"}
_PAPER = Paper("pighin2009", EXPERIMENTS, alone=frozenset({"boundary"}))

run, chosen = _PAPER.run, _PAPER.chosen
