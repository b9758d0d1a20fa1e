"""The k best parses against a list of all; grammars off treebanks; sentences of every kind."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from tests.reference.pcfg import all_parses, ordered_parses
from tests.saved_files import rewrite

from espalier.errors import InputError
from espalier.parsing.grammar import Grammar
from espalier.parsing.lexicon import Lexicon
from espalier.parsing.pcfg import PCFG
from espalier.parsing.tagger import Tagger
from espalier.parsing.treebank import is_tagged
from espalier.structures.brackets import read_brackets
from espalier.structures.group import Group
from espalier.structures.notation import split_words

TREES = [
    "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog))))",
    "(S (NP (D the) (N dog)) (VP (VP (V saw) (NP (N cats))) (PP (P with) (NP (N glasses)))))",
    "(S (NP (NP (N dogs)) (PP (P with) (NP (N cats)))) (VP (V sleep)))",
    "(S (VP (V sleep)))",
    "(FRAG (NP (N dogs)))",
]


def random_grammar(seed):
    """Rules of one to four symbols over few constituents and tags, and words that may have several tags."""
    rng = np.random.default_rng(seed)
    phrases, tags = ["S", "A", "B"], ["x", "y"]
    counts = {}
    for parent in phrases:
        for _ in range(rng.integers(2, 5)):
            size = int(rng.choice([1, 2, 2, 3, 4]))
            children = tuple(rng.choice(phrases[1:] + tags, size=size).tolist())
            if children != (parent,):
                counts[parent, children] = float(rng.integers(1, 9))
    totals = {parent: sum(c for (p, _), c in counts.items() if p == parent) for parent in phrases}
    rules = {rule: count / totals[rule[0]] for rule, count in counts.items()}
    lexicon = Lexicon({"x": 10, "y": 10}, {"w": {"x": 3, "y": 2}, "v": {"y": 4}}, {}, smoothing=0.0)
    return rules, lexicon


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("max_unary", [0, 1, 3])
def test_the_best_parses_are_the_best_of_all(seed, max_unary):
    rules, lexicon = random_grammar(seed)
    grammar = Grammar.from_rules(rules, "S", max_unary=max_unary)
    parser = PCFG(grammar, lexicon)
    for words in (["w"], ["v", "w"], ["w", "v", "w"], ["w", "w", "v", "w", "w"]):
        expected = all_parses(rules, lexicon.weights(words), words, "S", max_unary)
        for k in (1, 7, 10_000):
            found = parser.parse(words, k)
            if not expected:
                assert not found.complete
                continue
            assert found.complete
            assert [parse.score for parse in found] == pytest.approx([score for _, score in expected[:k]])
            texts = [str(parse.tree) for parse in found]
            assert len(set(texts)) == len(texts)
            by_text = dict(expected)
            assert all(by_text[text] == pytest.approx(parse.score) for text, parse in zip(texts, found, strict=True))


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("max_unary", [0, 3])
def test_equally_probable_parses_have_the_documented_order(seed, max_unary):
    rules, lexicon = random_grammar(seed)
    rules = {rule: (0.5, 0.25)[k % 3 == 0] for k, rule in enumerate(rules)}  # equal weights make equal parses
    parser = PCFG(Grammar.from_rules(rules, "S", max_unary=max_unary), lexicon)
    whole = {rule: round(math.log(probability) * 2**36) for rule, probability in rules.items()}
    for words in (["w"], ["v", "w"], ["w", "v", "w"], ["w", "w", "v", "w", "w"]):
        tags = [{tag: round(weight * 2**36) for tag, weight in of_word.items()} for of_word in lexicon.weights(words)]
        expected = ordered_parses(whole, tags, words, parser.grammar.symbols, max_unary)
        for k in (1, 2, 7, 10_000) if expected else ():
            found = parser.parse(words, k)
            assert [(str(parse.tree), parse.score * 2**36) for parse in found] == expected[:k]


def test_the_best_parses_begin_every_longer_list():
    # The same rules in other places: as probable, and added in other orders.
    parser = PCFG.from_treebank(TREES)
    for words in ("the dog saw cats with dogs with a cat with glasses", "dogs with cats with dogs saw cats with dogs"):
        found = parser.parse(words.split(), 300)
        scores = [parse.score for parse in found]
        assert scores == sorted(scores, reverse=True)
        assert len(set(scores)) < len(scores)
        for k in range(1, 300, 29):
            assert parser.parse(words.split(), k).best == found[:k]


def test_the_order_does_not_depend_on_how_many_parses_of_a_treebank_are_asked_for(data):
    trees = [tree for tree in read_brackets(data / "questionbank" / "trees.txt")[:400] if is_tagged(tree)]
    parser = PCFG.from_treebank(trees[:300])
    sentences = [tree.words() for tree in trees[300:]]
    whole = parser.parse_all(sentences, 60)
    for k in (1, 2, 30):
        assert [found.best for found in parser.parse_all(sentences, k)] == [found[:k] for found in whole]
    for found in whole:
        scores = [parse.score for parse in found]
        assert scores == sorted(scores, reverse=True)
        assert Group(found.candidates, scores).best == 0


@pytest.mark.parametrize("markov", [None, (1, None), (1, 2), (2, 0), (2, 1), (2, 2), (3, None)])
@pytest.mark.parametrize("options", [{}, {"split_tags": True}, {"split_tags": True, "least": 3}])
def test_a_treebank_parses_itself(markov, options):
    parser = PCFG.from_treebank(TREES, markov=markov, **options)
    for text in TREES:
        from espalier import Tree

        words = Tree.from_brackets(text).words()
        found = parser.parse(words)
        assert found.complete
        assert text in [str(parse.tree) for parse in found]
        assert all(parse.tree.words() == words for parse in found)
        assert len(set(found.candidates)) == len(found)
        scores = [parse.score for parse in found]
        assert scores == sorted(scores, reverse=True)


def test_relative_frequencies():
    parser = PCFG.from_treebank(TREES, smoothing=0.0)
    best = parser.parse(["sleep"])[0]
    # TOP -> S 4/5, S -> VP 1/4, VP -> V 2/5, V -> sleep 2/4
    assert best.score == pytest.approx(np.log(4 / 5 * 1 / 4 * 2 / 5 * 2 / 4))


def test_long_rules_remember_their_last_siblings():
    trees = ["(S (A a) (B b) (C c) (D d))", "(S (A a) (B b) (E e))"]
    parser = PCFG.from_treebank(trees, markov=(1, 1), smoothing=0.0)
    # S -> [..C] D or [..B] E, one half each; what leads to C and to B is certain.
    assert parser.parse(list("abcd"))[0].score == pytest.approx(np.log(0.5))
    assert parser.parse(list("abe"))[0].score == pytest.approx(np.log(0.5))


def test_tags_remember_their_parents():
    trees = ["(S (NP (N a)) (VP (V b) (NP (N a))))", "(S (NP (N a)) (VP (N c)))", "(S (NP (N c)) (VP (V b)))"]
    parser = PCFG.from_treebank(trees, split_tags=True, smoothing=0.0)
    assert {"N^NP", "N^VP", "V^VP"} <= set(parser.grammar.symbols) and parser.lexicon.parts["N"] == {
        "N^NP": 4,
        "N^VP": 1,
    }
    found = parser.parse(["a", "b"])[0]
    assert str(found.tree) == "(S (NP (N a)) (VP (V b)))"
    # Of three words a, all N^NP: (3 + 4/5) / (3 + 1) of the word's N are, and 4/5 of all N; 3 of 5 N are a.
    assert found.score == pytest.approx(np.log(1 / 3 * 3 / 5 * (3.8 / 4) / (4 / 5)))
    given = parser.parse([("a", "N"), ("c", "N")])[0]
    assert str(given.tree) == "(S (NP (N a)) (VP (N c)))"


def test_rare_contexts_are_forgotten():
    trees = ["(S (A a) (B b) (C c) (D d))"] * 5 + ["(S (A a) (X x) (C c) (D d))"]
    full, short = (PCFG.from_treebank(trees, markov=(1, 2), least=least, smoothing=0.0) for least in (0, 2))
    assert full.grammar.n_prefixes == 4  # A B, A X, B C, X C
    assert short.grammar.n_prefixes == 4  # A B, X for A X, B C, C for X C
    assert full.parse(list("abcd"))[0].score == pytest.approx(np.log(5 / 6))
    assert short.parse(list("abcd"))[0].score == pytest.approx(np.log(5 / 6))


def test_no_tree_is_derived_twice():
    trees = ["(S (X x) (Y y) (Z z))"] * 3 + ["(S (Q q) (X x) (Y y) (Z z))", "(S (Q q) (W w) (Y y) (Z z))"]
    for least in (0, 2, 3, 4, 9):
        parser = PCFG.from_treebank(trees, markov=(2, 2), least=least, smoothing=0.0)
        assert [str(tree) for tree in parser.parse(list("qxyz")).candidates] == [trees[3]]


def test_no_tree_is_derived_twice_where_ancestors_are_forgotten_unevenly():
    # The parent's grandparent is seen too seldom to be remembered, and the child's often enough.
    below = "(P (C (X x)) (C (X x)) (C (X x)))"
    trees = [f"(S (A {below}) (Z z))"] * 4 + [f"(S (B {below}) (Z z))"] * 4
    found, whole = (
        PCFG.from_treebank(trees, markov=(3, 1), least=least).parse("x x x z".split(), k=10) for least in (10, 0)
    )
    assert sorted(map(str, found.candidates)) == sorted(set(trees))
    assert [parse.score for parse in found] == pytest.approx([parse.score for parse in whole])


@pytest.mark.parametrize("options", [{}, {"markov": (2, 1)}, {"markov": (3, 2), "split_tags": True, "least": 2}])
def test_labels_may_be_called_like_the_root(options):
    trees = ["(TOP (A a) (B b))", "(S (TOP (A a) (B b)) (C c))", "(S (A a) (B b))"]
    parser = PCFG.from_treebank(trees * 3, **options)
    for tree in trees:
        found = parser.parse([word for word in "abc" if f" {word})" in tree], k=20)
        texts = list(map(str, found.candidates))
        assert tree in texts and len(set(texts)) == len(texts)
        assert not any(text.startswith("(TOP (TOP") for text in texts)
    assert str(parser.parse(["c", "c"])[0].tree).startswith("(TOP ")  # what does not fit stands side by side
    assert PCFG.from_treebank(trees, root="SENTENCE").grammar.symbols[0] == "SENTENCE"


def test_trees_with_long_chains_are_told_of():
    trees = ["(S (VP (NP (NN x))))", "(S (NP (NN x)) (VP (VB y)))"]
    with pytest.warns(UserWarning, match=r"1 of 2 trees have up to 4 rules with one child .* Pass max_unary=4\."):
        assert trees[0] not in map(str, PCFG.from_treebank(trees).parse(["x"]).candidates)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert trees[0] in map(str, PCFG.from_treebank(trees, max_unary=4).parse(["x"]).candidates)


def test_labels_with_the_mark_of_ancestors_are_refused_where_these_are_remembered():
    trees = ["(C (A^B (X x) (Y y)) (Z z))"]
    assert str(PCFG.from_treebank(trees).parse(["x", "y", "z"])[0].tree) == trees[0]
    for options in ({"markov": (2, 1)}, {"split_tags": True}):
        with pytest.raises(InputError, match=r"The label 'A\^B' has a \^, which stands before ancestors"):
            PCFG.from_treebank(trees, **options)


def test_labels_that_repeat_above_a_tag_are_one():
    parser = PCFG.from_treebank(["(S (N (N a)) (V b))", "(S (S (N a)) )"], smoothing=0.0)
    assert str(parser.parse(["a", "b"])[0].tree) == "(S (N a) (V b))"


def test_sentences_of_every_kind():
    parser = PCFG.from_treebank(TREES)
    empty = parser.parse([])
    assert len(empty) == 0 and not empty.complete
    unseen = parser.parse(["the", "Flumps", "saw", "42", "re-entries"])
    assert unseen[0].tree.words() == ["the", "Flumps", "saw", "42", "re-entries"]
    odd = parser.parse([("with", "P"), ("the", "D")])
    assert not odd.complete and len(odd) == 1 and str(odd[0].tree) == "(TOP (P with) (D the))"
    long = parser.parse(["the", "cat", "saw"] * 40, 3)
    assert long[0].tree.words() == ["the", "cat", "saw"] * 40


def test_given_tags_are_kept():
    parser = PCFG.from_treebank(TREES)
    found = parser.parse([("saw", "N"), ("saw", "V")])
    assert str(found[0].tree) == "(S (NP (N saw)) (VP (V saw)))"
    unknown = parser.parse(
        [("dogs", "N"), ("sleep", "unheard")]
    )  # a word keeps its own tags where the given is unknown
    assert str(unknown[0].tree) == "(S (NP (N dogs)) (VP (V sleep)))"


def test_labels_of_constituents_are_no_tags():
    grammar = PCFG.from_treebank(["(S (NP (N cats)) (VP (V sleep)))"])
    for tags in (("NP", "VP"), ("TOP", "S"), ("N", "VP")):
        (parse,) = grammar.parse(list(zip(["cats", "sleep"], tags, strict=True)))
        assert str(parse.tree) == "(S (NP (N cats)) (VP (V sleep)))"


def test_parts_that_stand_side_by_side_are_not_below_roots_of_their_own():
    grammar = PCFG.from_treebank(["(S (NP (N cats)) (VP (V sleep)))", "(S (NP (N dogs)) (VP (V bark)))"])
    found = grammar.parse(["cats", "sleep", "dogs", "bark"])
    assert not found.complete
    cats, dogs = "(S (NP (N cats)) (VP (V sleep)))", "(S (NP (N dogs)) (VP (V bark)))"
    assert str(found[0].tree) == f"(TOP {cats} {dogs})"


def test_words_without_any_tag_stand_alone():
    grammar = Grammar.from_rules({("S", ("A", "A")): 1.0}, "S")
    lexicon = Lexicon({"A": 1, "B": 1}, {"a": {"A": 1}, "b": {"B": 1}}, {}, smoothing=0.0)
    found = PCFG(grammar, lexicon).parse(["a", "a", "b", "a"])
    assert not found.complete
    assert str(found[0].tree) == "(S (S (A a) (A a)) b (A a))"


def test_threads_and_beams():
    parser = PCFG.from_treebank(TREES, markov=(2, 1))
    sentences = [["the", "dog", "saw", "cats", "with", "dogs"], ["dogs", "sleep"]] * 5
    one = parser.parse_all(sentences, 20, n_threads=1)
    assert parser.parse_all(sentences, 20, n_threads=3) == one == parser.propose(sentences, 20)
    narrow = parser.parse_all(sentences, 20, beam=1e-9)
    assert all(parse[0].tree.words() == words for parse, words in zip(narrow, sentences, strict=True))
    wide = parser.parse_all(sentences, 20, beam=1e9)
    assert wide == one


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: PCFG.from_treebank([]), InputError, "needs at least one tree"),
        (
            lambda: PCFG.from_treebank(["(S-TOP  the (N-1 cat))"]),
            InputError,
            r"Tree 0, counted from 0, has the word 'the' without a tag above it: \(S-TOP  the \(N-1 cat\)\)",
        ),
        (lambda: PCFG.from_treebank(TREES, markov=(0, 1)), ValueError, "markov must be"),
        (lambda: PCFG.from_treebank(TREES).parse("the cat"), TypeError, r"Use text.split\(' '\)"),
        (lambda: PCFG.from_treebank(TREES).parse(["the", 3]), InputError, "Sentence 0 must contain words"),
        (lambda: PCFG.from_treebank(["(S the (N cat))", *TREES]), InputError, "Tree 0, counted from 0, has the word"),
        (
            lambda: PCFG.from_treebank([*TREES, "(-NONE- *)", "(word)"]),
            InputError,
            "Tree 6, counted from 0, is a word w",
        ),
        (lambda: PCFG.from_treebank(["(S (-NONE- *))"]), InputError, "needs at least one tree"),
        (lambda: PCFG.from_treebank(TREES[0]), TypeError, r"Trees must be a list, got the text .* Write \[tree\]"),
        (lambda: PCFG.from_treebank(TREES, markov=2), ValueError, "markov must be"),
        (lambda: PCFG.from_treebank(TREES, markov=(1.5, 2)), ValueError, "markov must be"),
        (lambda: PCFG.from_treebank(TREES, markov=(2, 1, 1)), ValueError, "markov must be"),
        (
            lambda: PCFG.from_treebank(TREES, smoothing="much"),
            ValueError,
            "smoothing must be 0 or a positive finite number",
        ),
        (lambda: PCFG.from_treebank(TREES, least=-1), ValueError, "least must be a number of observations"),
        (lambda: PCFG.from_treebank(TREES, unknown=0), ValueError, "at least 1, got 0"),
        (
            lambda: PCFG.from_treebank(TREES, smoothing=float("nan")),
            ValueError,
            "smoothing must be 0 or a positive finite number",
        ),
        (lambda: PCFG.from_treebank(TREES, max_unary=-1), ValueError, "max_unary must be an integer from 0 to 100"),
        (lambda: PCFG.from_treebank(TREES).parse_all("the cat"), TypeError, r"Use \[text.split\(' '\)\]"),
        (lambda: PCFG.from_treebank(TREES).parse_all(["the", "cat"]), TypeError, "Sentence 0 must be a list of words"),
        (lambda: PCFG.from_treebank(TREES).parse_all([["a"], None]), TypeError, "Sentence 1 must be a list of words"),
        (lambda: PCFG.from_treebank(TREES).parse(["the", ""]), InputError, "must contain words"),
        (lambda: PCFG.from_treebank(TREES).parse(["the", ("cat", "N")]), InputError, r"got \('cat', 'N'\)"),
        (lambda: PCFG.from_treebank(TREES).parse([("the", 3)]), InputError, r"got \('the', 3\)"),
        (
            lambda: PCFG.from_treebank(TREES).parse(["the"], 0),
            ValueError,
            "k must be a positive integer, at most 2,147,483,647, got 0",
        ),
        (lambda: PCFG.from_treebank(TREES).parse(["the"], -1), ValueError, "k must be a positive integer"),
        (lambda: PCFG.from_treebank(TREES).parse(["the"], 2.5), ValueError, "k must be a positive integer"),
        (lambda: PCFG.from_treebank(TREES).parse(["the"], beam=float("nan")), ValueError, "beam must be a positive"),
        (lambda: PCFG.from_treebank(TREES).parse(["the"], beam=-1), ValueError, "beam must be a positive"),
        (lambda: PCFG.from_treebank(TREES).parse(["the"], coarse="wide"), ValueError, "coarse must be a positive"),
        (lambda: PCFG.from_treebank(TREES).parse(["the"], chart_memory="much"), ValueError, "memory must be"),
        (lambda: PCFG.from_treebank(TREES).parse(["the"], n_threads=0), ValueError, "n_threads must be a positive"),
        (lambda: Grammar.from_rules({("S", ()): 1.0}, "S"), InputError, "no right side"),
        (lambda: Grammar.from_rules({("S", ("A",)): 0.0}, "S"), InputError, r"must be in \(0, 1\]"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_saved_grammars_parse_the_same(tmp_path):
    parser = PCFG.from_treebank(TREES, markov=(2, 1))
    parser.save(tmp_path / "grammar.safetensors")
    again = PCFG.load(tmp_path / "grammar.safetensors")
    sentence = ["the", "unheard", "saw", "cats", "with", "dogs"]
    assert again.parse(sentence) == parser.parse(sentence)
    assert repr(again) == repr(parser)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays, header: header.update(root=99), "root is out of range"),
        (lambda arrays, header: header["$file"].update(version=2), "version 2"),
        (lambda arrays, header: header["$file"].update(format="other"), "not one that Espalier saved"),
        (lambda arrays, header: header.update(symbols=["S"]), "each symbol needs one label"),
        (lambda arrays, header: header.pop("lexicon"), "lacks 'lexicon'"),
        (lambda arrays, header: header["lexicon"]["word_counts"].update(cat={"Z": 1}), "unknown tag"),
        (lambda arrays, header: header["lexicon"]["word_counts"].update(cat={"N": -1}), "no counts"),
        (lambda arrays, header: arrays.update(binary=arrays["binary"] + 10_000), "out of range"),
        (lambda arrays, header: arrays.update(binary=arrays["binary"][:-1]), "binary has no rules"),
        (lambda arrays, header: arrays.update(unary_weight=arrays["unary_weight"] * np.nan), "no log probability"),
        (lambda arrays, header: arrays.pop("unary"), "'unary' is missing"),
        (lambda arrays, header: header.update(n_prefixes=2**29), "n_prefixes is out of range"),
        (lambda arrays, header: arrays.update(unary_weight=arrays["unary_weight"] + 5), "no log probability"),
        (lambda arrays, header: header["lexicon"]["tag_counts"].update(N=10**400), "a count is too large"),
        (lambda arrays, header: header["lexicon"].update(parts={"N": {}}), "a tag has no parts"),
        (lambda arrays, header: header["lexicon"].update(word_parts=3), "'word_parts' has no counts"),
    ],
)
def test_damaged_files(tmp_path, change, message):
    path = tmp_path / "grammar.safetensors"
    PCFG.from_treebank(TREES).save(path)
    rewrite(path, lambda state, arrays: change(arrays, state))
    with pytest.raises(InputError, match=message):
        PCFG.load(path)


def test_the_advice_for_a_text_keeps_no_break_spaces_inside_words():
    text = "the\u00a0cat sleeps"
    for read in (
        PCFG.from_treebank(TREES).parse,
        PCFG.from_treebank(TREES).parse_all,
        Tagger.from_sentences(TREES).tag,
    ):
        with pytest.raises(TypeError, match="Use ") as caught:
            read(text)
        assert "text.split(' ')" in str(caught.value)
    assert text.split(" ") == split_words(text)
