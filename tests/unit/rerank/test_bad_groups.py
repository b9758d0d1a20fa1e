"""Groups that cannot be learned from, chosen among or measured: each is an error that says which and why."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import espalier as es
from candidate_groups import dependency_groups, groups_of, tagged_groups
from espalier.parsing import PCFG, Tagger, evaluate, oracle
from espalier.rerank import GPPreference, RankingSVM, Reranker, VotedPerceptron, quality

A, B = "(S (NP (N cats)) (VP (V sleep)))", "(X (N cats) (V sleep))"
BARE = es.Group([A, B])
KERNEL = es.SubsetTree(0.5)


@pytest.mark.parametrize("learner", [VotedPerceptron, RankingSVM])
def test_the_group_without_gold_is_named_whatever_is_held_out(learner):
    groups = groups_of(0)
    groups[13] = BARE
    with pytest.raises(es.InputError, match="Group 13 has no gold tree to learn from"):
        learner(KERNEL, random_state=0).fit(groups)


def test_development_groups_need_gold_trees_where_a_weight_is_chosen_on_them():
    with pytest.raises(es.InputError, match="Group 1 has no gold tree to choose the weight of scores by"):
        VotedPerceptron(KERNEL).fit(groups_of(0), development=[groups_of(1)[0], BARE])
    with pytest.raises(TypeError, match="Only groups can be developed on, got str at 0"):
        VotedPerceptron(KERNEL).fit(groups_of(0), development=[A])
    assert VotedPerceptron(KERNEL, score_weight=0.5).fit(groups_of(0), development=[BARE]).score_weight_ == 0.5


@pytest.mark.parametrize("vote", ["average", "vote"])
def test_only_groups_are_chosen_among(vote):
    reranker = Reranker(VotedPerceptron(KERNEL, vote=vote, random_state=0)).fit(groups_of(0))
    for ask in (reranker.predict, reranker.chosen, reranker.decision_function):
        with pytest.raises(TypeError, match="Only groups can be chosen among, got str at 1"):
            ask([BARE, A])
        with pytest.raises(TypeError, match=r"Only groups can be chosen among, got a single one\. Write \[group\]"):
            ask(BARE)
        assert len(ask([BARE] * 3)) == 3


def test_measures_need_gold_trees_and_equal_numbers():
    with pytest.raises(es.InputError, match="The group has no gold tree to measure by"):
        quality(BARE)
    with pytest.raises(es.InputError, match="There are 1 gold trees and 2 parses"):
        evaluate([A], [A, B])
    with pytest.raises(es.InputError, match="There are 2 gold trees and candidates of 1 sentences"):
        oracle([A, A], [[A, B]])


@pytest.mark.parametrize("learner", [VotedPerceptron, RankingSVM])
@pytest.mark.parametrize("weight", [float("nan"), float("inf"), "heavy", True, None, np.ones(2)])
def test_weights_of_scores_are_numbers(learner, weight):
    with pytest.raises(ValueError, match="score_weight must be 'chosen' or a finite number, got"):
        learner(KERNEL, score_weight=weight).fit(groups_of(0))


def test_files_that_hold_something_else(tmp_path):
    PCFG.from_treebank([A]).save(tmp_path / "grammar")
    Reranker().fit(groups_of(0)).save(tmp_path / "reranker")
    with pytest.raises(es.InputError, match=r"grammar holds a PCFG, no Reranker"):
        Reranker.load(tmp_path / "grammar")
    with pytest.raises(es.InputError, match=r"reranker holds a Reranker, no PCFG"):
        PCFG.load(tmp_path / "reranker")
    with pytest.raises(es.InputError, match=r"grammar holds a PCFG, no Tagger"):
        Tagger.load(tmp_path / "grammar")
    with pytest.raises(IsADirectoryError, match="A saved file is one file, and this is a folder"):
        Reranker.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="No such file"):
        Reranker.load(tmp_path / "nowhere")


def test_equal_values_choose_the_first_and_single_candidates_stay():
    reranker = Reranker(VotedPerceptron(KERNEL, random_state=0)).fit(groups_of(0))
    strange = "(Z (Q new) (Q words))"
    groups = [es.Group([strange, "(Y (P new) (P words))"]), es.Group([A]), es.Group([A, A], [-1.0, -1.0])]
    assert reranker.chosen(groups).tolist() == [0, 0, 0]


def test_a_gold_tree_that_is_no_candidate_is_learned_from_and_never_chosen():
    right, flat, deep = A, "(S (N cats) (V sleep))", "(S (X (N cats)) (VP (V sleep)))"
    groups = [es.Group([flat, deep], [-1.0, -2.0], gold=right)] * 10
    reranker = Reranker(VotedPerceptron(KERNEL, score_weight=0.0, random_state=0)).fit(groups)
    assert es.Tree.from_brackets(right) in reranker.chooser_.support_
    assert reranker.chosen(groups[:1]).tolist() == [1]  # it shares the verb phrase with the gold tree


@pytest.mark.parametrize("learner", [VotedPerceptron, RankingSVM, GPPreference])
def test_candidates_are_all_of_one_kind(learner):
    trees, arcs = groups_of(0), dependency_groups(0)
    with pytest.raises(es.InputError, match="Group 0 holds trees, but group 25 holds dependency trees"):
        learner(KERNEL).fit(trees + arcs)
    with pytest.raises(es.InputError, match="learn from hold trees, but development group 0 holds tagged sequences"):
        learner(KERNEL, score_weight="chosen").fit(trees, development=tagged_groups(0))
    fitted = learner(KERNEL, random_state=0).fit(trees)
    with pytest.raises(es.InputError, match="It has learned from trees, but group 0 holds dependency trees"):
        fitted.predict(arcs)


def test_no_development_groups_are_no_development_groups():
    with pytest.raises(es.InputError, match=r"no development groups to choose the weight of scores by\. Pass None"):
        VotedPerceptron(KERNEL).fit(groups_of(0), development=[])


@pytest.mark.parametrize("learner", [VotedPerceptron, RankingSVM, GPPreference])
@pytest.mark.parametrize("kernel", ["SubsetTree()", None, es.SubsetTree])
def test_kernels_are_kernels(learner, kernel):
    with pytest.raises(TypeError, match=r"kernel must be a kernel of Espalier such as SubsetTree\(\), got"):
        learner(kernel).fit(groups_of(0))


@pytest.mark.parametrize("learner", [VotedPerceptron, RankingSVM, GPPreference])
def test_a_kernel_to_which_all_candidates_are_alike_is_told_of(learner):
    # The same rules in other places: seen from depth 2 on.
    one, other = "(S (X (X (N a))) (X (N a)))", "(S (X (N a)) (X (X (N a))))"
    groups = [es.Group([one, other], [-1.0, -2.0], gold=other)] * 10
    with pytest.warns(UserWarning, match=r"To .*SubsetTree.* the candidates of a group are all alike"):
        learner(es.SubsetTree(0.5, max_depth=1), random_state=0).fit(groups)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        seeing = learner(es.SubsetTree(0.5, max_depth=2), score_weight=0.0, random_state=0).fit(groups)
    assert seeing.chosen(groups).tolist() == [1] * 10


@pytest.mark.parametrize("learner", [VotedPerceptron, RankingSVM])
def test_where_the_kernel_cannot_choose_the_score_does(learner):
    pairs = [(f"(S (X (X (N a))) (X (N a)) (N n{k}))", f"(S (X (N a)) (X (X (N a))) (N n{k}))") for k in range(10)]
    groups = [es.Group([one, other], [-1.0, -2.0], gold=one) for one, other in pairs]
    one, other = pairs[0]
    with pytest.warns(UserWarning, match="only the parser's score can decide"):
        model = learner(es.SubsetTree(0.5, max_depth=1), random_state=0).fit(groups)
    assert model.score_weight_ == 1.0
    assert model.chosen([es.Group([other, one], [-2.0, -1.0])]).tolist() == [1]


def test_votes_that_were_not_kept_are_asked_for():
    model = VotedPerceptron(KERNEL, random_state=0).fit(groups_of(0))
    with pytest.raises(NotFittedError, match=r"Only the sum of the perceptrons was kept\. Fit again with vote='vote'"):
        model.set_params(vote="vote").predict(groups_of(0))


def test_what_is_no_list_of_groups_and_no_seed_is_told_of():
    for wrong in (None, 3):
        with pytest.raises(TypeError, match=f"Only groups can be learned from, got {wrong}"):
            VotedPerceptron(KERNEL).fit(wrong)
    with pytest.raises(ValueError, match="'x' cannot be used to seed"):
        VotedPerceptron(KERNEL, random_state="x").fit(groups_of(0))
    with pytest.raises(es.InputError, match="There are no groups to measure"):
        Reranker(VotedPerceptron(KERNEL, random_state=0)).fit(groups_of(0)).score([])
