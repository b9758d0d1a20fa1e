"""Translations with the time it takes to correct them, for which the trees are to blame.

English sentences and what a careless machine makes of them in French. How long a reader needs for a word depends on
how the sentence is built, on what the machine got wrong, and on two numbers that anyone could count or compute:

==========================================  ======================
in the source, a passive clause             ``COSTS["passive"]``
a relative clause about its own subject     ``COSTS["subject"]``
a relative clause about its object          ``COSTS["object"]``
in the target, an adjective left in front   ``COSTS["in front"]``
features: words, in tens                    ``COSTS["words"]``
features: fluency, from some other model    ``COSTS["fluency"]``
==========================================  ======================

Costs add up in the logarithm of the seconds per word, and ``NOISE`` is the standard deviation there of all that no
model can know. Which nouns, verbs and adjectives are used changes nothing, and neither do a second main clause or a
place as such, so that the length of a sentence tells only part of the story.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

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

COSTS = {"passive": 0.4, "subject": 0.15, "object": 0.6, "in front": 0.5, "words": -0.2, "fluency": -0.25}
NOISE = 0.25
BASE = math.log(2.0)  # of a short, plain, active sentence: two seconds per word

P_PASSIVE, P_RELATIVE, P_ADJECTIVE, P_IN_FRONT, P_PLACE, P_SECOND = 0.35, 0.25, 0.35, 0.3, 0.4, 0.4


def generate_translations(n: int, seed: int = 0) -> Table:
    """Draw ``n`` sentences with a translation each and the time for correcting it; the same seed, the same table.

    Parameters
    ----------
    n
        How many.
    seed
        Any integer.

    Returns
    -------
    Table
        The columns ``source`` and ``target`` (trees), ``features`` (words of the source in tens, words of the target
        for each word of the source, fluency) and ``seconds`` (per word).

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
    rules = [f"{node.label} {' '.join(child.label for child in node.children)}" for node in source]
    in_front = sum(node.label == "NP" and [c.label for c in node.children][1:2] == ["A"] for node in target)
    counts = {
        "passive": rules.count("VP VBN PP"),
        "subject": rules.count("SBAR WHNP VP"),
        "object": rules.count("SBAR WHNP S"),
        "in front": in_front,
        "words": features[0],
        "fluency": features[2],
    }
    return BASE + sum(COSTS[name] * count for name, count in counts.items())


@dataclass(frozen=True)
class _Both:
    """The same phrase in both languages."""

    english: Tree
    french: Tree


def _pair(rng: random.Random) -> tuple[Tree, Tree]:
    sentences = [_sentence(rng)]
    if rng.random() < P_SECOND:
        sentences.append(_sentence(rng))
    english, french = [both.english for both in sentences], [both.french for both in sentences]
    if len(sentences) == 1:
        source, target = list(english[0].children), list(french[0].children)
    else:
        source = [english[0], Tree("CC", ["and"]), english[1]]
        target = [french[0], Tree("C", ["et"]), french[1]]
    return Tree("S", [*source, Tree(".", ["."])]), Tree("SENT", [*target, Tree("PONCT", ["."])])


def _sentence(rng: random.Random) -> _Both:
    nouns, verbs = rng.sample(sorted(NOUNS), 4), rng.sample(sorted(VERBS), 3)
    subject, other = (_noun_phrase(rng, nouns, verbs, P_RELATIVE) for _ in range(2))
    english, french = _predicate(verbs.pop(), other, passive=rng.random() < P_PASSIVE)
    if rng.random() < P_PLACE:
        place = rng.choice(sorted(PLACES))
        there = Tree("NP", [Tree("DT", ["the"]), Tree("NN", [place])])
        la = Tree("NP", [Tree("D", ["le"]), Tree("N", [PLACES[place]])])
        english = Tree("VP", [*english.children, Tree("PP", [Tree("IN", ["in"]), there])])
        french = Tree("VP", [*french.children, Tree("PP", [Tree("P", ["dans"]), la])])
    return _Both(Tree("S", [subject.english, english]), Tree("SENT", [subject.french, french]))


def _predicate(verb: str, other: _Both, *, passive: bool) -> tuple[Tree, Tree]:
    """What follows the subject: the verb with its object, or with its agent."""
    participle, future, participe = VERBS[verb]
    modal = Tree("MD", ["will"])
    if not passive:
        english = Tree("VP", [modal, Tree("VP", [Tree("VB", [verb]), other.english])])
        return english, Tree("VP", [Tree("V", [future]), other.french])
    agent = Tree("PP", [Tree("IN", ["by"]), other.english])
    inner = Tree("VP", [Tree("VBN", [participle]), agent])
    english = Tree("VP", [modal, Tree("VP", [Tree("VB", ["be"]), inner])])
    par = Tree("PP", [Tree("P", ["par"]), other.french])
    return english, Tree("VP", [Tree("V", ["sera"]), Tree("VPP", [participe]), par])


def _noun_phrase(rng: random.Random, nouns: list[str], verbs: list[str], p_relative: float) -> _Both:
    noun = nouns.pop()
    english, french = [Tree("NN", [noun])], [Tree("N", [NOUNS[noun]])]
    if rng.random() < P_ADJECTIVE:
        adjective = rng.choice(sorted(ADJECTIVES))
        english.insert(0, Tree("JJ", [adjective]))
        # In French it belongs behind the noun; the machine now and then leaves it where it stood in English.
        french.insert(0 if rng.random() < P_IN_FRONT else 1, Tree("A", [ADJECTIVES[adjective]]))
    both = _Both(Tree("NP", [Tree("DT", ["the"]), *english]), Tree("NP", [Tree("D", ["le"]), *french]))
    if rng.random() >= p_relative:
        return both
    inner = _noun_phrase(rng, nouns, verbs, 0.0)
    predicate, predicat = _predicate(verbs.pop(), inner, passive=False)
    if rng.random() < 0.5:  # who will visit the miller
        clause = [Tree("WHNP", [Tree("WP", ["who"])]), predicate]
        relative = [Tree("PRO", ["qui"]), predicat]
    else:  # whom the miller will visit
        english_verb = Tree("VP", [predicate.children[0], Tree("VP", [predicate.children[1].children[0]])])
        clause = [Tree("WHNP", [Tree("WP", ["whom"])]), Tree("S", [inner.english, english_verb])]
        relative = [Tree("PRO", ["que"]), Tree("SENT", [inner.french, Tree("VP", [predicat.children[0]])])]
    return _Both(
        Tree("NP", [both.english, Tree("SBAR", clause)]),
        Tree("NP", [both.french, Tree("Srel", relative)]),
    )
