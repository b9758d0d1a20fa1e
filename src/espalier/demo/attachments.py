"""Sentences whose prepositional phrases hang where their words say, which no plain grammar can know.

*The painter watched the sailor with the telescope* and *the painter watched the sailor with the coat* have the same
tags, and so the same parses by the same rules; but one watches with a telescope, and the sailor wears the coat. Where a
phrase hangs follows from its words: *with* and a tool on the verb, beside its object; *with* and a mark, or *from* and
a place, on the noun before it (*the telescope from the market*); *in* and a time on the verb, however far away.

Tools and marks are equally frequent, and verbs, nouns, places and times are drawn independently of them.
"""

from __future__ import annotations

import random

from espalier.demo.grammar import NOUNS, seeded
from espalier.structures.tree import Tree

VERBS = ("amused", "found", "painted", "praised", "tickled", "watched")
TOOLS = ("brush", "camera", "feather", "telescope")
MARKS = ("basket", "coat", "hat", "scarf")
PLACES = ("castle", "harbour", "market", "village")
TIMES = ("autumn", "evening", "morning", "winter")
P_OWNER, P_FROM, P_TIME = 0.25, 0.4, 0.4


def generate_attachments(n: int, seed: int = 0) -> list[Tree]:
    """Draw the trees of ``n`` sentences; the same seed, any integer, gives the same trees.

    Examples
    --------
    >>> print(generate_attachments(2, seed=1)[1])
    (S (NP (DT the) (NN doctor))
       (VP (VBD amused) (NP (NP (DT the) (NN baker)) (PP (IN with) (NP (DT the) (NN scarf))))) (. .))
    """
    rng = seeded(n, seed)
    return [_sentence(rng) for _ in range(n)]


def _sentence(rng: random.Random) -> Tree:
    subject, patient = (_noun_phrase(noun) for noun in rng.sample(NOUNS, 2))
    if rng.random() < P_OWNER:
        subject = f"(NP {subject} (PP (IN with) {_noun_phrase(rng.choice(MARKS))}))"
    is_tool = rng.random() < 0.5
    thing = _noun_phrase(rng.choice(TOOLS if is_tool else MARKS))
    if rng.random() < P_FROM:
        thing = f"(NP {thing} (PP (IN from) {_noun_phrase(rng.choice(PLACES))}))"
    below = f"{patient} (PP (IN with) {thing})"
    if not is_tool:
        below = f"(NP {below})"
    if rng.random() < P_TIME:
        below += f" (PP (IN in) {_noun_phrase(rng.choice(TIMES))})"
    return Tree.from_brackets(f"(S {subject} (VP (VBD {rng.choice(VERBS)}) {below}) (. .))")


def _noun_phrase(noun: str) -> str:
    return f"(NP (DT the) (NN {noun}))"
