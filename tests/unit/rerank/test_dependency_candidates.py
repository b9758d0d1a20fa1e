"""Groups of dependency trees: proposed with their own tags, jackknifed by document, measured by heads."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import espalier as es
from espalier import DependencyTree, Group
from espalier.errors import InputError
from espalier.parsing import DependencyParser, evaluate_attachment, oracle, paired_bootstrap
from espalier.rerank import RankingSVM, VotedPerceptron, evaluate_choices, jackknifed, propose, quality
from espalier.rerank.training import TrainingSet
from espalier.structures.conllu import read_conllu_documents

WORDS, TAGS = ["the", "old", "cats", "sleep"], ["D", "A", "N", "V"]
GOLD = DependencyTree(
    WORDS, TAGS, [3, 3, 4, 0], ["det", "amod", "nsubj", "root"], lemmas=WORDS, features=[["x"], [], [], []]
)
PLAIN = dataclasses.replace(GOLD, lemmas=None, features=None)
RELABELLED = dataclasses.replace(PLAIN, relations=["det", "amod", "obj", "root"])
WRONG = dataclasses.replace(PLAIN, heads=[2, 3, 4, 0])
WORSE = dataclasses.replace(PLAIN, heads=[2, 4, 4, 0])


class Chain:
    """A parser whose two trees are a chain to the left and one to the right."""

    def __init__(self, trees):
        self.trees, self.asked = list(trees), []

    def propose(self, sentences, k, *, beam, n_threads, progress):
        self.asked = list(sentences)
        out = []
        for pairs in self.asked:
            words, tags = zip(*pairs, strict=True)
            n = len(words)
            left = DependencyTree(words, tags, list(range(n)), ["dep"] * n)
            right = DependencyTree(words, tags, [*range(2, n + 1), 0], ["dep"] * n)
            out.append([(left, -1.0), (right, -2.0)][:k])
        return out


def test_a_parser_gets_words_and_tags_and_the_gold_tree_is_like_its_parses():
    parser = Chain([])
    pairs = list(zip(WORDS, TAGS, strict=True))
    groups = propose(parser, [GOLD, pairs], 2)
    assert parser.asked == [pairs, pairs]
    assert [group.gold for group in groups] == [PLAIN, None]
    assert all(own.tags == tuple(TAGS) for group in groups for own in group.candidates)
    with pytest.raises(TypeError, match="sentences must be a list, got a single sentence"):
        propose(parser, GOLD)


def test_words_alone_are_refused_by_a_dependency_parser():
    parser = DependencyParser.from_treebank([PLAIN], epochs=1, bits=10)
    with pytest.raises(InputError, match=r"Sentence 0 has words without tags.*Give pairs of a word and its tag"):
        propose(parser, [WORDS])
    with pytest.raises(ValueError, match="A DependencyParser has no beam"):
        propose(parser, [GOLD], beam=3.0)


def some_trees(n=24):
    rng = np.random.default_rng(0)
    out = []
    for row in range(n):
        words = [f"w{row}", *rng.choice(["a", "b", "c"], int(rng.integers(1, 4))).tolist()]
        out.append(DependencyTree(words, ["T"] * len(words), list(range(len(words))), ["dep"] * len(words)))
    return out


@pytest.mark.parametrize("seed", [0, 1])
def test_folds_are_drawn_over_documents(seed):
    trees = some_trees()
    documents = [f"d{row // 3}" if row % 2 else row // 6 for row in range(len(trees))]
    made = []

    def make(known):
        made.append(Chain(known))
        return made[-1]

    groups = jackknifed(trees, 2, folds=3, documents=documents, make=make, random_state=seed)
    assert [group.gold for group in groups] == trees
    distinct = list(dict.fromkeys(documents))
    order = np.random.default_rng(seed).permutation(len(distinct)).tolist()
    for fold, parser in enumerate(made):
        mine = {distinct[n] for n in order[fold::3]}
        held_out = [row for row, document in enumerate(documents) if document in mine]
        assert parser.asked == [list(zip(trees[row].words, trees[row].tags, strict=True)) for row in held_out]
        assert parser.trees == [tree for row, tree in enumerate(trees) if row not in held_out]


def test_documents_must_fit():
    trees = some_trees(6)
    with pytest.raises(InputError, match="There are 6 sentences, but documents has 5 entries"):
        jackknifed(trees, folds=2, documents=range(5), make=Chain)
    with pytest.raises(ValueError, match="folds must be an integer from 2 to the number of documents, 2, got 3"):
        jackknifed(trees, folds=3, documents=[0, 0, 0, 1, 1, 1], make=Chain)


def test_quality_counts_heads():
    group = Group([WRONG, RELABELLED, WORSE, PLAIN], gold=PLAIN)
    assert quality(group).tolist() == [[3, 4, 2, 4], [4] * 4, [4] * 4]


@pytest.mark.parametrize("target", ["gold", "best"])
def test_a_candidate_with_the_right_heads_is_no_rival(target):
    group = Group([WRONG, RELABELLED, WORSE], [-1.0, -2.0, -3.0], gold=PLAIN)
    data = TrainingSet.of([group], target, None, np.random.default_rng(0))
    assert data.items == [RELABELLED, WRONG, WORSE] and data.scores.tolist() == [-2.0, -1.0, -3.0]
    without = TrainingSet.of([Group([WRONG, WORSE], gold=PLAIN)], "gold", None, np.random.default_rng(0))
    assert without.items == [PLAIN, WRONG, WORSE] and np.isnan(without.scores[0])


def crossing_trees(n=30):
    """Trees in which any word hangs on any other, so that a parser misses many."""
    rng = np.random.default_rng(3)
    out = []
    for row in range(n):
        words = [f"w{row}", *rng.choice(["a", "b", "c"], 4).tolist()]
        heads = [0, *(int(rng.integers(1, k + 1)) for k in range(1, 5))]
        out.append(DependencyTree(words, ["T", "U", "V", "U", "T"], heads, ["root", "x", "y", "x", "z"]))
    return out


def test_a_missing_gold_tree_is_added_last_as_the_parser_sees_it():
    trees = crossing_trees()
    made = {}

    def make(known):
        parser = DependencyParser.from_treebank(known, epochs=2, bits=12)
        made.update(dict.fromkeys((tree.words for tree in trees if tree not in known), parser))
        return parser

    plain = jackknifed(trees, 2, folds=3, make=make)
    added = jackknifed(trees, 2, folds=3, make=make, add_gold=True)
    n_added = 0
    for tree, before, after in zip(trees, plain, added, strict=True):
        assert before.gold == after.gold == tree
        if any(own.heads == tree.heads for own in before.candidates):
            assert after == before
            continue
        n_added += 1
        parser = made[tree.words]
        assert after.candidates[:-1] == before.candidates and after.scores[:-1] == before.scores
        assert after.gold_added and not before.gold_added and after.as_proposed() == before
        assert after.candidates[-1].heads == tree.heads
        assert (after.candidates[-1], after.scores[-1]) == tuple(parser.as_parses([tree])[0])
        assert after.scores[-1] == parser.score(tree)
    assert 0 < n_added < len(trees)


def test_parts_with_gold_trees_are_kept_and_not_taken_for_others(tmp_path):
    trees, options = crossing_trees(12), {"k": 2, "folds": 3, "make": DependencyParser.from_treebank}
    options |= {"epochs": 1, "bits": 12}
    expected = jackknifed(trees, **options, add_gold=True)
    for folder in (tmp_path / "with", tmp_path / "with"):
        assert jackknifed(trees, **options, add_gold=True, folder=folder) == expected
    (tmp_path / "with" / "part-2-of-3.jsonl").unlink()
    assert jackknifed(trees, **options, add_gold=True, folder=tmp_path / "with") == expected
    with pytest.raises(InputError, match="add_gold is 'True' there and missing here"):
        jackknifed(trees, **options, folder=tmp_path / "with")
    jackknifed(trees, **options, folder=tmp_path / "without")
    with pytest.raises(InputError, match="add_gold is missing there and 'True' here"):
        jackknifed(trees, **options, add_gold=True, folder=tmp_path / "without")


def test_gold_trees_are_added_only_by_parsers_that_can_score_them():
    with pytest.raises(TypeError, match=r"add_gold needs a parser with a method as_parses, .* got <PCFG"):
        jackknifed(["(S (N a))", "(S (N b))"], folds=2, add_gold=True)


@pytest.fixture(scope="module")
def treebank(data):
    """Three hundred sentences, and the number of the document of each."""
    listed = read_conllu_documents(data / "ewt_ud" / "en_ewt-ud-dev.conllu.gz")
    pairs = [(tree, number) for number, document in enumerate(listed) for tree in document if len(tree) < 30]
    trees, documents = zip(*pairs[:300], strict=True)
    return list(trees), list(documents)


@pytest.fixture(scope="module")
def groups(treebank):
    trees, documents = treebank
    make = DependencyParser.from_treebank
    return jackknifed(trees, 5, folds=3, documents=documents, make=make, epochs=3, bits=16, order=1, n_threads=1)


def test_real_groups_are_those_of_parsers_that_have_not_seen_the_document(treebank, groups):
    trees, documents = treebank
    assert [group.gold.heads for group in groups] == [tree.heads for tree in trees]
    assert all(1 <= len(group) <= 5 and group.kind == "dependency trees" for group in groups)
    assert all(group.candidates[0].tags == tree.tags for group, tree in zip(groups, trees, strict=True))
    # The parser of the first fold, made again.
    distinct = list(dict.fromkeys(documents))
    mine = {distinct[n] for n in np.random.default_rng(0).permutation(len(distinct)).tolist()[0::3]}
    known = [tree for tree, document in zip(trees, documents, strict=True) if document not in mine]
    parser = DependencyParser.from_treebank(known, epochs=3, bits=16, order=1)
    for row, (tree, document) in enumerate(zip(trees, documents, strict=True)):
        if document in mine:
            parses = parser.parse(tree, 5)
            assert list(groups[row].candidates) == parses.candidates and list(groups[row].scores) == parses.scores


def test_real_groups_are_measured_and_compared(groups):
    golds = [group.gold for group in groups]
    first = evaluate_attachment(golds, [group.candidates[0] for group in groups])
    best, most = oracle(golds, [group.candidates for group in groups])
    assert [quality(group)[0, k] for group, k in zip(groups, best, strict=True)] == list(most.heads_right)
    found = paired_bootstrap(most, first, n=1000)
    assert 40 < first.las < first.uas < most.uas and found.interval[0] > 0 and found.p_value < 0.05
    # Choices are compared in the same way, by the counts of their quality.
    counts = [quality(group) for group in groups]
    choices = [evaluate_choices(counts, chosen) for chosen in (best, [0] * len(groups))]
    same = paired_bootstrap(*choices, "recall", n=1000)
    assert (same.difference, same.interval, same.p_value) == (found.difference, found.interval, found.p_value)


@pytest.mark.parametrize(
    "chooser",
    [
        VotedPerceptron(es.Normalized(es.DependencySubtree(("tags", "direction"))), epochs=2, random_state=0),
        RankingSVM(es.Normalized(es.DependencySubtree(("tags", "direction"))), max_iterations=10, random_state=0),
    ],
    ids=lambda chooser: type(chooser).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_real_groups_are_learned_from(groups, chooser):
    longer = [group for group in groups if len(group.words) > 1]  # the kernel counts arcs between words
    reranker = es.Reranker(chooser).fit(longer[:200])
    rest = longer[200:]
    chosen = evaluate_attachment([group.gold for group in rest], reranker.predict(rest))
    assert reranker.score(rest) == pytest.approx(chosen.uas)
    worst = evaluate_attachment([group.gold for group in rest], [group.candidates[-1] for group in rest])
    assert worst.uas < chosen.uas
