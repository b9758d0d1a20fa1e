"""The experiments of Pighin and Moschitti (2009) on the fragments behind tree kernels.

``run("questions", data=..., out=...)`` computes what is missing and writes a page beside the results; so does the
command ``espalier reproduce pighin2009 questions``.
"""

from espalier_experiments.papers import Paper

__all__ = ["EXPERIMENTS", "PAPER", "run"]

EXPERIMENTS = {"questions": "questions", "boundary": "boundary", "roles": "roles", "fragments": "fragments"}
SUMMARY = "Pighin and Moschitti (2009): fragments mined from kernels serve linear machines."
PAPER = Paper("pighin2009", SUMMARY, EXPERIMENTS, alone=frozenset({"boundary"}))

run = PAPER.run
