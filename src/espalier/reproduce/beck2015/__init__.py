"""The experiments of Beck, Cohn, Hardmeier and Specia (2015) on learning tree kernels with Gaussian processes.

``run("emotion", data=..., out=...)`` computes what is missing and writes a page beside the results; so does the command
``espalier reproduce beck2015 emotion``.
"""

from espalier.reproduce.papers import Paper

__all__ = ["EXPERIMENTS", "chosen", "run"]

EXPERIMENTS = {"synthetic": "synthetic", "time": "timing", "emotion": "emotion", "quality": "quality"}
_PAPER = Paper("beck2015", EXPERIMENTS, frozenset({"time"}))

run, chosen = _PAPER.run, _PAPER.chosen
