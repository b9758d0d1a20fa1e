"""Candidates of a parser: in the order of their sentences, and never of one that has seen them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import espalier as es
from espalier import parsing
from espalier.errors import InputError
from espalier.jobs import Processes
from espalier.parsing import PCFG
from espalier.rerank import jackknifed, propose

NOUNS, VERBS = ("cats", "dogs", "birds", "fish"), ("sleep", "swim", "sing")
TREES = [f"(S (NP (N {noun})) (VP (V {verb}) (NP (N {noun}))))" for noun in NOUNS for verb in VERBS]


class Recorder:
    """A maker of parsers that keeps what each was made of."""

    def __init__(self):
        self.made, self.options, self.asked = [], [], []

    def __call__(self, trees, **options):
        self.made.append([str(tree) for tree in trees])
        self.options.append(options)
        return _Recording(self, PCFG.from_treebank(trees, **options), self.made[-1])


class _Recording:
    def __init__(self, recorder, parser, seen):
        self._recorder, self._parser, self._seen = recorder, parser, seen

    def propose(self, sentences, k, **options):
        self._recorder.asked.append((list(sentences), k, options, self._seen))
        return self._parser.propose(sentences, k, **options)


def test_each_sentence_is_parsed_by_a_parser_of_all_other_folds():
    maker = Recorder()
    groups = jackknifed(TREES, 7, folds=5, make=maker, random_state=3, beam=20.0, markov=(2, 1))
    assert [str(group.gold) for group in groups] == TREES
    assert all(group.words == group.gold.words() and 1 <= len(group) <= 7 for group in groups)
    assert maker.options == [{"markov": (2, 1)}] * 5
    assert sorted(len(sentences) for sentences, *_ in maker.asked) == [2, 2, 2, 3, 3]
    for sentences, k, options, seen in maker.asked:
        words = [es.Tree.from_brackets(tree).words() for tree in seen]
        assert k == 7 and options["beam"] == 20.0
        assert not any(sentence in words for sentence in sentences) and len(words) + len(sentences) == len(TREES)


def test_candidates_are_those_of_the_parser_that_was_made_of_the_others():
    groups = jackknifed(TREES, 5, folds=len(TREES), random_state=0)
    for row in (0, 4, 11):
        parses = PCFG.from_treebank(TREES[:row] + TREES[row + 1 :]).parse(groups[row].words, 5)
        assert list(groups[row].candidates) == parses.candidates
        assert list(groups[row].scores) == [parse.score for parse in parses]


def test_groups_of_some_rows_are_those_of_all():
    everything = jackknifed(TREES, 3, folds=4, random_state=5)
    assert jackknifed(TREES, 3, folds=4, random_state=5, rows=[7, 2, 7, -1]) == [
        everything[row] for row in (7, 2, 7, 11)
    ]
    assert jackknifed(TREES, 3, folds=4, rows=[]) == []


def test_equal_sentences_come_into_one_fold():
    other = TREES[2].replace("VP", "X")  # other trees over the same words
    repeated = [*TREES, *TREES[:6], other]
    for seed in range(5):
        maker = Recorder()
        groups = jackknifed(repeated, 1, folds=4, make=maker, random_state=seed)
        assert [str(group.gold) for group in groups] == repeated
        for sentences, _, _, seen in maker.asked:
            known = {tuple(es.Tree.from_brackets(tree).words()) for tree in seen}
            assert not known & set(map(tuple, sentences))
    with pytest.raises(
        ValueError, match=r"folds divides different sentences into parts, .* and there is one, in 5 sentences"
    ):
        jackknifed([TREES[0]] * 5, folds=2)


def test_folds_are_drawn_by_the_seed():
    def folds(seed):
        maker = Recorder()
        jackknifed(TREES, 1, folds=3, make=maker, random_state=seed)
        return maker.made

    assert folds(0) == folds(0) != folds(1)


def test_folds_deal_out_shuffled_sentences_in_turn():
    repeated = [*TREES, *TREES[:3]]
    maker = Recorder()
    jackknifed(repeated, 1, folds=5, make=maker, random_state=7)
    order = np.random.default_rng(7).permutation(len(TREES)).tolist()
    for fold, seen in enumerate(maker.made):
        held_out = {TREES[row] for row in order[fold::5]}
        assert seen == [tree for tree in repeated if tree not in held_out]


def test_proposals_keep_order_and_gold_where_there_is_one():
    parser = PCFG.from_treebank(TREES)
    gold = "(ROOT (S (NP-SBJ (N cats)) (VP (V sleep) (NP (-NONE- *)) (NP (N fish)))))"
    groups = propose(parser, [["dogs", "sing", "cats"], gold, (("fish", "N"), ("swim", "V"), ("cats", "N"))], 3)
    assert [group.words for group in groups] == [
        ["dogs", "sing", "cats"],
        ["cats", "sleep", "fish"],
        ["fish", "swim", "cats"],
    ]
    assert [group.gold is None for group in groups] == [True, False, True]
    # Gold trees are as plain as parses, so that they can be found among them.
    assert groups[1].gold == groups[1].candidates[0]
    assert propose(parser, []) == []


def test_a_tagger_proposes_too():
    class Tagger:
        def propose(self, sentences, k, *, beam, n_threads, progress):
            tagged = [es.TaggedSequence(words, ["X"] * len(words)) for words in sentences]
            return [
                [(sequence, -1.0), (es.TaggedSequence(sequence.words, sequence.words), -2.0)] for sequence in tagged
            ]

    gold = [es.TaggedSequence([word], ["N"]) for word in NOUNS]
    groups = jackknifed(gold, folds=2, make=lambda sentences: Tagger())
    assert [group.gold for group in groups] == gold
    assert [group.candidates[1].tags for group in groups] == [(word,) for word in NOUNS]
    assert groups[0].scores == (-1.0, -2.0)


def test_progress_grows_to_one_over_all_folds():
    seen = []
    jackknifed(TREES, 2, folds=4, progress=seen.append)
    assert seen[-1].fraction == 1.0 and np.all(np.diff(list(map(float, seen))) >= 0)
    assert {progress.what for progress in seen} == {"candidates"}


def test_folds_can_be_parsed_by_other_processes():
    seen = []
    with Processes(2) as processes:
        elsewhere = jackknifed(TREES, 3, folds=4, executor=processes, progress=seen.append, markov=(2, 1))
    assert elsewhere == jackknifed(TREES, 3, folds=4, markov=(2, 1))
    assert [progress.fraction for progress in seen] == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("folds", [0, 1, 13, 2.0, True])
def test_folds_that_cannot_be_are_refused(folds):
    with pytest.raises(
        ValueError, match=r"folds must be an integer from 2 to the number of different sentences, 12, got"
    ):
        jackknifed(TREES, folds=folds)


def test_what_has_no_words_is_named():
    parser = PCFG.from_treebank(TREES)
    with pytest.raises(InputError, match=r"No candidates for sentence 1\. A sentence needs at least one word"):
        propose(parser, [["cats"], []])
    with pytest.raises(InputError, match=r"No candidates for sentence 1\. A sentence needs at least one word"):
        propose(parsing.Tagger.from_sentences([es.TaggedSequence(["a"], ["A"])]), [["a"], []])
    with pytest.raises(TypeError, match=r"sentences must be a list, got a single sentence, '\(S \(N cats\)\)'"):
        propose(parser, "(S (N cats))")
    with pytest.raises(InputError, match=r"Tree 2, counted from 0, has no words except traces: \(S \(-NONE- \*\)\)"):
        jackknifed([*TREES[:2], "(S (-NONE- *))"], folds=2)


def test_a_word_without_a_tag_is_named_by_its_tree_in_the_whole_list():
    trees = ["(S (A a) (B b))", "(S (A c) dogs)", "(S (A d) (B b))"]
    with pytest.raises(InputError, match=r"Tree 1, counted from 0, has .*\(S \(A c\) dogs\)") as caught:
        jackknifed(trees, folds=2)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("row", [12, -13, "a", 1.0, True])
def test_rows_are_numbers_of_trees(row):
    with pytest.raises(ValueError, match="rows must be numbers of trees, 0 to 11, got"):
        jackknifed(TREES, folds=2, rows=[0, row])


def test_what_cannot_propose_is_refused():
    with pytest.raises(TypeError, match="parser must be a PCFG, a Tagger or an object with a method propose, got 'x'"):
        propose("x", [["cats"]])
    tagger = parsing.Tagger.from_sentences([es.TaggedSequence(["cats"], ["N"])])
    with pytest.raises(ValueError, match="it has no beam"):
        propose(tagger, [["cats"]], beam=3.0)
