"""The experiments of Collins and Duffy (2001): a grammar proposes parses, and kernels over all subtrees choose.

``run("questions", data=..., out=...)`` computes what is missing and writes a page beside the results; so does the
command ``espalier reproduce collins2001 questions``.
"""

from espalier.reproduce.papers import Paper

__all__ = ["EXPERIMENTS", "chosen", "run"]

EXPERIMENTS = {
    "questions": "questions",
    "beyond": "beyond",
    "treebanks": "treebanks",
    "tagging": "tagging",
    "cost": "cost",
}
_PAPER = Paper("collins2001", EXPERIMENTS, frozenset({"cost"}))

run, chosen = _PAPER.run, _PAPER.chosen
