"""Translations with the time it takes to correct them, for which the trees are to blame.

English sentences and what a careless machine makes of them in French. How long a reader needs for a word depends on
how the sentence is built, on what the machine got wrong, and on two numbers that anyone could count or compute; what
each costs is in ``COSTS``. Costs add up in the logarithm of the seconds per word, and ``NOISE`` is the standard
deviation there of all that no model can know. Which nouns, verbs and adjectives are used changes nothing, and neither
do a second main clause or a place as such, so that the length of a sentence tells only part of the story.
"""

from __future__ import annotations

import math
import random

import numpy as np

from espalier.demo.grammar import seeded
from espalier.structures.table import Table
from espalier.structures.tree import Tree

NOUNS = {
    "baker": "boulanger", "miller": "meunier", "painter": "peintre", "doctor": "médecin",
    "singer": "chanteur", "teacher": "professeur", "farmer": "fermier", "sailor": "marin",
}  # fmt: skip
ADJECTIVES = {"tired": "fatigué", "mute": "muet", "deaf": "sourd", "chatty": "bavard"}
# What will be done, what will be done by someone, and both in French.
VERBS = {
    "visit": ("visited", "visitera", "visité"),
    "help": ("helped", "aidera", "aidé"),
    "thank": ("thanked", "remerciera", "remercié"),
    "follow": ("followed", "suivra", "suivi"),
    "greet": ("greeted", "saluera", "salué"),
    "pay": ("paid", "paiera", "payé"),
}
PLACES = {"garden": "jardin", "market": "marché", "village": "village", "castle": "château"}

COSTS = {
    "passive": 0.4,  # a clause of the source
    "subject": 0.15,  # a relative clause about its own subject, in the source
    "object": 0.6,  # one about its object
    "in front": 0.5,  # an adjective of the target that was left in front
    "words": -0.2,  # of the source, in tens
    "fluency": -0.25,  # from some other model
}
NOISE = 0.25
BASE = math.log(2.0)  # of a short, plain, active sentence: two seconds per word

Both = tuple[str, str]  # the same phrase in both languages, in brackets

P_PASSIVE, P_RELATIVE, P_ADJECTIVE, P_IN_FRONT, P_PLACE, P_SECOND = 0.35, 0.25, 0.35, 0.3, 0.4, 0.4


def generate_translations(n: int, seed: int = 0) -> Table:
    """Draw ``n`` sentences with a translation each and the time for correcting it.

    The same seed, any integer, gives the same table. Its columns are ``source`` and ``target`` (trees), ``features``
    (words of the source in tens, words of the target for each word of the source, fluency) and ``seconds`` (per word).

    Examples
    --------
    >>> table = generate_translations(4, seed=2)
    >>> table.columns
    ('source', 'target', 'features', 'seconds')
    >>> " ".join(table["source"][3].words())
    'the painter whom the deaf farmer will pay will thank the miller .'
    >>> " ".join(table["target"][3].words())
    'le peintre que le fermier sourd paiera remerciera le meunier .'
    """
    rng = seeded(n, seed)
    sources, targets, features, seconds = [], [], [], []
    for _ in range(n):
        source, target = _pair(rng)
        n_words = len(source.words())
        row = (n_words / 10, len(target.words()) / n_words, rng.gauss(0, 1))
        sources.append(source)
        targets.append(target)
        features.append(row)
        seconds.append(math.exp(expected_log_seconds(source, target, row) + NOISE * rng.gauss(0, 1)))
    columns = {"features": np.reshape(features, (n, 3)), "seconds": np.array(seconds)}
    return Table({"source": sources, "target": targets, **columns})


def expected_log_seconds(source: Tree, target: Tree, features: tuple[float, float, float]) -> float:
    """Read the logarithm of the time per word, without its noise, off a translation: the oracle of the demo."""
    return BASE + sum(COSTS[name] * count for name, count in difficulties(source, target, features).items())


def difficulties(source: Tree, target: Tree, features: tuple[float, float, float]) -> dict[str, float]:
    """Count in a translation what costs time: a number for each of ``COSTS``."""
    rules = [f"{node.label} {' '.join(child.label for child in node.children)}" for node in source]
    in_front = sum(node.label == "NP" and [c.label for c in node.children][1:2] == ["A"] for node in target)
    return {
        "passive": rules.count("VP VBN PP"),
        "subject": rules.count("SBAR WHNP VP"),
        "object": rules.count("SBAR WHNP S"),
        "in front": in_front,
        "words": features[0],
        "fluency": features[2],
    }


def _pair(rng: random.Random) -> tuple[Tree, Tree]:
    english, french = _sentence(rng)
    if rng.random() < P_SECOND:
        second, deuxieme = _sentence(rng)
        english = f"(S {english}) (CC and) (S {second})"
        french = f"(SENT {french}) (C et) (SENT {deuxieme})"
    return Tree.from_brackets(f"(S {english} (. .))"), Tree.from_brackets(f"(SENT {french} (PONCT .))")


def _sentence(rng: random.Random) -> Both:
    """What stands in a sentence, without the label around it."""
    nouns, verbs = rng.sample(sorted(NOUNS), 4), rng.sample(sorted(VERBS), 3)
    subject, other = (_noun_phrase(rng, nouns, verbs, P_RELATIVE) for _ in range(2))
    english, french = _predicate(verbs.pop(), other, passive=rng.random() < P_PASSIVE)
    if rng.random() < P_PLACE:
        place = rng.choice(sorted(PLACES))
        english += f" (PP (IN in) (NP (DT the) (NN {place})))"
        french += f" (PP (P dans) (NP (D le) (N {PLACES[place]})))"
    return f"{subject[0]} (VP {english})", f"{subject[1]} (VP {french})"


def _predicate(verb: str, other: Both, *, passive: bool = False) -> Both:
    """What stands in the verb phrase after a subject: the verb with its object, or with its agent."""
    participle, future, participe = VERBS[verb]
    if passive:
        by = f"(VP (VBN {participle}) (PP (IN by) {other[0]}))"
        return f"(MD will) (VP (VB be) {by})", f"(V sera) (VPP {participe}) (PP (P par) {other[1]})"
    return f"(MD will) (VP (VB {verb}) {other[0]})", f"(V {future}) {other[1]}"


def _noun_phrase(rng: random.Random, nouns: list[str], verbs: list[str], p_relative: float) -> Both:
    noun = nouns.pop()
    english, french = f"(NN {noun})", f"(N {NOUNS[noun]})"
    if rng.random() < P_ADJECTIVE:
        adjective = rng.choice(sorted(ADJECTIVES))
        english = f"(JJ {adjective}) {english}"
        # In French it belongs behind the noun; the machine now and then leaves it where it stood in English.
        adjectif = f"(A {ADJECTIVES[adjective]})"
        french = f"{adjectif} {french}" if rng.random() < P_IN_FRONT else f"{french} {adjectif}"
    english, french = f"(NP (DT the) {english})", f"(NP (D le) {french})"
    if rng.random() >= p_relative:
        return english, french
    inner, verb = _noun_phrase(rng, nouns, verbs, 0.0), verbs.pop()
    if rng.random() < 0.5:  # who will visit the miller
        predicate, predicat = _predicate(verb, inner)
        clause, relative = f"(WHNP (WP who)) (VP {predicate})", f"(PRO qui) (VP {predicat})"
    else:  # whom the miller will visit
        predicate, predicat = _predicate(verb, ("", ""))
        clause = f"(WHNP (WP whom)) (S {inner[0]} (VP {predicate}))"
        relative = f"(PRO que) (SENT {inner[1]} (VP {predicat}))"
    return f"(NP {english} (SBAR {clause}))", f"(NP {french} (Srel {relative}))"
