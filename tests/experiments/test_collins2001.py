"""The paper's experiments run in a tiny version, choose on development data, and read their data whole."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from typer.testing import CliRunner

from espalier.cli.main import app
from espalier.kernels import SubsetTree
from espalier.parsing import PCFG, evaluate, oracle
from espalier.rerank import VotedPerceptron
from espalier.rerank.chooser import spread
from espalier.rerank.combination import is_compressible as is_compressed
from espalier.structures.group import Group
from espalier.structures.tree import Tree
from espalier_experiments import collins2001
from espalier_experiments.collins2001 import beyond, corpora, cost, questions, questions_page, tagging, treebanks
from espalier_experiments.collins2001.candidates import N_KNOWN, Judged, Lists, best_grammar, make_lists
from espalier_experiments.collins2001.learning import add_test, best_trial, best_weight, choose, trial
from espalier_experiments.collins2001.tables import counted, mean
from espalier_experiments.papers import Setup
from espalier_experiments.store import Store


@pytest.fixture(scope="module")
def lists(data):
    """The candidates of a few questions."""
    trees, _ = corpora.question_trees(data)
    return make_lists(corpora.shuffled(trees, 1, (80, 30, 30)), k=15, seed=1)


def test_questions_that_no_grammar_can_be_read_off_are_counted(data):
    trees, n_left_out = corpora.question_trees(data)
    assert (len(trees), n_left_out) == (3989, 11)
    assert all(corpora.is_tagged(tree) for tree in trees)
    parts = corpora.shuffled(trees, 0, questions.SIZES["large"])
    assert [len(part) for part in parts] == [2400, 400, 1189]
    assert len({id(tree) for part in parts for tree in part}) <= 3989


def test_sentences_that_come_back_are_counted(data):
    trees, _ = corpora.question_trees(data)
    seen = Counter(tuple(tree.words()) for tree in trees)
    assert sum(count for count in seen.values() if count > 1) == questions_page.N_REPEATED
    marked = [any(node.is_preterminal and node.label == "?" for node in tree) for tree in trees]
    assert sum(marked) == questions_page.N_MARKS
    for size, most in (("small", 2), ("large", 5)):
        in_both = []
        for split in range(max(questions.SPLITS.values())):
            train, _, test = corpora.shuffled(trees, split, questions.SIZES[size])
            known = {tuple(tree.words()) for tree in train}
            in_both.append(sum(tuple(tree.words()) in known for tree in test))
        assert max(in_both) == most
    train, test = (corpora.tagged_sentences(data, "ewt_ud", part, "upos") for part in ("train", "test"))
    known = {tuple(sentence.words) for sentence in train}
    assert len(train) - len(known) == tagging.N_REPEATED
    assert sum(tuple(sentence.words) in known for sentence in test) == tagging.N_IN_TEST


def test_nodes_without_labels_and_words_without_tags_are_seen():
    assert corpora.is_tagged(Tree.from_brackets("(S (N cats) (VP (V sleep)))"))
    for text in ("(S ( (N cats)))", "(S cats (V sleep))", "(S (N cats) (VP (V sleep) now))"):
        assert not corpora.is_tagged(Tree.from_brackets(text))


def test_treebanks_are_read_whole(data):
    assert len(corpora.newspaper_trees(data)) == 3914
    assert max(len(tree.words()) for tree in corpora.up_to(corpora.web_trees(data, "dev"), 40)) == 40


def test_candidates_are_judged_as_parses_are(lists):
    part = lists.test
    golds = [group.gold for group in part.groups]
    first = evaluate(golds, [group.candidates[0] for group in part.groups])
    _, best = oracle(golds, [group.candidates for group in part.groups])
    for own, other in ((part.first, first), (part.oracle, best)):
        assert own.score == pytest.approx(other.score) and own.f1 == pytest.approx(other.f1)
        assert own.exact_match == other.exact_match
    assert part.measured(part.first)["improvement"] == 0.0


def test_the_weight_of_the_score_is_the_one_that_fit_would_choose(lists):
    options = {"sample": 5, "random_state": 0}
    own = VotedPerceptron(SubsetTree(0.5), **options).fit(lists.train, development=lists.development.groups)
    bare = VotedPerceptron(SubsetTree(0.5), score_weight=0.0, **options).fit(lists.train)
    share, weight = best_weight(bare.decision_function(lists.development.groups), lists.development)
    assert weight == pytest.approx(own.score_weight_) and (share == 0.0) == (weight == 0.0)
    found = trial(VotedPerceptron(SubsetTree(0.5), score_weight=0.0, **options), lists)
    chosen = lists.development.evaluation(own.chosen(lists.development.groups).tolist())
    assert found["development"]["weighed"] == lists.development.measured(chosen)


def test_what_is_chosen_is_trained_on_training_and_development_groups_together(lists):
    options = {"sample": 5, "random_state": 0, "score_weight": 0.0}
    record = trial(VotedPerceptron(SubsetTree(0.5), **options), lists)
    assert "test" not in record
    add_test(record, VotedPerceptron(SubsetTree(0.5), **options), lists)
    first = VotedPerceptron(SubsetTree(0.5), **options).fit(lists.train)
    both = VotedPerceptron(SubsetTree(0.5), **options).fit([*lists.train, *lists.development.groups])
    alone = lists.test.evaluation(both.chosen(lists.test.groups).tolist())
    assert record["test"]["alone"] == lists.test.measured(alone)
    # The score keeps its weight beside values that have grown.
    known = lists.train[:N_KNOWN]
    grown = spread(both.decision_function(known)) / spread(first.decision_function(known))
    both.score_weight_ = record["weight"] * grown
    weighed = lists.test.evaluation(both.chosen(lists.test.groups).tolist())
    assert grown > 1.0 and record["test"]["weighed"] == lists.test.measured(weighed)


def test_only_what_is_best_on_development_groups_is_tested(lists):
    def make(record):
        return VotedPerceptron(SubsetTree(record["decay"]), sample=5, score_weight=0.0, random_state=0)

    trials = [{"decay": decay, **trial(make({"decay": decay}), lists)} for decay in (0.2, 0.5, 0.9)]
    choose(trials, lists, make)
    tested = [own["decay"] for own in trials if "test" in own]
    assert set(tested) == {best_trial(trials, kind)["decay"] for kind in ("alone", "weighed")}
    choose(trials, lists, make, [("alone", {"decay": decay}) for decay in (0.2, 0.5, 0.9)])
    assert all("test" in own for own in trials)


def test_test_questions_take_part_in_no_choice(lists):
    worst = [Group(group.candidates, group.scores, group.candidates[-1]) for group in lists.test.groups]
    other = Lists(lists.train, lists.development, Judged(worst))
    for decay in (0.2, 0.8):
        learner = VotedPerceptron(SubsetTree(decay), sample=5, score_weight=0.0, random_state=0)
        a, b = (trial(learner, own) for own in (lists, other))
        assert a["development"] == b["development"] and a["weight"] == b["weight"]
        for record, own in ((a, lists), (b, other)):
            add_test(record, learner, own)
        assert a["test"] != b["test"]
    trials = [
        {"name": k, "development": {"weighed": {"score": s}}, "test": {}} for k, s in ((0, 1.0), (1, 2.0), (2, 2.0))
    ]
    assert best_trial(trials)["name"] == 1


def test_the_best_grammar_is_the_best_on_development_trees(data):
    trees, _ = corpora.question_trees(data)
    train, development = corpora.shuffled(trees, 2, (150, 40))
    found = best_grammar(train, development, markovs=((1, 1), (2, 0), (2, 2)), rares=(2,))
    grid = [
        {"markov": markov, "unknown": 2, **split}
        for split in ({}, {"split_tags": True, "least": 10})
        for markov in ((1, 1), (2, 0), (2, 2))
    ]
    scores = []
    for options in grid:
        parser = PCFG.from_treebank(train, **options)
        parsed = [parser.parse(tree.words(), 1)[0].tree for tree in development]
        scores.append(evaluate(development, parsed).score)
    assert found == grid[int(np.argmax(scores))]


def test_both_forms_of_a_sum_learn_the_same(lists):
    learners = [cost.one_epoch(lists.train[:40], kernel, 5, 0) for kernel in (cost.COMPRESSED, cost.SUPPORT)]
    one, other = (
        {id(item): weight for item, weight in zip(own.support_, own.coefficients_.tolist(), strict=True)}
        for own in learners
    )
    # A tie of target and rival is decided by the last digit, so that a few updates may differ.
    assert one and np.mean([one.get(item) == other.get(item) for item in one | other]) > 0.9
    assert [is_compressed(own.dual_form().kernel) for own in learners] == [True, False]


@pytest.mark.parametrize("name", list(collins2001.EXPERIMENTS))
def test_each_experiment_runs_in_a_tiny_version(data, tmp_path, name):
    (path,) = collins2001.run(name, data=data, out=tmp_path, quick=True)
    text = path.read_text()
    assert "only shows that everything runs" in text and "papers.nips.cc/paper/2001" in text
    assert f"Made by `espalier reproduce collins2001 {name} --quick`" in text
    stored = (tmp_path / "collins2001" / f"{name}-quick.json").read_text()
    assert json.loads(stored)["settings"]["quick"] is True
    assert str(data) not in stored + text


def test_a_page_says_what_is_not_there_yet(data, tmp_path):
    options = {"data": data, "out": tmp_path, "quick": True}
    (path,) = collins2001.run("beyond", only={"model": "one epoch"}, **options)
    assert "{" not in path.read_text()
    assert "results are not there yet.**" in path.read_text() and "on the first split of" in path.read_text()
    (path,) = collins2001.run("beyond", **options)
    assert "not there yet" not in path.read_text()


@pytest.mark.parametrize("module", [questions, beyond, treebanks, tagging, cost])
@pytest.mark.parametrize("quick", [False, True])
def test_keys_are_plain_and_different(module, quick, tmp_path):
    keys = [json.dumps(task.key, sort_keys=True) for task in module.tasks(Setup(tmp_path, quick=quick))]
    assert len(set(keys)) == len(keys) > 0
    assert str(tmp_path) not in "".join(keys)


def measured(score):
    return {"score": score, "improvement": score - 80.0, "f1": score, "exact": 50.0}


def outcome(score, **setting):
    both = {"alone": measured(score - 1.0), "weighed": measured(score)}
    return {**setting, "share": 0.5, "weight": 1.0, "development": both, "test": both}


def test_the_page_of_questions_says_what_was_chosen_and_reached(tmp_path):
    results = Store(tmp_path).open("questions", settings={"candidates": 100, "sampled": 20, "passes": 15})
    base = {"parser": measured(80.0), "oracle": measured(95.0), "gold_among": 60.0}
    for split, best in enumerate((84.0, 86.0)):
        trials = [
            outcome(82.0, epochs=1, depth=2, decay=1.0),
            outcome(best, epochs=1, depth=None, decay=0.4),
            outcome(best + 1.0, epochs=2, depth=None, decay=0.4),
        ]
        key = {"size": "small", "parser": "plain", "split": split}
        found = {"grammar": {}, "baselines": {"development": base, "test": base}, "trials": trials}
        results.add({**key, "learner": "perceptron"}, found, seconds=1)
        results.add(
            {**key, "learner": "svm"},
            {"trials": [outcome(85.0, decay=0.4, C=0.1, passes=15 - split, gap=0.05)]},
            seconds=1,
        )
        ways = [outcome(83.0 + split, epochs=1, decay=0.5, updates=way) for way in ("all", "best")]
        ways[1]["development"] = {"alone": measured(85.0), "weighed": measured(83.0)}
        results.add({**key, "learner": "updates"}, {"trials": ways}, seconds=1)
    text = questions.page(results).text
    assert 'alone `"best"` is better in 2 of 2 comparisons, with the grammar `"best"` is better in 0 of 2' in text
    assert "| 800 / 200 / 336, the plain grammar, one epoch | 82.5 ± 0.7, 2.5 ± 0.7 | 85.0 ± 0.0, 5.0 ± 0.0 |" in text
    assert "| the grammar's first parse | 74 | 80.0 ± 0.0 |" in text
    assert "| perceptron with the grammar, one epoch |  | 85.0 ± 1.4 | 5.0 ± 1.4 |" in text
    assert "with the grammar's score: perceptron, one epoch 5.0 ± 1.4; perceptron, two epochs 6.0 ± 1.4;" in text
    assert "ranking SVM 5.0 ± 0.0." in text and "without it: perceptron, best depth 1.0 ± 0.0;" in text
    assert "| decay 0.4 | 79 ± 1, 21 ± 3 | 84.0 ± 1.4, 4.0 ± 1.4 | 85.0 ± 1.4, 5.0 ± 1.4 |" in text
    assert "| ranking SVM with the grammar | decay 0.4, C 0.1 (2) | 0.5 (2) |" in text
    assert "| GPPreference" not in text
    assert "as 1 of 2 did, with 0.05 to 0.05 of a margin left" in text
    assert "800 / 200 / 336 as in the paper (2 splits) and 2,400 / 400 / 1,189 (0 splits)" in text


def test_means_come_with_deviations():
    assert mean([1.0]) == "1.0" and mean([1.0, 3.0]) == "2.0 ± 1.4" and mean([]) == "-"
    assert counted([1, 2, 2]) == "2 (2), 1 (1)" and counted(["a"]) == "a"


def test_the_command_names_its_experiments():
    result = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, ["reproduce", "collins2001", "answers"])
    assert result.exit_code == 2
    wanted = "There is no experiment 'answers'; there are questions, beyond, treebanks, tagging, cost and all."
    assert wanted in result.stderr
