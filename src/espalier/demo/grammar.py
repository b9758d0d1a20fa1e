"""A grammar of questions with three clauses, three question words and one answer.

Every question holds *who*, *where* and *when* once each. One of them asks; the other two open an adverbial
clause or a relative clause. What is asked for depends on the configuration alone:

========  ==========================================================================================
agent     who is the subject of the main clause, or what *by* is left without in a passive one
patient   who is the object of the main clause, or the subject of a passive one
place     where asks
time      when asks
========  ==========================================================================================

*Who will meet the baker ...?* asks for the agent and *Who will the baker meet ...?*, of the same words, for
the patient; *Who will be met by the baker ...?* and *Who will the baker be met by ...?* the other way round.

The words carry no information at all. Whatever is asked for, a question has five noun phrases, three verbs
and three modals from the same lists, each clause is passive with the same probability, and a clause stands
in front of the question, with a comma, with the same probability. So the multiset of words has the same
distribution in every class, and no classifier that sees only that multiset beats chance.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from espalier.structures.numbers import is_whole
from espalier.structures.tree import Tree

CLASSES = ("agent", "patient", "place", "time")

NOUNS = "baker miller painter doctor singer teacher farmer sailor".split()
ADJECTIVES = "old young tall quiet".split()
MODALS = "will can should might".split()
VERBS = {
    "meet": "met",
    "visit": "visited",
    "help": "helped",
    "thank": "thanked",
    "follow": "followed",
    "greet": "greeted",
}
P_PASSIVE, P_ADJECTIVE, P_FRONTED, P_NESTED = 0.4, 0.25, 0.25, 0.25


@dataclass
class _Words:
    """The words of one question, dealt without replacement where a repetition would read oddly."""

    rng: random.Random
    nouns: list[str]
    verbs: list[str]

    @staticmethod
    def deal(rng: random.Random) -> _Words:
        return _Words(rng, rng.sample(NOUNS, 5), rng.sample(sorted(VERBS), 3))

    def noun_phrase(self) -> str:
        adjective = f"(JJ {self.rng.choice(ADJECTIVES)})" if self.rng.random() < P_ADJECTIVE else ""
        return f"(NP (DT the) {adjective} (NN {self.nouns.pop()}))"


@dataclass(frozen=True)
class _Clause:
    """A clause in brackets: perhaps a subject, a modal, a verb with a place for its other noun phrase, and adjuncts."""

    subject: str
    modal: str
    verb: str
    other: str
    adjuncts: str = ""

    @property
    def verb_phrase(self) -> str:
        return f"(VP {self.verb.format(self.other)} {self.adjuncts})"

    def embedded(self, question_phrase: str) -> str:
        """The clause after its question word, in the order of a statement."""
        return f"(SBAR {question_phrase} (S {self.subject} (VP {self.modal} {self.verb_phrase})))"

    def with_relative(self, relative: str, rng: random.Random) -> _Clause:
        """Hang a relative clause on one of the two noun phrases of a complete clause."""
        if rng.random() < 0.5:
            return replace(self, subject=f"(NP {self.subject} {relative})")
        return replace(self, other=f"(NP {self.other} {relative})")


def _clause(words: _Words, role: str | None, passive: bool) -> _Clause:
    """A clause whose agent or patient is asked for or relativized (``role``), or that is complete."""
    subject = "" if role == ("patient" if passive else "agent") else words.noun_phrase()
    modal, verb = f"(MD {words.rng.choice(MODALS)})", words.verbs.pop()
    other = "" if role == ("agent" if passive else "patient") else words.noun_phrase()
    if passive:
        return _Clause(subject, modal, f"(VB be) (VP (VBN {VERBS[verb]}) (PP (IN by) {{}}))", other)
    return _Clause(subject, modal, f"(VB {verb}) {{}}", other)


def _adverbial(word: str) -> str:
    return f"(WHADVP (WRB {word}))"


_WHO = "(WHNP (WP who))"


def make_question(asked: str, rng: random.Random) -> Tree:
    """Draw a question that asks for one of ``CLASSES``."""
    words = _Words.deal(rng)
    passive = [rng.random() < P_PASSIVE for _ in range(3)]
    fronted, nested = rng.random() < P_FRONTED, rng.random() < P_NESTED
    if asked in ("agent", "patient"):
        main = _clause(words, asked, passive[0])
        first, second = rng.sample(["where", "when"], 2)
        inner = _clause(words, None, passive[2]).embedded(_adverbial(second))
        outer = _clause(words, None, passive[1])
        if nested:
            clauses = [replace(outer, adjuncts=inner).embedded(_adverbial(first))]
        else:
            clauses = [outer.embedded(_adverbial(first)), inner]
        return _question(_WHO, main, clauses, fronted)
    word, other = ("where", "when") if asked == "place" else ("when", "where")
    main, adjunct = _clause(words, None, passive[0]), _clause(words, None, passive[1])
    relative = _clause(words, rng.choice(["agent", "patient"]), passive[2]).embedded(_WHO)
    if nested:
        adjunct = adjunct.with_relative(relative, rng)
    else:
        main = main.with_relative(relative, rng)
    return _question(_adverbial(word), main, [adjunct.embedded(_adverbial(other))], fronted)


def _question(question_phrase: str, main: _Clause, clauses: list[str], fronted: bool) -> Tree:
    front = f"{clauses[0]} (, ,)" if fronted else ""
    main = replace(main, adjuncts=" ".join(clauses[fronted:]))
    inverted = f"(SQ {main.modal} {main.subject} {main.verb_phrase})"
    return Tree.from_brackets(f"(SBARQ {front} {question_phrase} {inverted} (. ?))")


def asked_for(tree: Tree) -> str:
    """What a question of this grammar asks for, read off its tree: the oracle of the demo.

    Examples
    --------
    >>> text = "(SBARQ (WHNP (WP who)) (SQ (MD will) (NP (DT the) (NN baker)) (VP (VB meet))) (. ?))"
    >>> asked_for(Tree.from_brackets(text))
    'patient'
    """
    question_phrase, inverted = tree.children[-3:-1]
    word = question_phrase.words()[0]
    if word != "who":
        return {"where": "place", "when": "time"}[word]
    has_subject = len(inverted.children) == 3
    passive = inverted.children[-1].words()[0] == "be"
    return "patient" if has_subject != passive else "agent"


def spell(tree: Tree) -> str:
    """The question as one writes it."""
    text = " ".join(tree.words()).replace(" ,", ",").replace(" ?", "?")
    return text[0].upper() + text[1:]


def seeded(n: int, seed: int) -> random.Random:
    """The generator of a seed, once what was asked for is known to make sense."""
    for name, value in (("n", n), ("seed", seed)):
        if not is_whole(value):
            raise TypeError(f"{name} must be an integer, got {value!r}.")
    if n < 0:
        raise ValueError(f"n must be 0 or more, got {n}.")
    return random.Random(int(seed))
