"""The demo's questions: drawn as stated, and of no use to whoever looks only at words."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from espalier.demo import BEST_SCORE, BLOCK, CHANCE, CLASSES, asked_for, generate
from espalier.demo.answers import nearest_by_words, vote
from espalier.demo.grammar import ADJECTIVES, MODALS, NOUNS, VERBS, make_question, spell
from espalier.structures.table import Table
from espalier.structures.tree import Tree


@pytest.fixture(scope="module")
def table() -> Table:
    return generate(2_000, seed=3)


def test_the_same_seed_gives_the_same_table():
    first, again, other = generate(100, seed=1), generate(100, seed=1), generate(100, seed=2)
    for column in ("question", "tree", "label"):
        assert first[column] == again[column]
    assert first["question"] != other["question"]


def test_a_longer_table_starts_with_the_shorter_one():
    assert generate(60, seed=1)["question"] == generate(100, seed=1)["question"][:60]


def test_every_block_asks_for_each_class_five_times_and_has_one_wrong_label(table):
    for start in range(0, len(table), BLOCK):
        asked = [asked_for(tree) for tree in table["tree"][start : start + BLOCK]]
        labels = table["label"][start : start + BLOCK]
        assert Counter(asked) == dict.fromkeys(CLASSES, BLOCK // 4)
        assert sum(a != b for a, b in zip(asked, labels, strict=True)) == 1


def test_whoever_reads_the_structure_scores_exactly_the_best_score(table):
    right = [asked_for(tree) == label for tree, label in zip(table["tree"], table["label"], strict=True)]
    assert np.mean(right) == BEST_SCORE == 0.95
    assert np.mean(right[400:1000]) == BEST_SCORE


def test_wrong_labels_say_nothing_about_the_class_they_hide():
    table = generate(6_000, seed=5)
    asked = map(asked_for, table["tree"])
    wrong = Counter(pair for pair in zip(asked, table["label"], strict=True) if pair[0] != pair[1])
    assert len(wrong) == 12
    assert sum(wrong.values()) == 300
    assert all(10 <= n <= 45 for n in wrong.values())  # 25 each, within about three standard deviations


@pytest.mark.parametrize("asked", CLASSES)
def test_the_oracle_reads_what_the_grammar_asked(asked):
    rng = random.Random(0)
    assert all(asked_for(make_question(asked, rng)) == asked for _ in range(500))


@pytest.mark.parametrize("asked", CLASSES)
def test_every_question_is_made_of_the_same_kinds_of_words(asked):
    rng = random.Random(1)
    for _ in range(300):
        words = Counter(make_question(asked, rng).words())
        assert [words[word] for word in ("who", "where", "when", "?")] == [1, 1, 1, 1]
        assert sum(words[noun] for noun in NOUNS) == words["the"] == 5
        assert sum(words[modal] for modal in MODALS) == 3
        participles = sum(words[participle] for participle in VERBS.values())
        assert sum(words[verb] for verb in VERBS) + participles == 3
        assert words["be"] == words["by"] == participles


def test_words_are_equally_frequent_in_every_class():
    n = 3_000
    rng = random.Random(2)
    means = {}
    for asked in CLASSES:
        counts = Counter(word for _ in range(n) for word in make_question(asked, rng).words())
        means[asked] = {word: counts[word] / n for word in counts}
    words = set().union(*means.values())
    assert words == {
        *NOUNS, *ADJECTIVES, *MODALS, *VERBS, *VERBS.values(),
        "the", "be", "by", "who", "where", "when", ",", "?",
    }  # fmt: skip
    for word in words:
        values = [means[asked][word] for asked in CLASSES]
        # Five standard deviations of a difference of two means; no word varies more than the passive's.
        assert max(values) - min(values) < 5 * np.sqrt(2 * 0.9 / n)


def test_pairs_of_words_are_equally_frequent_in_every_class():
    n = 3_000
    rng = random.Random(4)
    shares = {
        asked: np.mean([{"be", ","} <= set(make_question(asked, rng).words()) for _ in range(n)]) for asked in CLASSES
    }
    assert max(shares.values()) - min(shares.values()) < 5 * np.sqrt(2 * 0.25 / n)


def test_nearest_neighbours_by_words_are_as_good_as_guessing(table):
    queries, corpus = table[:600], table[600:]
    for k in (1, 9):
        answers = vote(nearest_by_words(corpus["tree"], queries["tree"], k), corpus["label"])
        right = np.mean([a == b for a, b in zip(answers, queries["label"], strict=True)])
        assert abs(right - CHANCE) < 5 * np.sqrt(0.25 * 0.75 / 600)


def test_the_same_words_ask_for_agent_and_for_patient():
    template = "(SBARQ (WHNP (WP who)) (SQ (MD will) {}) (. ?))"
    baker = "(NP (DT the) (NN baker))"
    agent = Tree.from_brackets(template.format(f"(VP (VB meet) {baker})"))
    patient = Tree.from_brackets(template.format(f"{baker} (VP (VB meet))"))
    passive = Tree.from_brackets(template.format(f"(VP (VB be) (VP (VBN met) (PP (IN by) {baker})))"))
    by_whom = Tree.from_brackets(template.format(f"{baker} (VP (VB be) (VP (VBN met) (PP (IN by))))"))
    assert [asked_for(tree) for tree in (agent, patient, passive, by_whom)] == [
        "agent", "patient", "patient", "agent",
    ]  # fmt: skip
    assert sorted(agent.words()) == sorted(patient.words())
    assert sorted(passive.words()) == sorted(by_whom.words())


def test_questions_are_spelled_like_english(table):
    for question, tree in zip(table["question"], table["tree"], strict=True):
        assert question == spell(tree)
        assert question[0].isupper()
        assert question.endswith("?")
        assert " ," not in question
    assert len(set(table["question"])) == len(table)


def test_a_cut_block_and_no_question_are_fine():
    assert len(generate(7)) == 7
    assert len(generate(0)) == 0


@pytest.mark.parametrize(("n", "error"), [(-1, ValueError), (1.5, TypeError), (True, TypeError), ("9", TypeError)])
def test_a_number_of_questions_that_is_none_is_an_error(n, error):
    with pytest.raises(error, match=r"n must be"):
        generate(n)
