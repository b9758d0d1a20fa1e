"""Heads and relations counted as the scorers of CoNLL count them, by hand and against a slow twin."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.reference.attachment import attachment

import espalier as es
from espalier import DependencyTree
from espalier.errors import InputError
from espalier.parsing import Attachment, evaluate, evaluate_attachment, oracle

WORDS, TAGS = ["He", "'s", "--", "not", "$", "here", "!?"], ["P", "V", ":", "R", "$", "R", "."]
GOLD = DependencyTree(
    WORDS, TAGS, [6, 6, 6, 6, 6, 0, 6], ["nsubj:pass", "cop", "punct", "advmod", "x", "root", "punct"]
)


def changed(heads=None, relations=None):
    """The gold tree with other heads and relations of some tokens, by number from 1."""
    new_heads, new_relations = list(GOLD.heads), list(GOLD.relations)
    for token, head in (heads or {}).items():
        new_heads[token - 1] = head
    for token, relation in (relations or {}).items():
        new_relations[token - 1] = relation
    return DependencyTree(WORDS, TAGS, new_heads, new_relations)


@pytest.mark.parametrize(
    ("heads", "relations", "options", "counts"),
    [
        ({}, {}, {}, (7, 7, 7, 7)),
        ({1: 2}, {}, {}, (6, 6, 7, 7)),
        ({1: 2}, {4: "neg"}, {}, (6, 5, 6, 7)),
        # A wrong head of "--" and of "!?" costs nothing without punctuation; "$" is a symbol, and "'s" has a letter.
        ({3: 2, 7: 1}, {3: "dep"}, {"punctuation": False}, (5, 5, 5, 5)),
        ({3: 2, 7: 1}, {3: "dep"}, {"punctuation": True}, (5, 5, 6, 7)),
        ({2: 1, 5: 1}, {}, {"punctuation": False}, (3, 3, 5, 5)),
        # Only the universal part of a relation counts if subtypes do not.
        ({}, {1: "nsubj"}, {}, (7, 6, 6, 7)),
        ({}, {1: "nsubj"}, {"subtypes": False}, (7, 7, 7, 7)),
        ({}, {1: "nsubj:outer", 2: "aux:pass"}, {"subtypes": False}, (7, 6, 6, 7)),
    ],
)
def test_counts_by_hand(heads, relations, options, counts):
    found = evaluate_attachment([GOLD], [changed(heads, relations)], **options)
    assert (found.heads_right, found.arcs_right, found.relations_right, found.tokens) == tuple((n,) for n in counts)
    assert found.uas == pytest.approx(100 * counts[0] / counts[3])
    assert found.las == pytest.approx(100 * counts[1] / counts[3])
    assert found.label_accuracy == pytest.approx(100 * counts[2] / counts[3])
    assert found.exact_match == (100.0 if counts[1] == counts[3] else 0.0)
    assert found.exact_heads == (100.0 if counts[0] == counts[3] else 0.0)


def some_trees(seed, n=50):
    rng = np.random.default_rng(seed)
    words = ["a", "b", ",", "...", "$", "«", "-5", "`", "–", "¿?"]
    gold, parsed = [], []
    for _ in range(n):
        size = int(rng.integers(1, 9))
        own = rng.choice(words, size).tolist()
        for listed in (gold, parsed):
            heads = [int(rng.integers(0, token)) for token in range(1, size + 1)]
            relations = rng.choice(["x", "x:y", "z", "z:y:x"], size).tolist()
            listed.append(DependencyTree(own, ["T"] * size, heads, relations))
    return gold, parsed


@pytest.mark.parametrize("punctuation", [True, False])
@pytest.mark.parametrize("subtypes", [True, False])
def test_counts_are_those_of_the_definition(punctuation, subtypes):
    gold, parsed = some_trees(0)
    options = {"punctuation": punctuation, "subtypes": subtypes}
    found = evaluate_attachment(gold, parsed, **options)
    expected = [attachment(*pair, **options) for pair in zip(gold, parsed, strict=True)]
    listed = zip(found.heads_right, found.arcs_right, found.relations_right, found.tokens, strict=True)
    assert list(listed) == expected
    assert all(type(n) is int for n in found.tokens + found.heads_right)
    assert repr(found) == (
        f"<Attachment of 50 sentences, {sum(found.tokens)} tokens: UAS {found.uas:.2f}, LAS {found.las:.2f}, "
        f"labels {found.label_accuracy:.2f}, exact {found.exact_match:.2f}>"
    )


def test_real_sentences_are_right_if_nothing_is_changed(data):
    gold = es.read_conllu(data / "ewt_ud" / "en_ewt-ud-dev.conllu.gz")[:300]
    bare = [dataclasses.replace(tree, lemmas=None, features=None, tags=tree.words) for tree in gold]
    found = evaluate_attachment(gold, bare, punctuation=False)
    assert found.las == found.uas == found.exact_match == 100.0
    assert 0 < sum(found.tokens) < sum(map(len, gold)) == sum(evaluate_attachment(gold, bare).tokens)


def test_a_sentence_of_only_punctuation_has_no_mistakes_and_no_weight():
    one = DependencyTree(["!", "!"], ["."] * 2, [0, 1], ["root", "punct"])
    other = DependencyTree(["!", "!"], ["."] * 2, [2, 0], ["punct", "root"])
    found = evaluate_attachment([one], [other], punctuation=False)
    assert found == Attachment((0,), (0,), (0,), (0,)) and found.uas == 0.0 and found.exact_match == 100.0
    assert evaluate_attachment([], []).las == 0.0


def test_the_oracle_has_the_most_right_heads_then_relations():
    worse, label, both = changed({1: 2}), changed({}, {1: "x"}), changed({1: 2}, {4: "x"})
    best, found = oracle([GOLD, GOLD], [[both, worse, label, worse], [both, worse, worse]])
    assert best == [2, 1]
    assert found == evaluate_attachment([GOLD, GOLD], [label, worse])
    # The wrong head of "--" does not count without punctuation.
    best, found = oracle([GOLD], [[label, changed({3: 2})]], punctuation=False)
    assert best == [1] and found.las == 100.0
    best, found = oracle([GOLD], [[changed({}, {1: "obj"}), changed({}, {1: "nsubj"})]], subtypes=False)
    assert best == [1] and found.las == 100.0


def test_bad_input():
    short = DependencyTree(["He"], ["P"], [0], ["root"])
    wrong = "Sentence 1: the parse has different words from the gold tree, 'He' for \"He 's -- not \\$ here !\\?\""
    with pytest.raises(InputError, match=wrong):
        evaluate_attachment([GOLD, GOLD], [GOLD, short])
    with pytest.raises(InputError, match="Sentence 0: a candidate has different words"):
        oracle([GOLD], [[GOLD, short]])
    with pytest.raises(InputError, match="There are 2 gold trees and 1 parses; each parse needs its gold tree"):
        evaluate_attachment([GOLD, GOLD], [GOLD])
    with pytest.raises(InputError, match="There are 2 gold trees and candidates of 1 sentences"):
        oracle([GOLD, GOLD], [[GOLD]])
    with pytest.raises(InputError, match="Sentence 0 has no candidates"):
        oracle([GOLD], [[]])
    with pytest.raises(TypeError, match=r"gold must be several trees, got a single one\. Write \[tree\]"):
        evaluate_attachment(GOLD, GOLD)
    with pytest.raises(TypeError, match="Sentence 0 must have a list of candidates, got a single one"):
        oracle([GOLD], [GOLD])
    with pytest.raises(TypeError, match="parsed has a Tree at 0, and dependency trees are needed"):
        evaluate_attachment([GOLD], [es.Tree.from_brackets("(S (N a))")])
    with pytest.raises(TypeError, match="punctuation must be True or False, got"):
        evaluate_attachment([GOLD], [GOLD], punctuation=(",",))
    with pytest.raises(TypeError, match="subtypes must be True or False, got 1"):
        oracle([GOLD], [[GOLD]], subtypes=1)


def test_brackets_are_not_counted_of_dependency_trees():
    with pytest.raises(TypeError, match=r"gold has a DependencyTree at 0, which has no brackets\. Use evaluate_attach"):
        evaluate([GOLD], [GOLD])
    with pytest.raises(TypeError, match="parsed has a DependencyTree at 0"):
        evaluate(["(S (N a))"], [GOLD])
