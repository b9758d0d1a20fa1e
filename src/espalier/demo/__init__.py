"""Questions and translations that the project wrote itself, in which structure decides and words mislead.

``grammar`` says how a question is built and what it asks for; ``questions`` draws labelled tables of them;
``translations`` draws sentences in two languages with the time that correcting them takes; ``editors`` the times of
several editors, each with their own troubles; ``attachments`` draws
sentences whose words decide where a phrase hangs; ``answers`` answers questions by their nearest neighbours.
"""

from espalier.demo.attachments import generate_attachments
from espalier.demo.editors import EDITORS, generate_editors
from espalier.demo.grammar import CLASSES, asked_for
from espalier.demo.questions import BEST_SCORE, BLOCK, CHANCE, generate
from espalier.demo.translations import expected_log_seconds, generate_translations

__all__ = [
    "BEST_SCORE",
    "BLOCK",
    "CHANCE",
    "CLASSES",
    "EDITORS",
    "asked_for",
    "expected_log_seconds",
    "generate",
    "generate_attachments",
    "generate_editors",
    "generate_translations",
]
