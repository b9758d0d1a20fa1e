"""Two candidates compared: against all fragments of both, listed; and parts that add up to the lead."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from tests.reference.fragment_weights import (
    fragment_weights,
    node_shares,
    normalized,
    partial_tree_features,
    subset_tree_features,
)
from tests.unit.explanations.test_explaining import check_largest

import espalier as es
from candidate_groups import dependency_groups, groups_of
from espalier.explanations.comparison import Comparison
from espalier.spaces.partial import PartialSpace
from espalier.spaces.subset import SubsetSpace
from espalier.structures.group import Group
from espalier.structures.tree import Tree

MANY = 100_000


def random_parse(rng, words):
    """A tree over given words: labels drawn, some nodes with one child, some with many."""
    label = str(rng.choice(["S", "NP", "VP"]))
    if len(words) == 1:
        tag = Tree(str(rng.choice(["N", "V"])), [words[0]])
        return Tree(label, [tag]) if rng.random() < 0.2 else tag
    n_parts = int(rng.integers(2, min(3, len(words)) + 1))
    cuts = [0, *sorted(rng.choice(np.arange(1, len(words)), n_parts - 1, replace=False).tolist()), len(words)]
    return Tree(label, [random_parse(rng, words[a:b]) for a, b in itertools.pairwise(cuts)])


def random_groups(seed, n):
    rng = np.random.default_rng(seed)
    groups = []
    for _ in range(n):
        words = rng.choice(["a", "b", "NP"], int(rng.integers(3, 5))).tolist()
        trees = list(dict.fromkeys(random_parse(rng, words) for _ in range(5)))
        groups.append(Group(trees, rng.normal(size=len(trees)), gold=trees[int(rng.integers(len(trees)))]))
    return [group for group in groups if len(group) > 2]


GROUPS, NEW = random_groups(1, 16), random_groups(2, 4)


def by_label(default, **values):
    own = {"<leaf>" if label == "LEAF" else label: value for label, value in values.items()}
    return es.PerLabel(default, values=own), lambda label: own.get(label or "<leaf>", default)


def number(value):
    return lambda label: value


DECAY, decay = by_label(0.4, S=1.1, NP=0.2, LEAF=0.7)
DEPTH_DECAY, depth_decay = by_label(0.5, VP=0.9, LEAF=0.3)
SUBSETS = subset_tree_features(number(0.4), number(0.8))
CASES = {
    "subset trees": (es.SubsetTree(0.4, 0.8), SUBSETS),
    "normalised": (es.Normalized(es.SubsetTree(0.4, 0.8)), normalized(SUBSETS)),
    "per label": (es.Normalized(es.SubsetTree(DECAY)), normalized(subset_tree_features(decay, number(1.0)))),
    "depth": (es.SubsetTree(0.5, max_depth=2), subset_tree_features(number(0.5), number(1.0), 2)),
    "words": (es.SubsetTree(DECAY, lone_leaves=True), subset_tree_features(decay, number(1.0), lone_leaves=True)),
    "subtrees": (es.Normalized(es.Subtree(0.3)), normalized(subset_tree_features(number(0.3), number(0.0)))),
    "partial trees": (es.PartialTree(0.5, 0.8), partial_tree_features(number(0.5), number(0.8))),
    "partial, normalised": (
        es.Normalized(es.PartialTree(DECAY, DEPTH_DECAY)),
        normalized(partial_tree_features(decay, depth_decay)),
    ),
}


def fitted(kernel, learner=es.VotedPerceptron, **options):
    return learner(kernel, score_weight=0.3, random_state=0, **options).fit(GROUPS)


def differences(model, features, winner, loser):
    """What each fragment adds to the lead, from the definition."""
    weights = fragment_weights(model.support_, model.coefficients_, features)
    a, b = features(winner), features(loser)
    return {name: weights.get(name, 0.0) * (a.get(name, 0.0) - b.get(name, 0.0)) for name in {*a, *b}}


# Against all fragments


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n", [1, 5, MANY])
def test_the_fragments_that_differ_most_are_listed(name, n):
    kernel, features = CASES[name]
    model = fitted(kernel)
    for group in NEW:
        for winner, loser in [(0, 1), (2, 0)]:
            why = es.explain(model, group, winner=winner, loser=loser, n=n, max_size=MANY)
            true = differences(model, features, group.candidates[winner], group.candidates[loser])
            check_largest(why, true, n)
            values = model.decision_function([group])[0]
            assert why.value == pytest.approx(values[winner] - values[loser])
            assert why.values == pytest.approx((values[winner], values[loser]))
            assert why.from_score == pytest.approx(0.3 * (group.scores[winner] - group.scores[loser]))
            assert why.from_score + sum(true.values()) == pytest.approx(why.value)
            assert why.from_score + sum(own.total for own in why.trees) == pytest.approx(why.value)
            assert why.of_trees == pytest.approx(sum(true.values()))
            assert [own.tree for own in why.trees] == [why.winner, why.loser]
            assert why.winner == group.candidates[winner] and why.loser == group.candidates[loser]
            weights = fragment_weights(model.support_, model.coefficients_, features)
            for reason in why:
                assert reason.weight == pytest.approx(weights.get(str(reason.fragment), 0.0), abs=1e-12)


@pytest.mark.parametrize("scale", ["plain", "normalised"])
def test_shares_of_nodes_are_those_of_all_fragments(scale):
    kernel, features = CASES["subset trees" if scale == "plain" else "normalised"]
    model = fitted(kernel, es.RankingSVM)
    weights = fragment_weights(model.support_, model.coefficients_, features)
    for group in NEW:
        why = es.explain(model, group, winner=1, loser=2)
        for own, sign in zip(why.trees, (1.0, -1.0), strict=True):
            norm = np.sqrt(sum(value**2 for value in SUBSETS(own.tree).values())) if scale != "plain" else 1.0
            shares = sign * np.array(node_shares(own.tree, weights, number(0.4), number(0.8))) / norm
            assert own.shares == pytest.approx(shares, abs=1e-12) and own.split == "equal"


def test_utilities_of_a_process_are_compared():
    kernel, features = CASES["normalised"]
    model = fitted(kernel, es.GPPreference, learn=False)
    for group in NEW:
        why = es.explain(model, group, winner=1, loser=0, n=7)
        check_largest(why, differences(model, features, group.candidates[1], group.candidates[0]), 7)
        values = model.decision_function([group])[0]
        assert why.from_score + why.of_trees == pytest.approx(why.value) == pytest.approx(values[1] - values[0])


def test_only_small_fragments_are_looked_at():
    kernel, features = CASES["partial trees"]
    model, group = fitted(kernel), NEW[0]
    true = differences(model, features, *group.candidates[:2])
    small = {name: value for name, value in true.items() if es.Fragment.from_brackets(name).tree.size <= 3}
    check_largest(es.explain(model, group, winner=0, loser=1, n=MANY, max_size=3), small, MANY)


def test_kernels_in_a_sum_add_up():
    subset, partial = es.Normalized(es.SubsetTree(0.4, 0.8)), es.PartialTree(0.5, 0.8)
    model = fitted(0.7 * subset + partial + es.Tagging(0.5))
    for group in NEW:
        why = es.explain(model, group, winner=0, loser=1, n=MANY, max_size=MANY)
        assert len(why.trees) == 2 and why.trees[0].split == "mixed" and why.left_out == ("Tagging()",)
        values = model.decision_function([group])[0]
        assert why.value == pytest.approx(values[0] - values[1])
        assert why.from_score + why.of_trees + why.elsewhere == pytest.approx(why.value)
        true = differences(model, CASES["normalised"][1], *group.candidates[:2])
        other = differences(model, CASES["partial trees"][1], *group.candidates[:2])
        listed = sorted(reason.contribution for reason in why if abs(reason.contribution) > 1e-12)
        both = [0.7 * value for value in true.values()] + list(other.values())
        assert listed == pytest.approx(sorted(value for value in both if abs(value) > 1e-12))
        sequence = es.Tagging(0.5)(model.support_, list(group.candidates[:2]))
        assert why.elsewhere == pytest.approx(float(model.coefficients_ @ (sequence[:, 0] - sequence[:, 1])))


def test_fragments_that_both_have_cancel():
    group = Group(["(S (NP (N a)) (VP (V b) (N c)))", "(S (NP (N a)) (VP (V b)) (N c))"])
    model = es.VotedPerceptron(es.SubsetTree(0.4), score_weight=0.0).fit(
        [Group(group.candidates, gold=group.candidates[0])]
    )
    for reason in es.explain(model, group, n=MANY):
        assert str(reason.fragment) not in ("(NP (N))", "(NP (N a))", "(N a)", "(N c)")
        assert len(reason.in_winner) != len(reason.in_loser)


# A whole model


@pytest.mark.parametrize(
    ("learner", "options"), [(es.VotedPerceptron, {}), (es.VotedPerceptron, {"updates": "all"}), (es.RankingSVM, {})]
)
def test_a_whole_reranker_is_explained_by_its_heaviest_fragments(learner, options):
    kernel, features = CASES["normalised"]
    reranker = es.Reranker(learner(kernel, score_weight=0.3, random_state=0, **options)).fit(GROUPS)
    own = reranker.chooser_
    true = fragment_weights(own.support_, own.coefficients_, features)
    for model in (reranker, own):
        why = es.explain(model, n=10)
        heaviest = sorted(map(abs, true.values()), reverse=True)[:10]
        assert [abs(reason.weight) for reason in why] == pytest.approx(heaviest)
        assert all(reason.weight == pytest.approx(true[str(reason.fragment)]) for reason in why)
    tree = NEW[0].candidates[0]
    alone = Group([tree], [0.0])
    assert es.explain(reranker, tree).value == pytest.approx(reranker.decision_function([alone])[0][0])


# Who is compared with whom


@pytest.fixture(scope="module")
def reranker():
    return es.Reranker(es.VotedPerceptron(es.SubsetTree(0.5), score_weight=0.01, random_state=0)).fit(groups_of(0))


def test_the_chosen_one_is_compared_with_the_parsers_choice(reranker):
    for group in groups_of(1):
        (chosen,) = reranker.chosen([group])
        values = reranker.decision_function([group])[0]
        why = es.explain(reranker, group)
        assert why.winner == group.candidates[chosen] and why.value >= 0
        if chosen != group.best:
            assert why.loser == group.candidates[group.best]
            names = (f"candidate {chosen + 1}, chosen, gold", f"candidate {group.best + 1}, the parser's choice")
            assert why.names == names
        else:
            second = np.argsort(-values, kind="stable")[1]
            assert why.loser == group.candidates[second]
            assert why.names[0] == f"candidate {chosen + 1}, chosen, the parser's choice, gold"


def test_gold_is_compared_whether_it_is_a_candidate_or_not(reranker):
    group = groups_of(1)[0]
    place = list(group.candidates).index(group.gold)
    other = (place + 1) % 4
    first, second = (es.explain(reranker, group, winner=who, loser=other) for who in ("gold", place))
    assert first.value == second.value and first.names == second.names and first.names[0].endswith("gold")
    rest = [k for k in range(4) if k != place]
    without = Group([group.candidates[k] for k in rest], [group.scores[k] for k in rest], group.gold)
    third = es.explain(reranker, without, winner="gold", loser=rest.index(other))
    assert third.names[0] == "gold, no candidate" and third.from_score == 0.0
    assert third.value == pytest.approx(first.value - first.from_score)
    assert third.value == pytest.approx(third.values[0] - third.values[1])
    assert {str(reason.fragment) for reason in third} == {str(reason.fragment) for reason in first}
    alone = Group([group.candidates[other]], gold=group.gold)
    assert es.explain(reranker, alone, loser="gold").value == pytest.approx(-third.value)


def test_a_candidate_leads_itself_by_nothing(reranker):
    group = groups_of(1)[0]
    why = es.explain(reranker, group, winner=2, loser=2)
    assert why.value == 0 and why.from_score == 0 and why.of_trees == pytest.approx(0, abs=1e-12) and len(why) == 0
    assert why.to_svg().startswith("<svg") and "a lead of 0" in why.to_html()


def test_turning_the_two_around_turns_all_signs(reranker):
    group = groups_of(1)[0]
    one, other = (es.explain(reranker, group, winner=a, loser=b, n=MANY) for a, b in [(0, 1), (1, 0)])
    assert one.value == pytest.approx(-other.value)
    turned = {str(reason.fragment): -reason.contribution for reason in other}
    assert {str(reason.fragment): reason.contribution for reason in one} == pytest.approx(turned)
    assert one.trees[0].shares == pytest.approx(-other.trees[1].shares)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"winner": 4}, es.InputError, "winner must be the number of a candidate, 0 to 3 here, or 'gold'; got 4"),
        ({"loser": -1}, es.InputError, "loser must be the number of a candidate"),
        ({"winner": True}, es.InputError, "got True"),
        ({"loser": "best"}, es.InputError, "or 'gold'; got 'best'"),
        ({"winner": "gold"}, es.InputError, "the group has no gold tree"),
        ({"n": 0}, ValueError, "n must be a positive integer"),
    ],
)
def test_mistakes_are_one_clear_error(reranker, options, error, message):
    group = groups_of(1)[0]
    with pytest.raises(error, match=message):
        es.explain(reranker, Group(group.candidates, group.scores), **options)


def test_what_cannot_be_compared_is_one_clear_error(reranker):
    groups = groups_of(1)
    with pytest.raises(es.InputError, match=r"one candidate, so there is nothing to compare it with.*loser='gold'"):
        es.explain(reranker, Group(groups[0].candidates[:1]))
    with pytest.raises(NotFittedError):
        es.explain(es.Reranker(), groups[0])
    with pytest.raises(NotFittedError):
        es.explain(es.VotedPerceptron(es.SubsetTree()), groups[0])
    with pytest.raises(
        TypeError, match=r"Only one group can be explained at a time\. Write explain\(reranker, groups\[0\]\)"
    ):
        es.explain(reranker, groups)
    with pytest.raises(ValueError, match="winner and loser are candidates of a group"):
        es.explain(reranker, groups[0].candidates[0], winner=1)
    machine = es.KernelSVC(es.SubsetTree()).fit(list(groups[0].candidates), [0, 1, 0, 1])
    with pytest.raises(TypeError, match=r"A group needs a model that chooses.*got KernelSVC"):
        es.explain(machine, groups[0])
    voters = es.VotedPerceptron(es.SubsetTree(), vote="vote").fit(groups)
    with pytest.raises(es.InputError, match="vote='average'"):
        es.explain(voters, groups[0])


# Other candidates


def test_other_kernels_tell_only_the_parsers_part():
    kernel = es.DependencySubtree() + es.Constant(1.0)
    model = es.VotedPerceptron(kernel, score_weight=0.2, random_state=0).fit(dependency_groups(0))
    group = dependency_groups(1)[0]
    why = es.explain(model, group, winner=0, loser=1)
    values = model.decision_function([group])[0]
    assert why.value == pytest.approx(values[0] - values[1])
    assert why.trees == () and len(why) == 0 and len(why.left_out) == 2
    assert why.from_score + why.elsewhere == pytest.approx(why.value)
    assert "the kernel" in why.summary and why.to_svg().startswith("<svg") and "DependencySubtree" in why.to_html()


def test_dependency_trees_are_compared_by_tree_kernels():
    model = es.VotedPerceptron(es.PartialTree(0.5, 0.5), score_weight=0.2, random_state=0).fit(dependency_groups(0))
    group = dependency_groups(1)[0]
    why = es.explain(model, group, winner=0, loser=1)
    values = model.decision_function([group])[0]
    assert why.value == pytest.approx(values[0] - values[1]) and len(why) > 0
    assert why.from_score + why.of_trees == pytest.approx(why.value)


# Where fragments stand


def test_partial_fragments_are_found_with_children_left_out():
    tree = Tree.from_brackets("(S (NP (D the) (A old) (N cat)) (NP (N cat)) (V N))")
    cases = {
        "(NP (N cat))": {(0,): [(0,), (0, 2), (0, 2, 0)], (1,): [(1,), (1, 0), (1, 0, 0)]},
        "(NP (D) (N))": {(0,): [(0,), (0, 0), (0, 2)]},
        "(NP (N) (D))": {},
        "(S (NP (N)) (V))": {(): [(), (0,), (0, 2), (2,)]},
        "(S (NP) (NP) (NP))": {},
        "(S (NP) (NP) (V N))": {(): [(), (0,), (1,), (2,), (2, 0)]},
        "(V (N))": {(2,): [(2,), (2, 0)]},  # labels alone decide
        "(N)": {(0, 2): [(0, 2)], (1, 0): [(1, 0)], (2, 0): [(2, 0)]},
        "cat": {(0, 2, 0): [(0, 2, 0)], (1, 0, 0): [(1, 0, 0)]},
    }
    for text, true in cases.items():
        fragment = es.Fragment.from_brackets(text)
        roots = PartialSpace(es.PartialTree()).locate(fragment, tree)
        assert {root: fragment.nodes(tree, root) for root in roots} == true
        assert set(SubsetSpace(es.SubsetTree()).locate(fragment, tree)) <= set(roots)


@pytest.mark.parametrize("name", ["subset trees", "words", "partial, normalised"])
def test_reasons_stand_where_their_fragments_do(name):
    kernel, _ = CASES[name]
    model = fitted(kernel)
    for group in NEW:
        why = es.explain(model, group, winner=0, loser=1, n=50, max_size=4)
        assert isinstance(why, Comparison) and len(why) > 0
        for reason in why:
            assert reason.in_winner or reason.in_loser
            for tree, roots in ((why.winner, reason.in_winner), (why.loser, reason.in_loser)):
                for root in roots:
                    labels = [tree[position].label for position in reason.fragment.nodes(tree, root)]
                    assert labels == [node.label for node in reason.fragment.tree]
        frame = why.to_frame()
        assert frame["in_winner"].tolist() == [len(reason.in_winner) for reason in why]
        assert frame["contribution"].tolist() == [reason.contribution for reason in why]
