"""Brackets counted by hand, with and without the rules of evalb."""

from __future__ import annotations

import pytest

from espalier.errors import InputError
from espalier.parsing import evaluate, oracle
from espalier.rerank.quality import best_candidate
from espalier.structures import Tree
from espalier.structures.group import Group

GOLD = "(S (NP (D the) (N cat)) (VP (V saw) (NP (PRP it)) (PRT (RP up))) (. .))"


@pytest.mark.parametrize(
    ("parsed", "matched", "of_parse"),
    [
        (GOLD, 5, 5),
        # A particle counts as an adverb phrase; a wrong tag is no wrong bracket.
        (GOLD.replace("PRT", "ADVP").replace("(N cat)", "(V cat)"), 5, 5),
        # Where the full stop hangs does not matter.
        ("(S (NP (D the) (N cat)) (VP (V saw) (NP (PRP it)) (PRT (RP up)) (. .)))", 5, 5),
        # NP over too much, and no NP over it: S, VP and the particle are left.
        ("(S (NP (D the) (N cat) (V saw)) (VP (PRP it) (PRT (RP up))) (. .))", 2, 4),
        # The same constituent twice matches once.
        ("(S (NP (NP (D the) (N cat))) (VP (V saw) (NP (PRP it)) (PRT (RP up))) (. .))", 5, 6),
        # A root on top does not count, nor does a constituent of punctuation alone.
        (f"(TOP {GOLD.replace('(. .)', '(X (. .))')})", 5, 5),
        # Flat.
        ("(S (D the) (N cat) (V saw) (PRP it) (RP up) (. .))", 1, 1),
    ],
)
def test_brackets(parsed, matched, of_parse):
    found = evaluate([GOLD], [parsed])
    assert (found.matched, found.gold, found.parsed) == ((matched,), (5,), (of_parse,))
    assert found.precision == pytest.approx(100 * matched / of_parse)
    assert found.recall == pytest.approx(100 * matched / 5)
    assert found.f1 == pytest.approx(200 * matched / (5 + of_parse))
    assert found.exact_match == (100.0 if matched == of_parse == 5 else 0.0)


def test_rules_are_options():
    low = "(S (NP (D the) (N cat)) (VP (V saw) (NP (PRP it)) (PRT (RP up)) (. .)))"
    assert evaluate([GOLD], [low]).f1 == 100.0
    strict = evaluate([GOLD], [low], punctuation=())
    assert (strict.matched, strict.gold, strict.parsed) == ((4,), (5,), (5,))
    assert evaluate([GOLD], [f"(TOP {GOLD})"], roots=()).parsed == (6,)
    assert evaluate([GOLD], [GOLD.replace("PRT", "ADVP")], equivalent={}).matched == (4,)


def test_tags():
    found = evaluate([GOLD], [GOLD.replace("(N cat)", "(V cat)").replace("(. .)", "(: .)")])
    assert (found.tags_right, found.tags) == ((4,), (5,))
    assert found.tagging == 80.0


def test_the_score_of_collins_and_duffy():
    flat = "(S (D the) (N cat) (V saw) (PRP it) (RP up) (. .))"
    small = "(S (N a))"
    found = evaluate([GOLD, small], [flat, small])
    # Precision 100, recall 20, weight 5; then 100, 100, weight 1.
    assert found.score == pytest.approx((5 * 60 + 1 * 100) / 6)
    perfect = evaluate([GOLD, small], [GOLD, small])
    assert perfect.improvement(found) == pytest.approx(100.0)
    assert found.improvement(found) == 0.0
    assert perfect.improvement(perfect) == 0.0 and found.improvement(perfect) == float("-inf")


def test_the_oracle_picks_the_best():
    flat = "(S (D the) (N cat) (V saw) (PRP it) (RP up) (. .))"
    best, found = oracle([GOLD, "(S (N a))"], [[flat, GOLD, GOLD], ["(X (N a))", "(Y (N a))"]])
    assert best == [1, 0]
    assert found.matched == (5, 0)


def test_the_oracle_of_a_tree_without_constituents_is_another_without():
    gold, candidates = "(UH yes)", ["(INTJ (UH yes))", "(UH yes)"]
    best, found = oracle([gold], [candidates])
    assert best == [1] and found.exact_match == 100.0
    assert best_candidate(Group(candidates, gold=gold)) == 1


def test_sentences_whose_parses_have_other_words_are_skipped_where_that_is_wanted():
    gold, parsed = [GOLD, "(S (N a))", GOLD], [GOLD, "(())", "(S (N b))"]
    found = evaluate(gold, parsed, skip=True)
    assert found.skipped == (1, 2) and len(found) == 1 and found.f1 == 100.0
    assert evaluate([GOLD], [GOLD]).skipped == ()
    assert evaluate(gold[1:], parsed[1:], skip=True).f1 == 0.0


def test_counts_are_integers():
    for tree, count in (("(S (N x))", 1), ("(S (. .))", 0)):
        (found,) = evaluate([tree], [tree]).tags
        assert type(found) is int and found == count


@pytest.mark.parametrize("one", ["(S (N a))", Tree.from_brackets("(S (N a))")])
def test_a_single_tree_is_no_list_of_trees(one):
    with pytest.raises(TypeError, match=r"gold must be several trees, got a single one\. Write \[tree\]"):
        evaluate(one, one)
    with pytest.raises(TypeError, match="parsed must be several trees"):
        evaluate([one], one)
    with pytest.raises(TypeError, match="gold must be several trees"):
        oracle(one, [[one]])


def test_candidates_are_a_list_for_each_sentence():
    with pytest.raises(TypeError, match="Sentence 0 must have a list of candidates, got a single one"):
        oracle([GOLD], [GOLD])


def test_bad_input():
    with pytest.raises(InputError, match="Sentence 1: the parse has different words from the gold tree, 'b' for 'a'"):
        evaluate(["(S (N a))", "(S (N a))"], ["(S (N a))", "(S (N b))"])
    with pytest.raises(InputError, match="1 gold trees and 0 parses"):
        evaluate(["(S (N a))"], [])
    with pytest.raises(InputError, match="Sentence 0 has no candidates"):
        oracle(["(S (N a))"], [[]])
    assert evaluate([], []).f1 == 0.0
