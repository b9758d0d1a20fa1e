"""The perceptron against one written out step by step, and on groups of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from tests.reference.perceptron import perceptrons

import espalier as es
from candidate_groups import groups_of
from espalier.jobs.schedule import Schedule
from espalier.rerank import VotedPerceptron, quality
from espalier.rerank.chooser import SCORE_SHARES
from espalier.rerank.combination import GrowingSum, growing_sum
from espalier.rerank.perceptron import Course
from espalier.rerank.quality import chosen_f1
from espalier.rerank.training import TrainingSet
from espalier.structures.group import Group

KERNEL = es.SubsetTree(0.5)


def by_hand(groups, kernel, epochs, vote, updates):
    """The choices for the groups, and values, by every perceptron on the way."""
    data = TrainingSet.of(groups, "gold", None, np.random.default_rng(0))
    every = list(perceptrons(kernel(data.items), data.start.tolist(), epochs, updates))
    cross = kernel([t for g in groups for t in g.candidates], data.items)
    chosen, found, at = [], [], 0
    for group in groups:
        rows = cross[at : at + len(group)]
        at += len(group)
        if vote == "vote":
            votes = np.bincount([int((rows @ one).argmax()) for one in every], minlength=len(group))
            found.append(votes)
        else:
            found.append(rows @ (np.mean(every, axis=0) if vote == "average" else every[-1]))
        chosen.append(int(found[-1].argmax()))
    return chosen, found


@pytest.mark.parametrize("vote", ["average", "last", "vote"])
@pytest.mark.parametrize("updates", ["all", "best"])
@pytest.mark.parametrize("kernel", [KERNEL, es.Normalized(es.SubsetTree(0.3)), es.PartialTree(0.4, 0.4)])
@pytest.mark.parametrize("epochs", [1, 3])
def test_choices_are_those_of_the_definition(vote, updates, kernel, epochs):
    groups = groups_of(0)
    options = {"epochs": epochs, "sample": None, "vote": vote, "updates": updates, "score_weight": 0.0}
    model = VotedPerceptron(kernel, **options).fit(groups)
    chosen, values = by_hand(groups, kernel, epochs, vote, updates)
    assert model.chosen(groups).tolist() == chosen
    np.testing.assert_allclose(np.concatenate(model.decision_function(groups)), np.concatenate(values), atol=1e-9)
    assert len(model.n_mistakes_) == epochs


def test_each_rival_is_scored_with_the_sum_that_the_one_before_it_has_changed():
    # The first rival ties with the target. Once it is taken away the second, which is like it, scores lower.
    right, wrong = "(S (N a) (V b))", ["(S (X (N a)) (V b))", "(S (X (N a)) (W (V b)))", "(T (N a) (V b))"]
    model = VotedPerceptron(KERNEL, updates="all", vote="last", score_weight=0.0).fit([Group(wrong, gold=right)])
    assert [str(item) for item in model.support_] == [right, wrong[0]]
    assert model.coefficients_.tolist() == [1.0, -1.0]
    # Rivals of another kind each win in their turn.
    other = [Group(["(S (X (N a)) (V b))", "(S (N a) (W (V b)))", "(U (N a) (V b))"], gold=right)]
    every = VotedPerceptron(es.Subtree(1.0), updates="all", vote="last", score_weight=0.0).fit(other)
    assert every.coefficients_.sum() == 0.0 and every.n_mistakes_ == [1]


@pytest.mark.parametrize("updates", ["all", "best"])
def test_blocks_of_any_size_make_the_same_updates(updates):
    data = TrainingSet.of(groups_of(8, 30), "gold", None, np.random.default_rng(0))
    found = []
    for block in (None, 1, 17):
        course = Course(data, 2, updates)
        model = growing_sum(es.PartialTree(0.4, 0.4), data.items, block=block)
        assert [course.epoch(model), course.epoch(model)][0] > 0
        found.append((course.updates, course.lives))
    compressed = Course(data, 2, updates)
    assert found[0] == found[1] == found[2]
    model = growing_sum(KERNEL, data.items)
    support = GrowingSum(KERNEL, data.items, block=17)
    listed = Course(data, 2, updates)
    for _ in range(2):
        assert compressed.epoch(model) == listed.epoch(support)
    assert compressed.updates == listed.updates


def test_it_learns_what_is_there_to_learn():
    train, test = groups_of(1, 40), groups_of(2, 40)
    model = VotedPerceptron(KERNEL, epochs=2, random_state=0).fit(train)
    right = [group.candidates[k] == group.gold for group, k in zip(test, model.chosen(test), strict=True)]
    by_score = [group.candidates[group.best] == group.gold for group in test]
    assert np.mean(right) > 0.9 > np.mean(by_score)


def test_the_scores_of_the_parser_take_part():
    groups = groups_of(3)
    strong = VotedPerceptron(KERNEL, score_weight=1e9).fit(groups)
    assert strong.chosen(groups).tolist() == [group.best for group in groups]
    # Where scores always know best, a chosen weight finds out.
    telling = [Group(g.candidates, [float(t == g.gold) for t in g.candidates], g.gold) for g in groups]
    model = VotedPerceptron(KERNEL, random_state=0).fit(telling[:3], development=telling)
    assert all(g.candidates[k] == g.gold for g, k in zip(telling, model.chosen(telling), strict=True))


@pytest.mark.parametrize("learner", [VotedPerceptron, es.RankingSVM, es.GPPreference])
def test_development_groups_of_one_candidate_give_the_score_no_weight(learner):
    groups = groups_of(3)
    single = [Group([group.gold], [-1.0], group.gold) for group in groups]
    model = learner(KERNEL, score_weight="chosen", random_state=0)
    with pytest.warns(UserWarning, match="Every development group has only one candidate.* the weight is 0"):
        assert model.fit(groups, development=single[:5]).score_weight_ == 0.0
    # Beside others they change nothing.
    some = clone(model).fit(groups[:15], development=groups[15:]).score_weight_
    assert clone(model).fit(groups[:15], development=[*single, *groups[15:]]).score_weight_ == some


@pytest.mark.parametrize("learner", [VotedPerceptron, es.RankingSVM, es.GPPreference])
def test_development_groups_of_equally_good_candidates_give_the_score_no_weight(learner):
    groups = groups_of(3)
    equal = [Group([group.gold, group.gold], [-1.0, -9.0], group.gold) for group in groups]
    model = learner(KERNEL, score_weight="chosen", random_state=0)
    with pytest.warns(UserWarning, match="candidates that are all equally good, .* the weight is 0"):
        assert model.fit(groups, development=equal[:5]).score_weight_ == 0.0
    # Beside others they change nothing, though their scores are far apart.
    some = clone(model).fit(groups[:15], development=groups[15:]).score_weight_
    assert clone(model).fit(groups[:15], development=[*equal, *groups[15:]]).score_weight_ == some


def test_targets_that_are_no_candidates():
    groups = [Group([c for c in g.candidates if c != g.gold], gold=g.gold) for g in groups_of(4)]
    added = VotedPerceptron(KERNEL, score_weight=0.0).fit(groups)
    best = VotedPerceptron(KERNEL, target="best", score_weight=0.0).fit(groups)
    for model in (added, best):
        assert len(model.predict(groups)) == len(groups)
    # The deep tree has all constituents of the gold tree, and one more.
    assert all("(X " in str(g.candidates[k]) for g, k in zip(groups, best.chosen(groups), strict=True))


def test_groups_of_every_kind():
    groups = groups_of(5)
    model = VotedPerceptron(KERNEL, score_weight=0.0).fit(groups)
    alone = Group(["(S (N unseen))"])
    assert model.chosen([alone]).tolist() == [0]
    assert model.chosen([]).tolist() == []
    tied = Group([groups[0].candidates[0]] * 3)
    assert model.chosen([tied]).tolist() == [0]
    with pytest.raises(es.InputError, match="Group 1 has no gold tree to learn from"):
        VotedPerceptron(KERNEL, score_weight=0.0).fit([groups[0], alone])
    with pytest.raises(es.InputError, match="there is nothing to learn"):
        VotedPerceptron(KERNEL, score_weight=0.0).fit([Group(["(S (N a))"], gold="(S (N a))")])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "epochs must be a positive integer"),
        ({"sample": 0}, "sample must be a positive integer"),
        ({"updates": "some"}, "updates must be 'all' or 'best'"),
        ({"vote": "all"}, "vote must be 'average', 'last' or 'vote'"),
        ({"target": "oracle"}, "target must be 'gold' or 'best'"),
    ],
)
def test_bad_settings(options, message):
    with pytest.raises(ValueError, match=message):
        VotedPerceptron(KERNEL, **options).fit(groups_of(0))


@pytest.mark.parametrize("kernel", [es.SubsetTree(0.5), es.PartialTree(0.4, 0.4)])
@pytest.mark.parametrize("learner", [VotedPerceptron, es.RankingSVM])
def test_threads_are_those_that_were_given(learner, kernel, monkeypatch):
    seen = set()
    schedule_of = Schedule.of
    monkeypatch.setattr(Schedule, "of", lambda n=None, *rest, **more: seen.add(n) or schedule_of(n, *rest, **more))
    groups = groups_of(0, 12)
    one = learner(kernel, random_state=0, n_threads=1).fit(groups).decision_function(groups)
    assert seen == {1}
    two = learner(kernel, random_state=0, n_threads=2).fit(groups).decision_function(groups)
    assert seen <= {1, 2}
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def test_values_whose_squares_overflow_have_a_weight_beside_them():
    right = f"(S {' '.join(f'(NP (N w{k}))' for k in range(300))})"
    wrong = f"(S {' '.join(f'(NP (X (N w{k})))' for k in range(300))})"
    groups = [Group([wrong, right], [-1.0, -2.0], gold=right)] * 6
    model = VotedPerceptron(es.SubsetTree(0.9), random_state=0).fit(groups)
    assert np.isfinite(model.score_weight_) and model.chosen(groups).tolist() == [1] * 6
    assert np.abs(model.decision_function(groups[:1])[0]).max() > 1e150


def test_draws_are_repeated_by_a_seed_and_progress_is_told():
    groups = groups_of(6, 70)
    told = []
    model = VotedPerceptron(KERNEL, sample=2, random_state=3, score_weight=0.0, progress=told.append)
    first, again = model.fit(groups).decision_function(groups), clone(model).fit(groups).decision_function(groups)
    told = [float(done) for done in told[: len(told) // 2]]
    assert all(np.array_equal(x, y) for x, y in zip(first, again, strict=True))
    assert told == sorted(told) and len(told) > 1 and told[-1] == 1.0


@pytest.mark.parametrize("seed", range(4))
def test_voters_have_the_weight_with_which_they_choose_best_together(seed):
    # What is gold is drawn: perceptrons on the way then differ in what they choose.
    rng = np.random.default_rng(seed)
    drawn = [Group(own.candidates, own.scores, own.candidates[rng.integers(4)]) for own in groups_of(seed, 60)]
    groups, held = drawn[:30], drawn[30:]
    model = VotedPerceptron(es.SubsetTree(0.5), vote="vote", random_state=0).fit(groups, development=held)
    reached = {}
    weight = model.score_weight_
    unit = VotedPerceptron(es.SubsetTree(0.5), vote="last", score_weight=0.0, random_state=0).fit(groups)
    spread = np.mean([own.std() for own in unit.decision_function(held)])
    spread /= np.mean([np.std(group.scores) for group in held])
    for share in SCORE_SHARES:
        model.score_weight_ = share * spread
        reached[share * spread] = chosen_f1([quality(group) for group in held], model.chosen(held).tolist())
    assert weight == pytest.approx(max(reached, key=reached.__getitem__))


def test_the_fifth_that_chooses_the_weight_holds_no_sentence_that_was_learned_from(monkeypatch):
    groups = [
        es.Group([f"(S (A a{k}) (B b))", f"(S (A a{k}) (C b))"], [-1.0, -2.0], gold=f"(S (A a{k}) (B b))")
        for k in range(30)
    ]
    seen = {}
    real = TrainingSet.of

    def learned_from(groups, *rest):
        seen["learned"] = [tuple(group.words) for group in groups]
        return real(groups, *rest)

    def chosen_by(self, groups):
        seen["chosen"] = [tuple(group.words) for group in groups]
        return 1.0

    monkeypatch.setattr(TrainingSet, "of", staticmethod(learned_from))
    monkeypatch.setattr(VotedPerceptron, "_chosen_weight", chosen_by)
    for repeated, n_kept in ((groups * 2, 12), (groups, 6)):
        VotedPerceptron(es.SubsetTree(), score_weight="chosen", random_state=0).fit(repeated)
        assert len(seen["chosen"]) == n_kept and len(seen["learned"]) == len(repeated) - n_kept
        assert not set(seen["chosen"]) & set(seen["learned"])


@pytest.mark.parametrize("vote", ["average", "last", "vote"])
@pytest.mark.parametrize("updates", ["all", "best"])
def test_interrupted_perceptron_is_one_that_saw_fewer_groups(vote, updates):
    groups = groups_of(6, 64 + 9)
    options = {"updates": updates, "vote": vote, "score_weight": 0.0, "random_state": 3}

    def stop(done):
        raise KeyboardInterrupt

    cut = VotedPerceptron(KERNEL, progress=stop, **options)
    with pytest.raises(KeyboardInterrupt):
        cut.fit(groups)  # after 64 groups
    whole = VotedPerceptron(KERNEL, **options).fit(groups[:64])
    for a, b in zip(cut.decision_function(groups), whole.decision_function(groups), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_model_is_kept_if_the_last_report_is_interrupted():
    def stop(done):
        if done.fraction == 1.0:
            raise KeyboardInterrupt

    groups = groups_of(6, 9)
    model = VotedPerceptron(KERNEL, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(groups)
    assert len(model.chosen(groups)) == len(groups)
