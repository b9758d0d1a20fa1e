"""The k best trees against a list of all, scores of any tree, files, threads, memory, and sentences of every kind."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
from tests.reference.dependencies import best_trees
from tests.saved_files import rewrite

import espalier as es
from espalier import DependencyTree, TaggedSequence
from espalier.errors import InputError
from espalier.parsing import DependencyParser
from espalier.parsing.projective import crossing
from espalier.structures.conllu import read_conllu

TAGS = {"the": "D", "a": "D", "dog": "N", "cat": "N", "saw": "V", "slept": "V", "with": "P", "old": "A", "!": "Z"}


def random_tree(rng, n_words):
    """Any tree over random words; arcs may cross."""
    words = rng.choice(list(TAGS), size=n_words).tolist()
    order = rng.permutation(n_words).tolist()
    heads = [0] * n_words
    for place, word in enumerate(order):
        heads[word] = order[int(rng.integers(0, place))] + 1 if place else 0
    return DependencyTree(words, [TAGS[word] for word in words], heads, [f"r{TAGS[word]}" for word in words])


def treebank(seed, n=60, longest=6):
    rng = np.random.default_rng(seed)
    return [random_tree(rng, int(rng.integers(1, longest + 1))) for _ in range(n)]


@pytest.fixture(scope="module")
def parser():
    return DependencyParser.from_treebank(treebank(0), epochs=3, bits=16)


@pytest.mark.parametrize("learning", ["softmax", "mira"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_best_trees_are_the_best_of_all(order, learning):
    flat = [tree for tree in treebank(order) if not crossing(tree.heads)]
    options = {"epochs": 2, "heads": 100, "ratio": 0.0, "bits": 16}
    parser = DependencyParser.from_treebank(flat, order=order, learning=learning, **options)
    rng = np.random.default_rng(order)
    for n_words in range(1, 6):
        tree = random_tree(rng, n_words)

        def score(heads, tree=tree):
            return parser.score(DependencyTree(tree.words, tree.tags, heads, tree.relations))

        expected = best_trees(n_words, score)
        for k in (1, 5, 10_000):
            found = parser.parse(tree, k)
            assert found.scores == [own for own, _ in expected[:k]]  # exactly: weights are multiples of 2 ** -14
            assert len({own.heads for own in found.candidates}) == len(found)
            assert all(parser.score(own) == value for own, value in found)


def test_several_roots_are_learned_and_allowed():
    trees = [
        DependencyTree(["a", "dog", "!"], ["D", "N", "Z"], [2, 0, 0], ["det", "root", "root"]),
        DependencyTree(["the", "cat", "!"], ["D", "N", "Z"], [2, 0, 0], ["det", "root", "root"]),
    ]
    parser = DependencyParser.from_treebank(trees, bits=12)
    assert parser.several_roots
    assert parser.parse([("a", "D"), ("cat", "N"), ("!", "Z")])[0].tree.heads == (2, 0, 0)


def test_without_several_roots_in_the_treebank_every_parse_has_one(parser):
    rng = np.random.default_rng(8)
    for _ in range(20):
        for tree in parser.parse(random_tree(rng, 6), 10).candidates:
            assert len(tree.roots) == 1


def test_parses_have_the_crossing_arcs_of_the_treebank():
    words, tags = ["a", "b", "c", "d"], ["W", "X", "Y", "Z"]
    tree = DependencyTree(words, tags, [3, 4, 0, 3], ["p", "q", "root", "s"])
    parser = DependencyParser.from_treebank([tree] * 10, bits=12)
    assert parser.parse(tree)[0].tree == tree
    assert parser.score(tree) == parser.parse(tree)[0].score


def test_signs_of_lifting_are_kept_where_nothing_is_lifted():
    tree = DependencyTree(["a", "b", "c"], ["X", "Y", "Z"], [2, 0, 2], ["d↑", "root", "d↓"])
    parser = DependencyParser.from_treebank([tree] * 3, bits=12)
    assert parser.parse(tree)[0].tree == tree
    crossed = DependencyTree(["a", "b", "c", "d"], ["W", "X", "Y", "Z"], [3, 4, 0, 3], ["p", "q", "root", "s"])
    with pytest.raises(InputError, match="'d↑' of word 1 has one of the signs"):
        DependencyParser.from_treebank([crossed, tree], bits=12)
    DependencyParser.from_treebank([crossed, tree], bits=12, pseudo_projective=False)


def test_without_pseudo_projective_parsing_no_arcs_cross():
    parser = DependencyParser.from_treebank(treebank(2), epochs=2, bits=12, pseudo_projective=False)
    assert not any(crossing(parser.parse(tree)[0].tree.heads) for tree in treebank(2))
    assert not any("↑" in relation or "↓" in relation for relation in parser.relations)


def test_parses_use_the_heads_that_are_kept(parser):
    rng = np.random.default_rng(9)
    trees = [random_tree(rng, int(rng.integers(0, 12)) + 1) for _ in range(20)]
    flat = DependencyParser.from_treebank(treebank(0), epochs=1, bits=12, heads=2, pseudo_projective=False)
    for tree, kept in zip(trees, flat.kept_heads(trees), strict=True):
        assert len(kept) == len(tree)
        assert all(1 <= len(heads) <= 3 for heads in kept)  # the word before is always among them
        assert all(word - 1 in heads for word, heads in enumerate(kept, 1))
        for candidate in flat.parse(tree, 10).candidates:
            assert all(head in heads for head, heads in zip(candidate.heads, kept, strict=True))


@pytest.mark.parametrize("options", [{}, {"learning": "mira"}, {"learning": "mira", "rivals": 5}])
def test_a_parser_learns_its_treebank(options):
    rng = np.random.default_rng(4)
    trees = []
    for _ in range(80):
        pairs = []
        heads: list[int] = []
        for _ in range(int(rng.integers(1, 4))):  # a determiner hangs below the noun behind it, nouns below the verb
            pairs += [(str(rng.choice(["the", "a"])), "D"), (str(rng.choice(["dog", "cat"])), "N")]
            heads += [len(pairs), -1]
        pairs.append(("slept", "V"))
        heads = [len(pairs) if head < 0 else head for head in heads] + [0]
        relations = [{"D": "det", "N": "nsubj", "V": "root"}[tag] for _, tag in pairs]
        trees.append(DependencyTree(*zip(*pairs, strict=True), heads, relations))
    parser = DependencyParser.from_treebank(trees[:60], bits=14, **options)
    for tree in trees[60:]:
        assert parser.parse(tree)[0].tree == tree


@pytest.mark.parametrize("k", [1, 4])
def test_threads_change_nothing(parser, k):
    rng = np.random.default_rng(3)
    sentences = [random_tree(rng, int(rng.integers(1, 15))) for _ in range(40)]
    one = parser.parse_all(sentences, k, n_threads=1)
    assert parser.parse_all(sentences, k, n_threads=3) == one
    assert [parser.parse(sentence, k) for sentence in sentences] == one


def test_the_same_seed_gives_the_same_parser_and_another_seed_another():
    one, same, other = (
        DependencyParser.from_treebank(treebank(5, 30), epochs=2, bits=12, random_state=seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(one.weights, same.weights)
    assert not np.array_equal(one.weights, other.weights)


def test_parses_are_like_themselves():
    flat = [tree for tree in treebank(0) if not crossing(tree.heads)]
    parser = DependencyParser.from_treebank(flat, epochs=3, bits=16)
    for tree in treebank(1, 20):
        parses = parser.parse(tree, 5)
        assert parser.as_parses(parses.candidates) == list(parses)
        assert parser.as_parses(parses.candidates, n_threads=2) == list(parses)
    assert parser.as_parses([]) == []


def test_a_gold_tree_gets_the_score_and_the_relations_of_the_parser(parser):
    for tree in treebank(1, 20):
        strange = dataclasses.replace(tree, relations=["strange"] * len(tree))
        (found,) = parser.as_parses([strange])
        assert found.score == parser.score(tree) and found.tree.heads == tree.heads
        assert (found.tree.words, found.tree.tags) == (tree.words, tree.tags)
        # All relations of the treebank follow from the tag.
        assert found.tree.relations == tuple(f"r{tag}" for tag in tree.tags)


@pytest.mark.parametrize("restored", [True, False])
def test_crossing_arcs_of_a_gold_tree_are_kept_without_marks(restored):
    trees = [tree for tree in treebank(0) if crossing(tree.heads)]
    parser = DependencyParser.from_treebank(trees, epochs=3, bits=16, pseudo_projective=restored)
    assert parser.restores == restored
    for tree, found in zip(trees, parser.as_parses(trees), strict=True):
        assert found.tree.heads == tree.heads and crossing(found.tree.heads)
        assert found.score == parser.score(tree)
        assert found.tree.relations == tuple(f"r{tag}" for tag in tree.tags)


def test_files_and_pickles_parse_as_before(parser, tmp_path):
    parser.save(tmp_path / "parser.espalier")
    rng = np.random.default_rng(6)
    sentences = [random_tree(rng, 8) for _ in range(10)]
    expected = parser.parse_all(sentences, 5)
    for again in (es.load(tmp_path / "parser.espalier"), pickle.loads(pickle.dumps(parser))):
        assert again.parse_all(sentences, 5) == expected
        assert (
            again.trained_on()
            == parser.trained_on()
            == {
                "rows": 60,
                "items": "dependency trees",
                "words": sum(map(len, treebank(0))),
            }
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"order": 4}, "order is out of range"),
        ({"heads": 0}, "heads is out of range"),
        ({"relations": ["a", "a"]}, "relations are not all different"),
        ({"relations": ["only"]}, "a class is out of range"),
        ({"several_roots": 1}, "must be true or false"),
    ],
)
def test_damaged_files_are_refused(parser, tmp_path, change, message):
    path = tmp_path / "parser.espalier"
    parser.save(path)
    rewrite(path, lambda state, arrays: state.update(change))
    with pytest.raises(InputError, match=message):
        es.load(path)


def test_little_memory_narrows_alike_for_any_number_of_threads(parser):
    rng = np.random.default_rng(2)
    sentences = [random_tree(rng, 40) for _ in range(6)]
    one = parser.parse_all(sentences, 2, chart_memory=60_000, n_threads=1)
    assert any(own.narrowed for own in one)
    assert parser.parse_all(sentences, 2, chart_memory=60_000, n_threads=3) == one


def test_little_memory_keeps_fewer_heads_and_says_so(parser):
    rng = np.random.default_rng(7)
    sentence = random_tree(rng, 60)
    whole, narrow = parser.parse(sentence), parser.parse(sentence, chart_memory=100_000)
    assert not whole.narrowed
    assert narrow.narrowed
    assert len(narrow[0].tree.roots) == 1
    assert narrow[0].score <= whole[0].score


def test_sentences_of_every_kind(parser):
    pairs = [("the", "D"), ("dog", "N")]
    sequence = TaggedSequence(["the", "dog"], ["D", "N"])
    assert parser.parse(pairs) == parser.parse(sequence)
    assert len(parser.parse([("dog", "N")])) == 1
    assert parser.parse([("dog", "N")])[0].tree.heads == (0,)
    assert len(parser.parse([])) == 0
    unknown = parser.parse([("xylophone", "Q"), ("ß", "?")])
    assert len(unknown[0].tree.roots) == 1
    assert parser.parse_all([]) == []
    long = parser.parse([("!", "Z")] * 300)
    assert len(long[0].tree) == 300


def test_sentences_without_tags_are_refused(parser):
    with pytest.raises(InputError, match=r"Sentence 0 has words without tags.*tagger\.tag"):
        parser.parse(["the", "dog"])
    with pytest.raises(TypeError, match="must be a list of words"):
        parser.parse("the dog")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 4}, "order"),
        ({"epochs": 0}, "epochs"),
        ({"heads": 0}, "heads"),
        ({"step": 0.0}, "step"),
        ({"margin": -1.0}, "margin"),
        ({"rivals": 0}, "rivals"),
        ({"learning": "svm"}, "learning must be 'softmax' or 'mira'"),
        ({"ratio": 1.5}, "ratio must be at most 1, a share of the probability of the best head, got 1.5"),
        ({"ratio": -1.0}, "ratio"),
        ({"bits": 40}, "bits"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_impossible_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        DependencyParser.from_treebank(treebank(0, 3), **options)


def test_what_is_no_treebank_is_refused():
    with pytest.raises(InputError, match="at least one tree"):
        DependencyParser.from_treebank([])
    with pytest.raises(TypeError, match="Tree 0 must be a DependencyTree"):
        DependencyParser.from_treebank(["(S (N dogs))"])


def test_progress_goes_from_nothing_to_all(parser):
    seen = []
    DependencyParser.from_treebank(treebank(0, 200), epochs=2, bits=12, progress=seen.append)
    fractions = [float(one) for one in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert {one.what for one in seen} == {"learning to parse"}


def test_real_sentences(data):
    trees = read_conllu(data / "ewt_ud" / "en_ewt-ud-train.conllu.gz", tags="joint")[:1500]
    dev = read_conllu(data / "ewt_ud" / "en_ewt-ud-dev.conllu.gz", tags="joint")[:300]
    parser = DependencyParser.from_treebank(trees, epochs=4, bits=18)
    found = parser.parse_all(dev, 10)
    words = [
        (g, f) for tree, own in zip(dev, found, strict=True) for g, f in zip(tree.heads, own[0].tree.heads, strict=True)
    ]
    assert sum(g == f for g, f in words) / len(words) > 0.78
    labelled = [
        (g, f)
        for tree, own in zip(dev, found, strict=True)
        for g, f in zip(
            zip(tree.heads, tree.relations, strict=True),
            zip(own[0].tree.heads, own[0].tree.relations, strict=True),
            strict=True,
        )
    ]
    assert sum(g == f for g, f in labelled) / len(labelled) > 0.72
