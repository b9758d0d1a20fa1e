"""The experiments of Beck, Cohn, Hardmeier and Specia (2015) on learning tree kernels with Gaussian processes.

``run("emotion", data=..., out=...)`` computes what is missing and writes a page beside the results; so does the command
``espalier reproduce beck2015 emotion``.
"""

from espalier_experiments.papers import Paper

__all__ = ["EXPERIMENTS", "PAPER", "run"]

EXPERIMENTS = {
    "synthetic": "synthetic",
    "time": "timing",
    "emotion": "emotion",
    "quality": "quality",
    "overfitting": "overfitting",
    "marginal": "marginal",
}
SUMMARY = "Beck and others (2015): Gaussian processes learn the decays of tree kernels."
PAPER = Paper("beck2015", SUMMARY, EXPERIMENTS, alone=frozenset({"time", "marginal"}))

run = PAPER.run
