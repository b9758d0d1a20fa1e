"""The experiments of Beck (2014): kernels on strings and trees, combined, their weights learned by Gaussian processes.

``run("questions", data=..., out=...)`` computes what is missing and writes a page beside the results; so does the
command ``espalier reproduce beck2014 questions``.
"""

from espalier.reproduce.papers import Paper

__all__ = ["EXPERIMENTS", "chosen", "run"]

EXPERIMENTS = {"questions": "questions", "sentiment": "sentiment", "emotion": "emotion"}
_PAPER = Paper("beck2014", EXPERIMENTS)

run, chosen = _PAPER.run, _PAPER.chosen
