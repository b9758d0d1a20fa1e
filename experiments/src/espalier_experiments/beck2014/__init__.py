"""The experiments of Beck (2014): kernels on strings and trees, combined, their weights learned by Gaussian processes.

``run("questions", data=..., out=...)`` computes what is missing and writes a page beside the results; so does the
command ``espalier reproduce beck2014 questions``.
"""

from espalier_experiments.papers import Paper

__all__ = ["EXPERIMENTS", "PAPER", "run"]

EXPERIMENTS = {
    "questions": "questions",
    "classification": "classification",
    "sentiment": "sentiment",
    "emotion": "emotion",
    "grades": "grades",
    "tasks": "shared_emotions",
    "editors": "editors",
    "annotators": "annotators",
    "pairs": "pairs",
    "reviews": "shared_reviews",
    "sparse": "sparse",
    "sequences": "sequences",
}
SUMMARY = "Beck (2014): Gaussian processes learn combinations of kernels on strings and trees."
PAPER = Paper("beck2014", SUMMARY, EXPERIMENTS)

run = PAPER.run
