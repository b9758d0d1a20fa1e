"""The best parse against NLTK's Viterbi parser, on the same grammar."""

from __future__ import annotations

import math

import pytest
from tests.unit.parsing.test_pcfg import TREES

from espalier import Tree
from espalier.parsing import PCFG

nltk = pytest.importorskip("nltk")


def viterbi(trees):
    """NLTK's parser with relative frequencies of the rules of trees, words included."""
    found = [nltk.Tree.fromstring(f"(TOP {text})") for text in trees]
    productions = [production for tree in found for production in tree.productions()]
    return nltk.parse.ViterbiParser(nltk.induce_pcfg(nltk.Nonterminal("TOP"), productions))


def same_probabilities(trees, sentences):
    peer = viterbi(trees)
    parser = PCFG.from_treebank(trees, smoothing=0.0)
    for words in sentences:
        (expected,) = peer.parse(words)
        assert parser.parse(words, 1)[0].score == pytest.approx(math.log(expected.prob()), abs=1e-9)


def test_small_trees():
    sentences = [Tree.from_brackets(text).words() for text in TREES]
    same_probabilities(TREES, [*sentences, "the dogs with a cat saw the dog with glasses".split(), ["cats", "sleep"]])


def test_trees_of_a_treebank(data):
    from espalier.parsing.treebank import plain
    from espalier.structures import read_brackets

    trees = [plain(tree) for tree in read_brackets(data / "ewt_srl" / "dev.mrg.gz")[:400]]
    short = [tree for tree in trees if 3 <= len(tree.words()) <= 7][:25]
    # A node that only repeats its child is left out of the grammar, and NLTK would count it.
    short = [
        tree
        for tree in short
        if not any(node.children and len(node.children) == 1 and node.children[0].label == node.label for node in tree)
    ]
    same_probabilities([str(tree) for tree in short], [tree.words() for tree in short[:8]])
