"""The rules of evalb, one by one, on trees small enough to count by hand."""

from __future__ import annotations

import pytest

from espalier.errors import InputError
from espalier.parsing import evaluate


@pytest.mark.parametrize(
    ("gold", "parsed", "counts"),
    [
        # Chains: each label of the chain is a bracket, whatever its order; a label twice matches twice.
        ("(S (VP (VB go)))", "(VP (S (VB go)))", (2, 2, 2)),
        ("(NP (NP (N a)))", "(NP (NP (N a)))", (2, 2, 2)),
        ("(NP (NP (N a)))", "(NP (N a))", (1, 2, 1)),
        # A tag alone is no bracket, nor is the tag above a word.
        ("(N a)", "(V a)", (0, 0, 0)),
        # Punctuation at the edge widens no bracket.
        ("(S (NP (N a)) (, ,) (VP (V b)))", "(S (NP (N a) (, ,)) (VP (V b)))", (3, 3, 3)),
        # Punctuation in the middle keeps what is around it together.
        ("(S (NP (N a) (, ,) (N b)) (VP (V c)))", "(S (NP (N a)) (, ,) (X (N b) (VP (V c))))", (2, 3, 4)),
        # Which words are punctuation is said by the gold tags: a wrong tag of the parse hides no word.
        ("(S (NP (N a)) (VP (V b)))", "(S (NP (, a)) (VP (. b)))", (3, 3, 3)),
        ("(S (NP (N a)) (. b))", "(S (NP (N a)) (VP (V b)))", (2, 2, 2)),
        # A bracket of nothing but punctuation is empty and does not count, on either side.
        (
            "(S (PRN (, ,) (: -)) (N a))",
            "(S (, ,) (: -) (N a))",
            (1, 1, 1),
        ),
        # Other signs count, as in the rules of Collins: brackets and currency.
        ("(NP (-LRB- x) (N a))", "(NP (NP (-LRB- x)) (N a))", (1, 1, 2)),
        # Roots of every name, even inside, and the empty one.
        ("( (S (N a)))", "(TOP (ROOT (S1 (S (N a)))))", (1, 1, 1)),
        ("(TOP (S (N a)) (S (N b)))", "(S (N a) (N b))", (0, 2, 1)),
        # A particle is an adverb phrase on both sides.
        ("(VP (V a) (ADVP (R b)))", "(VP (V a) (PRT (R b)))", (2, 2, 2)),
        ("(VP (V a) (PRT (R b)))", "(VP (V a) (PRT (R b)))", (2, 2, 2)),
        # Traces are no words, on either side, and what holds nothing else is no bracket.
        ("(S (NP (-NONE- *)) (VP (V a) (NP (-NONE- *T*-1))))", "(S (VP (V a)))", (2, 2, 2)),
        ("(S (VP (V a)))", "(S (NP (-NONE- 0)) (VP (V a)))", (2, 2, 2)),
        # A word that stands beside constituents without a tag of its own is a word.
        ("(S (NP (N a)) b)", "(S (NP (N a)) (V b))", (2, 2, 2)),
    ],
)
def test_counts(gold, parsed, counts):
    found = evaluate([gold], [parsed])
    assert (found.matched, found.gold, found.parsed) == tuple((count,) for count in counts)
    assert found.exact == (counts[0] == counts[1] == counts[2],)


def test_words_that_are_missing_or_other_are_an_error():
    for parsed in ("(S (N a))", "(S (N a) (N b) (N c))", "(S (N a) (N B))"):
        with pytest.raises(InputError, match="Sentence 0: the parse has different words from the gold tree"):
            evaluate(["(S (N a) (N b))"], [parsed])


def test_sums_are_over_all_sentences():
    found = evaluate(["(S (NP (N a)))", "(S (N b))"], ["(S (VP (N a)))", "(S (N b))"])
    assert (found.precision, found.recall, found.exact_match) == (pytest.approx(200 / 3), pytest.approx(200 / 3), 50.0)
    assert evaluate(["(, ,)"], ["(, ,)"]).f1 == 0.0  # nothing to find
