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
from dataclasses import dataclass

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

    def noun_phrase(self) -> Tree:
        adjective = [_tag("JJ", self.rng.choice(ADJECTIVES))] if self.rng.random() < P_ADJECTIVE else []
        return Tree("NP", [_tag("DT", "the"), *adjective, _tag("NN", self.nouns.pop())])

    def modal(self) -> Tree:
        return _tag("MD", self.rng.choice(MODALS))


@dataclass
class _Clause:
    """A clause: an optional subject, a modal and a verb phrase, in the order of their words."""

    subject: Tree | None
    modal: Tree
    verb_phrase: Tree


def _tag(tag: str, word: str) -> Tree:
    return Tree(tag, [word])


def _clause(words: _Words, role: str | None, passive: bool) -> _Clause:
    """A clause whose agent or patient is asked for or relativized (``role``), or that is complete."""
    missing_subject = role == ("patient" if passive else "agent")
    missing_other = role == ("agent" if passive else "patient")
    subject = None if missing_subject else words.noun_phrase()
    modal, verb = words.modal(), words.verbs.pop()
    other = [] if missing_other else [words.noun_phrase()]
    if passive:
        by = Tree("PP", [_tag("IN", "by"), *other])
        inner = Tree("VP", [_tag("VBN", VERBS[verb]), by])
        return _Clause(subject, modal, Tree("VP", [_tag("VB", "be"), inner]))
    return _Clause(subject, modal, Tree("VP", [_tag("VB", verb), *other]))


def _with_adjuncts(clause: _Clause, adjuncts: list[Tree]) -> _Clause:
    verb_phrase = Tree("VP", [*clause.verb_phrase.children, *adjuncts])
    return _Clause(clause.subject, clause.modal, verb_phrase)


def _embedded(question_phrase: Tree, clause: _Clause) -> Tree:
    """A clause after its question word, in the order of a statement."""
    subject = [] if clause.subject is None else [clause.subject]
    return Tree("SBAR", [question_phrase, Tree("S", [*subject, Tree("VP", [clause.modal, clause.verb_phrase])])])


def _adverbial(word: str) -> Tree:
    return Tree("WHADVP", [_tag("WRB", word)])


_WHO = Tree("WHNP", [_tag("WP", "who")])


def _with_relative(clause: _Clause, relative: Tree, rng: random.Random) -> _Clause:
    """Hang a relative clause on one of the two noun phrases of a complete clause."""
    if clause.subject is not None and rng.random() < 0.5:
        return _Clause(Tree("NP", [clause.subject, relative]), clause.modal, clause.verb_phrase)
    *before, last = clause.verb_phrase.children
    if last.label == "VP":  # be met by the baker
        participle, by = last.children
        by = Tree("PP", [by.children[0], Tree("NP", [by.children[1], relative])])
        last = Tree("VP", [participle, by])
    else:
        last = Tree("NP", [last, relative])
    return _Clause(clause.subject, clause.modal, Tree("VP", [*before, last]))


def make_question(asked: str, rng: random.Random) -> Tree:
    """Draw a question that asks for one of ``CLASSES``."""
    words = _Words.deal(rng)
    passive = [rng.random() < P_PASSIVE for _ in range(3)]
    fronted, nested = rng.random() < P_FRONTED, rng.random() < P_NESTED
    if asked in ("agent", "patient"):
        main = _clause(words, asked, passive[0])
        first, second = rng.sample(["where", "when"], 2)
        inner = _embedded(_adverbial(second), _clause(words, None, passive[2]))
        outer = _clause(words, None, passive[1])
        if nested:
            clauses = [_embedded(_adverbial(first), _with_adjuncts(outer, [inner]))]
        else:
            clauses = [_embedded(_adverbial(first), outer), inner]
        return _question(_WHO, main, clauses, fronted)
    word, other = ("where", "when") if asked == "place" else ("when", "where")
    main, adjunct = _clause(words, None, passive[0]), _clause(words, None, passive[1])
    relative = _embedded(_WHO, _clause(words, rng.choice(["agent", "patient"]), passive[2]))
    if nested:
        adjunct = _with_relative(adjunct, relative, rng)
    else:
        main = _with_relative(main, relative, rng)
    return _question(_adverbial(word), main, [_embedded(_adverbial(other), adjunct)], fronted)


def _question(question_phrase: Tree, main: _Clause, clauses: list[Tree], fronted: bool) -> Tree:
    front = [clauses[0], _tag(",", ",")] if fronted else []
    main = _with_adjuncts(main, clauses[fronted:])
    subject = [] if main.subject is None else [main.subject]
    inverted = Tree("SQ", [main.modal, *subject, main.verb_phrase])
    return Tree("SBARQ", [*front, question_phrase, inverted, _tag(".", "?")])


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
