"""The experiments of Collins and Duffy (2001): a grammar proposes parses, and kernels over all subtrees choose.

``run("questions", data=..., out=...)`` computes what is missing and writes a page beside the results; so does the
command ``espalier reproduce collins2001 questions``.
"""

from espalier_experiments.papers import Paper

__all__ = ["EXPERIMENTS", "PAPER", "run"]

EXPERIMENTS = {
    "questions": "questions",
    "beyond": "beyond",
    "treebanks": "treebanks",
    "tagging": "tagging",
    "cost": "cost",
}
SUMMARY = "Collins and Duffy (2001): kernels choose among the parses of a grammar."
PAPER = Paper("collins2001", SUMMARY, EXPERIMENTS, alone=frozenset({"cost"}))

run = PAPER.run
