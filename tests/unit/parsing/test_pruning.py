"""Coarse grammars, beams and too little memory: what may be left out, and that it is said."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.coarse import allowed, places, rules_of
from tests.reference.pcfg import all_parses
from tests.unit.parsing.test_pcfg import TREES, random_grammar

from espalier import Tree
from espalier.parsing.coarse import coarse_grammar, expected_counts
from espalier.parsing.grammar import Grammar
from espalier.parsing.pcfg import PCFG

LABELS = {"S": "S", "A": "A", "B": "A", "x": "x", "y": "y"}


def coarse_places(tree, grammar, classes):
    """The coarse symbols over the spans of a parse, prefixes of long rules included."""
    number = {name: k for k, name in enumerate(grammar.symbols)}
    longer = {(left, right): parent for parent, left, right in grammar.binary.tolist() if parent >= len(number)}
    found = {(classes[number[label]], i, j) for label, i, j in places(tree)}
    stack = [(tree, 0)]
    while stack:
        node, start = stack.pop()
        prefix, end = None, start
        for k, child in enumerate(node.children):
            if child.children:
                stack.append((child, end))
            end += max(1, len(child.leaves()))
            if not child.children or k == len(node.children) - 1:
                continue
            prefix = number[child.label] if prefix is None else longer[prefix, number[child.label]]
            if k > 0:
                found.add((classes[prefix], start, end))
    return found


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("max_unary", [0, 2])
def test_a_parse_stays_where_the_coarse_grammar_allows_all_of_it(seed, max_unary):
    rules, lexicon = random_grammar(seed)
    grammar = Grammar.from_rules(rules, "S", max_unary=max_unary)
    labels = [LABELS[name] for name in grammar.symbols]
    parser = PCFG(grammar, lexicon, labels)
    coarse = coarse_grammar(grammar, labels)
    names = [str(k) for k in range(coarse["n_symbols"])]
    classes = [names[k] for k in coarse["symbol"]]
    number = {name: k for k, name in enumerate(grammar.symbols)}
    for words in (["v", "w"], ["w", "v", "w"], ["w", "w", "v", "w"]):
        tags = lexicon.weights(words)
        fine = all_parses(rules, tags, words, "S", max_unary)
        if not fine:
            continue
        coarse_tags = [{classes[number[t]]: x for t, x in found.items() if t in number} for found in tags]
        listed = all_parses(rules_of(coarse, names), coarse_tags, words, classes[grammar.root], max_unary)
        for margin in (0.5, 3.0):
            kept = allowed(listed, margin)
            expected = [s for t, s in fine if coarse_places(Tree.from_brackets(t), grammar, classes) <= kept]
            found = parser.parse(words, 10_000, coarse=margin)
            scores = [parse.score for parse in found]
            if not expected:
                continue  # the margin was widened
            # Chains of unary rules may be longer where what is above and below is looked at apart.
            if max_unary == 0:
                assert scores == pytest.approx(expected)
            else:
                assert all(np.isclose(scores, score).any() for score in expected)
            assert len(scores) <= len(fine)
            assert len(scores) == len(fine) or not found.exact


@pytest.mark.parametrize("markov", [None, (1, 0), (2, 1), (2, 2)])
def test_coarse_rules_are_probabilities(markov):
    parser = PCFG.from_treebank(TREES, markov=markov, split_tags=markov == (2, 2))
    coarse = parser._coarse
    total = np.zeros(coarse["n_symbols"])
    np.add.at(total, coarse["parent"], np.exp(coarse["weight"]))
    parents = np.repeat(np.arange(len(coarse["down_start"]) - 1), np.diff(coarse["down_start"]))
    np.add.at(total, parents, np.exp(coarse["down_weight"]))
    assert total[total > 0] == pytest.approx(1.0)
    assert set(coarse["symbol"].tolist()) == set(range(coarse["n_symbols"]))
    assert coarse["n_base"] == len(set(parser.labels))


def test_expected_counts_are_those_of_the_treebank():
    parser = PCFG.from_treebank(TREES)
    counts = dict(zip(parser.grammar.symbols, expected_counts(parser.grammar), strict=False))
    # Relative frequencies give back what was counted: five trees with 5 determiners... by tree.
    nodes = [node.label for text in TREES for node in Tree.from_brackets(text) if node.children]
    for label in ("S", "NP", "VP", "PP", "D", "N", "V", "P", "FRAG"):
        assert counts[label] == pytest.approx(nodes.count(label) / len(TREES), rel=1e-6)


def test_grammars_that_grow_without_end_have_counts():
    grammar = Grammar.from_rules({("S", ("S", "S")): 0.9, ("S", ("a",)): 0.1}, "S")
    assert np.isfinite(expected_counts(grammar)).all()


def test_pruned_parses_say_so():
    parser = PCFG.from_treebank(TREES, markov=(2, 1))
    words = ["the", "dog", "saw", "cats", "with", "dogs"]
    exact = parser.parse(words)
    assert exact.exact and parser.parse(words, coarse=1e6).best == exact.best
    for options in ({"beam": 1.0}, {"coarse": 0.5}, {"coarse": 0.5, "beam": 1.0}):
        found = parser.parse(words, **options)
        assert found.complete and not found.exact and len(found) <= len(exact)
        assert found[0].tree.words() == words
    narrow = parser.parse(words, coarse=0.5)
    assert narrow[0] == exact[0]


def test_little_memory_is_flagged_and_loses_no_word():
    parser = PCFG.from_treebank(TREES)
    words = ["the", "cat", "saw"] * 100
    best = parser.parse(["the", "cat", "saw", "dogs"], 3)
    with pytest.warns(
        UserWarning, match="1 of 2 sentences need more memory than 1.0 MiB, the first is sentence 0 with 300"
    ):
        found, short = parser.parse_all([words, ["the", "cat", "saw", "dogs"]], 3, chart_memory="1 MiB")
    assert not found.exact and found.narrowed and found[0].tree.words() == words and found.n_bytes <= 2**20
    assert short == best and short.exact and not short.narrowed
    with pytest.warns(UserWarning, match="need more memory than 10 bytes"):
        flat = parser.parse(words[:4], chart_memory=10)
    assert not flat.complete and not flat.exact
    assert str(flat[0].tree) == "(TOP (D the) (N cat) (V saw) (D the))"


def test_what_is_said_about_memory_holds():
    parser = PCFG.from_treebank(TREES)
    n_symbols = len(parser.grammar.symbols) + parser.grammar.n_prefixes
    for n in (10, 60):
        found = parser.parse((["the", "cat", "saw"] * 40)[:n], 1)
        assert found.exact and 0 < found.n_bytes <= 12 * n * (n + 1) * n_symbols + 2_000_000


def test_what_memory_leaves_out_does_not_depend_on_threads():
    parser = PCFG.from_treebank(TREES)
    sentences = [["dogs", "sleep"] * n for n in (20, 3, 25, 2)]
    with pytest.warns(UserWarning, match="2 of 4 sentences need more memory"):
        one = parser.parse_all(sentences, 5, chart_memory="40 KiB", n_threads=1)
    with pytest.warns(UserWarning, match="2 of 4 sentences need more memory"):
        assert parser.parse_all(sentences, 5, chart_memory="40 KiB", n_threads=3) == one


def test_a_long_sentence_of_real_words(data):
    from espalier.structures import read_brackets

    trees = read_brackets(data / "ewt_srl" / "dev.mrg.gz")
    parser = PCFG.from_treebank(trees[:500], markov=(2, 1))
    words = [word for tree in trees[500:] for word in tree.words()][:300]
    found = parser.parse(words, 5, beam=5.0)
    assert len(found) == 5 and found.complete and not found.exact
    assert all(parse.tree.words() == words for parse in found)
    with pytest.warns(UserWarning, match="with 300 words"):
        small = parser.parse(words, 5, chart_memory="4 MiB")
    assert small[0].tree.words() == words and small.n_bytes <= 4 * 2**20
