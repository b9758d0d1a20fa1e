"""Questions that the project wrote itself, in which structure decides and words mislead.

``grammar`` says how a question is built and what it asks for; ``questions`` draws labelled tables of them.
"""

from espalier.demo.grammar import CLASSES, asked_for
from espalier.demo.questions import BEST_SCORE, BLOCK, CHANCE, generate

__all__ = ["BEST_SCORE", "BLOCK", "CHANCE", "CLASSES", "asked_for", "generate"]
