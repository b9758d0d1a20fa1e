"""Real questions and real tags: every learner chooses better than who proposed."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es
from espalier.parsing import PCFG, Tagger, is_tagged, plain
from espalier.rerank import jackknifed, propose
from espalier.rerank.quality import chosen_f1, quality


@pytest.fixture(scope="module")
def questions(data):
    """Candidates of 400 questions to learn from, and of 200 others."""
    listed = map(plain, es.read_brackets(data / "questionbank" / "trees.txt"))
    trees = [tree for tree in listed if tree is not None and is_tagged(tree)]
    order = np.random.default_rng(5).permutation(len(trees))
    train, test = ([trees[row] for row in rows] for rows in (order[:400], order[400:600]))
    return jackknifed(train, 30), propose(PCFG.from_treebank(train), test, 30)


def first(groups):
    """F1 of what was proposed first, in per cent."""
    return 100 * chosen_f1([quality(group) for group in groups], [group.best for group in groups])


@pytest.mark.parametrize(
    "chooser",
    [
        es.VotedPerceptron(es.SubsetTree(0.4), epochs=2, random_state=0),
        es.RankingSVM(es.SubsetTree(0.4), C=0.1, max_iterations=15, random_state=0),
        es.GPPreference(8.0 * es.Normalized(es.SubsetTree(0.3)), max_candidates=1000, max_iterations=3, random_state=0),
    ],
    ids=lambda chooser: type(chooser).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_questions_are_parsed_better(questions, chooser):
    train, test = questions
    assert es.Reranker(chooser).fit(train).score(test) > first(test) + 1


def test_flight_queries_are_tagged_better(data):
    train, test = (
        [
            es.TaggedSequence(tree.words, tree.tags)
            for tree in es.read_conllu(data / "atis_ud" / f"en_atis-ud-{part}.conllu.gz")
        ]
        for part in ("train", "test")
    )
    groups = jackknifed(train[:1200], 10, make=Tagger.from_sentences)
    proposed = propose(Tagger.from_sentences(train[:1200]), test, 10)
    reranker = es.Reranker(es.VotedPerceptron(es.Tagging(0.3), random_state=0)).fit(groups)
    assert reranker.score(proposed) > first(proposed)
