"""Several taggings of a sentence: parsed together, jackknifed, proposed; and the scores of relations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from espalier import DependencyTree, TaggedSequence
from espalier.errors import InputError
from espalier.parsing import DependencyParser, PerceptronTagger, Tagged, jackknifed_taggings, jackknifed_tags
from espalier.rerank import jackknifed, propose

TAGS = {"the": "D", "dog": "N", "saw": "V", "with": "P", "old": "A", "run": "N"}


def tree(rng, n_words):
    """A projective tree: each word hangs on a neighbour, and the relation follows the tag of the word."""
    words = rng.choice(list(TAGS), size=n_words).tolist()
    root = int(rng.integers(n_words))
    heads = [0 if k == root else k + 2 if k < root else k for k in range(n_words)]
    return DependencyTree(words, [TAGS[word] for word in words], heads, [f"r{TAGS[word]}" for word in words])


def treebank(seed, n=40):
    rng = np.random.default_rng(seed)
    return [tree(rng, int(rng.integers(1, 6))) for _ in range(n)]


TRAIN, NEW = treebank(0), treebank(1, 12)


@pytest.fixture(scope="module")
def parser():
    return DependencyParser.from_treebank(TRAIN, epochs=2, bits=14)


def taggings(own, rng, n=3):
    """A sentence as a tagger would return it: its own tags first, then others."""
    found = [Tagged(own.tagged(), 5.0)]
    for k in range(1, n):
        tags = list(own.tags)
        tags[int(rng.integers(len(tags)))] = str(rng.choice(list("DNVPA")))
        found.append(Tagged(TaggedSequence(own.words, tags), 5.0 - k))
    return found


@pytest.mark.parametrize("tag_weight", [0.0, 0.5, 10.0])
def test_the_best_trees_of_all_taggings_remain(parser, tag_weight):
    rng = np.random.default_rng(0)
    given = [taggings(own, rng) for own in NEW]
    for k in (1, 4, 50):
        for found, own in zip(parser.parse_all(given, k, tag_weight=tag_weight), given, strict=True):
            pool = []
            for tagging, score in own:
                alone = parser.parse(tagging, k)
                for (one, value), label in zip(alone, alone.more_scores["labels"], strict=True):
                    pool.append((value + tag_weight * (score - 5.0), one, label, score - 5.0))
            best = {}
            for entry in sorted(pool, key=lambda entry: -entry[0]):
                best.setdefault(entry[1].heads, entry)
            expected = list(best.values())[:k]
            assert found.scores == [entry[0] for entry in expected]
            assert found.candidates == [entry[1] for entry in expected]  # each with its tags
            assert found.more_scores["labels"] == tuple(entry[2] for entry in expected)
            assert found.more_scores["tags"] == tuple(entry[3] for entry in expected)


def test_one_tagging_of_several_is_like_a_tagged_sentence_but_for_its_score(parser):
    found = parser.parse_all([[Tagged(own.tagged(), -3.0)] for own in NEW], 3)
    plain = parser.parse_all(NEW, 3)
    assert [own.best for own in found] == [own.best for own in plain]
    assert all(set(own.more_scores["tags"]) == {0.0} for own in found)
    assert all(list(own.more_scores) == ["labels"] for own in plain)


def test_scores_are_relative_to_the_best_tagging(parser):
    own = taggings(NEW[0], np.random.default_rng(0))
    one, other = (parser.parse_all([listed], 5)[0] for listed in (own, own[::-1]))
    assert max(other.more_scores["tags"]) == 0.0
    assert dict(zip(one.candidates, one.scores, strict=True)) == dict(zip(other.candidates, other.scores, strict=True))


def test_bad_taggings(parser):
    one, other = NEW[0].tagged(), TaggedSequence(["x"], ["N"])
    with pytest.raises(InputError, match="The taggings of sentence 0 have different words"):
        parser.parse_all([[(one, 1.0), (other, 0.0)]])
    with pytest.raises(ValueError, match="The score of a tagging must be a finite number, got nan"):
        parser.parse_all([[(one, float("nan"))]])
    with pytest.raises(TypeError, match="must be pairs of a TaggedSequence and its score, got TaggedSequence"):
        parser.parse_all([[(one, 1.0), one]])
    with pytest.raises(ValueError, match="tag_weight must be 0 or a positive finite number, got -1"):
        parser.parse_all([one], tag_weight=-1)


def test_relations_have_scores(parser):
    found = parser.parse_all(NEW, 5)
    for own in found:
        trees = [parse.tree for parse in own]
        assert parser.label_scores(trees) == list(own.more_scores["labels"])
        assert all(score <= 0.0 for score in own.more_scores["labels"])
    gold, wrong = 0.0, 0.0
    for own in NEW:
        if len(own) > 2:
            other = replace(own, heads=[0, *[1] * (len(own) - 1)])
            gold, wrong = gold + parser.label_scores([own])[0], wrong + parser.label_scores([other])[0]
    assert wrong < gold < 0.0
    assert parser.label_scores([]) == []
    assert parser.label_scores(NEW, n_threads=2) == parser.label_scores(NEW, n_threads=1)


def test_taggings_come_from_taggers_that_have_not_seen_the_sentence():
    options = {"folds": 4, "epochs": 2, "documents": [row // 5 for row in range(len(TRAIN))]}
    found = jackknifed_taggings(TRAIN, 3, **options)
    first = jackknifed_tags(TRAIN, **options)
    assert [own[0].sequence.tags for own in found] == [own.tags for own in first]
    assert max(map(len, found)) == 3
    everyone = PerceptronTagger.from_sentences(TRAIN, epochs=2)
    assert any(
        own.best != seen.best for own, seen in zip(found, everyone.tag_all([t.words for t in TRAIN], 3), strict=True)
    )
    with pytest.raises(ValueError, match="k must be"):
        jackknifed_taggings(TRAIN, 0)


def test_candidates_of_several_taggings(parser, tmp_path):
    rng = np.random.default_rng(1)
    given = [taggings(own, rng) for own in NEW]
    groups = propose(parser, NEW, 4, taggings=given)
    found = parser.parse_all(given, 4)
    assert [list(group.candidates) for group in groups] == [own.candidates for own in found]
    assert [group.more_scores for group in groups] == [own.more_scores for own in found]
    assert [group.gold.heads for group in groups] == [own.heads for own in NEW]
    assert [group.gold.tags for group in groups] == [own[0].sequence.tags for own in given]
    for weight in (0.0, 7.0):
        weighed = propose(parser, NEW, 4, taggings=given, tag_weight=weight)
        found = parser.parse_all(given, 4, tag_weight=weight)
        assert [list(group.scores) for group in weighed] == [own.scores for own in found]
        assert weighed != groups
    with pytest.raises(ValueError, match="tag_weight weighs the scores of taggings: give taggings, too"):
        propose(parser, NEW, tag_weight=1.0)
    with pytest.raises(ValueError, match="tag_weight must be 0 or a positive finite number, got nan"):
        propose(parser, NEW, taggings=given, tag_weight=float("nan"))
    pairs = [list(zip(own.words, own.tags, strict=True)) for own in NEW]
    assert propose(parser, pairs, 4, taggings=iter(given))[0].candidates == groups[0].candidates
    with pytest.raises(InputError, match="Sentence 0 needs at least one tagging"):
        propose(parser, NEW, taggings=[[], *given[1:]])
    with pytest.raises(TypeError, match="A DependencyParser takes taggings, and"):
        propose(PerceptronTagger.from_sentences(TRAIN, epochs=1), NEW, taggings=given)
    with pytest.raises(InputError, match="There are 12 sentences, but taggings of 11"):
        propose(parser, NEW, taggings=given[1:])
    with pytest.raises(InputError, match="The taggings of sentence 0 must have its words"):
        propose(parser, NEW, taggings=[[(TaggedSequence(["x"], ["N"]), 0.0)], *given[1:]])


def test_jackknifed_lists_of_several_taggings(tmp_path):
    rng = np.random.default_rng(2)
    given = [taggings(own, rng) for own in TRAIN]
    mistagged = [[(replace(own[0][0], tags=["X"] * len(own[0][0])), 6.0), *own] for own in given]
    options = {"folds": 2, "make": DependencyParser.from_treebank, "epochs": 1, "bits": 12}
    groups = jackknifed(TRAIN, 3, taggings=given, folder=tmp_path / "parts", **options)
    assert jackknifed(TRAIN, 3, taggings=given, folder=tmp_path / "parts", **options) == groups
    with pytest.raises(InputError, match="taggings"):
        jackknifed(TRAIN, 3, taggings=mistagged, folder=tmp_path / "parts", **options)
    assert [group.gold.tags for group in jackknifed(TRAIN, 3, taggings=mistagged, **options)] == [
        own[0][0].tags for own in mistagged
    ]
    heavy = jackknifed(TRAIN, 3, taggings=given, tag_weight=9.0, folder=tmp_path / "heavy", **options)
    assert heavy != groups
    assert jackknifed(TRAIN, 3, taggings=given, tag_weight=0.5, **options) == groups
    with pytest.raises(InputError, match=r"tag_weight is '9\.0' there and missing here"):
        jackknifed(TRAIN, 3, taggings=given, folder=tmp_path / "heavy", **options)
    with_gold = jackknifed(TRAIN, 1, taggings=given, add_gold=True, **options)
    added = [group for group in with_gold if len(group) == 2]
    assert added and all(group.candidates[1].heads == group.gold.heads for group in added)
    for group in added:
        assert group.candidates[1].tags == group.gold.tags and group.more_scores["tags"][1] == 0.0
        assert group.more_scores["labels"][1] < 0.0
