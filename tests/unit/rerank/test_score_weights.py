"""Weights of further scores: where their expected errors are least, summed, and used by a reranker."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.rerank.test_features import GROUPS, HELD, KERNEL, NEW, SELECTED

import espalier as es
from espalier.errors import InputError
from espalier.rerank import FeatureReranker, quality, score_weights, summed_scores
from espalier.selection import KernelSpaceSelector
from espalier.structures import read_groups, write_groups


def with_more(groups, seed=0, noise=1.0):
    """Groups whose further scores know something of the errors: one of them, and one that is noise."""
    rng = np.random.default_rng(seed)
    found = []
    for group in groups:
        matched, gold, _ = quality(group)
        useful = -(gold - matched) + noise * rng.normal(size=len(group))
        found.append(replace(group, more_scores={"useful": useful, "noise": rng.normal(size=len(group))}))
    return found


def expected_errors(groups, weights, scale):
    """The definition, one group after the other: errors, and what weights cost in units of the scores' spread."""
    first = [np.array(own.scores) - own.scores[0] for own in groups]
    unit = {}
    for name in weights:
        others = [np.array(own.more_scores[name]) - own.more_scores[name][0] for own in groups]
        unit[name] = np.concatenate(others).std() / np.concatenate(first).std()
    total = 0.0
    for group in groups:
        value = np.array(group.scores)
        for name, weight in weights.items():
            value = value + weight * np.array(group.more_scores[name])
        share = np.exp(scale * (value - value.max()))
        matched, gold, _ = quality(group)
        total += float((share / share.sum()) @ (gold - matched))
    squares = sum((weight * unit[name]) ** 2 for name, weight in weights.items())
    growth = np.log(scale * np.concatenate(first).std())
    return (total + 0.5 * (squares + growth**2)) / len(groups)


def test_no_weights_near_by_make_fewer_errors_likely():
    groups = with_more(GROUPS + HELD)
    weights = score_weights(groups)
    assert list(weights) == ["useful", "noise"]
    scales = np.exp(np.linspace(-3, 3, 121))
    reached = min(expected_errors(groups, weights, scale) for scale in scales)
    for name in weights:
        for change in (0.9, 1.1):
            other = {**weights, name: weights[name] * change + (0.02 if change > 1 else -0.02)}
            assert min(expected_errors(groups, other, scale) for scale in scales) > reached - 1e-4
    assert reached < min(expected_errors(groups, dict.fromkeys(weights, 0.0), scale) for scale in scales) - 0.05


def test_units_do_not_matter():
    groups = with_more(GROUPS + HELD)
    inches = [
        replace(own, more_scores={name: 1000.0 * np.array(values) for name, values in own.more_scores.items()})
        for own in groups
    ]
    one, other = score_weights(groups), score_weights(inches)
    assert abs(one["useful"]) > 0.1
    assert other == pytest.approx({name: weight / 1000.0 for name, weight in one.items()}, rel=1e-6)
    assert score_weights(groups) == one


def test_groups_without_further_scores_have_no_weights():
    assert score_weights(GROUPS) == {} and summed_scores(GROUPS, {}) == GROUPS


def test_sums_are_the_only_score():
    groups = with_more(GROUPS)
    summed = summed_scores(groups, {"useful": 2.0, "noise": 0.0})
    for own, group in zip(summed, groups, strict=True):
        assert own.scores == pytest.approx(np.array(group.scores) + 2.0 * np.array(group.more_scores["useful"]))
        assert own.more_scores == {} and own.candidates == group.candidates and own.gold == group.gold


def test_groups_with_other_scores_are_refused():
    groups = with_more(GROUPS)
    other = [replace(groups[0], more_scores={}), *groups[1:]]
    with pytest.raises(InputError, match=r"Group 1 has the further scores \['noise', 'useful'\], and group 0 has \[\]"):
        score_weights(other)
    with pytest.raises(InputError, match="Group 0 has no score 'useful', which has a weight; its further scores: none"):
        summed_scores(other, {"useful": 1.0})


@pytest.mark.parametrize("target", ["gold", "best"])
def test_a_reranker_learns_them_and_keeps_them(tmp_path, target):
    groups, held, new = (with_more(own, seed) for seed, own in enumerate((GROUPS, HELD, NEW)))
    model = FeatureReranker(SELECTED, target=target).fit(groups, development=held)
    assert model.score_weights_ == score_weights(groups)
    plain = FeatureReranker(SELECTED, target=target).fit(
        summed_scores(groups, model.score_weights_), development=summed_scores(held, model.score_weights_)
    )
    assert plain.score_weights_ == {}
    expected = plain.decision_function(summed_scores(new, model.score_weights_))
    for found, wanted in zip(model.decision_function(new), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    model.save(tmp_path / "model.espalier")
    loaded = es.load(tmp_path / "model.espalier")
    assert loaded.score_weights_ == model.score_weights_ and loaded.target == target
    assert [own.tolist() for own in loaded.decision_function(new)] == [
        own.tolist() for own in model.decision_function(new)
    ]
    with pytest.raises(InputError, match="Group 0 has no score 'useful'"):
        model.predict(NEW)
    group = max(new, key=len)
    why = es.explain(model, group, winner=0, loser=1)
    for name, weight in model.score_weights_.items():
        own = group.more_scores[name]
        assert why.further_scores[name] == pytest.approx(model.score_weight_ * weight * (own[0] - own[1]))
    assert sum(why.named_scores.values()) == pytest.approx(why.from_score)
    assert "the score 'useful'" in why.summary and "the score &#x27;useful&#x27;" in why.to_html()


def test_scores_that_mislead_on_development_groups_are_left_aside():
    groups = with_more(GROUPS)
    misled = [
        replace(own, more_scores={"useful": [-x for x in own.more_scores["useful"]], "noise": own.more_scores["noise"]})
        for own in with_more(HELD, 1)
    ]
    assert FeatureReranker(SELECTED).fit(groups, development=misled).score_weights_ == {}


def test_a_single_group_gives_small_weights():
    assert abs(score_weights(with_more(GROUPS[:1], noise=0.0))["noise"]) < 1.0


def test_an_unfitted_selector_gets_the_target():
    groups, held = with_more(GROUPS), with_more(HELD, 1)
    lacking = [
        replace(
            own,
            candidates=[c for c in own.candidates if c.heads != own.gold.heads] or own.candidates,
            scores=None,
            more_scores={},
        )
        for own in groups
    ]
    selector = KernelSpaceSelector(KERNEL, C=1.0, max_passes=2)
    plain = [replace(own, more_scores={}) for own in held]
    model = FeatureReranker(selector, target="best").fit(lacking, development=plain)
    by_hand = KernelSpaceSelector(KERNEL, C=1.0, max_passes=2, target="best").fit(lacking)
    again = FeatureReranker(by_hand.features_, target="best").fit(lacking, development=plain)
    assert model.features_.names_of() == again.features_.names_of()
    gold = KernelSpaceSelector(KERNEL, C=1.0, max_passes=2).fit(lacking)
    assert gold.features_.names_of() != by_hand.features_.names_of()


def test_the_best_candidate_is_the_target_where_the_gold_tree_is_missing():
    rng = np.random.default_rng(3)
    groups = []
    for group in GROUPS + HELD:
        errors = quality(group)[1] - quality(group)[0]
        kept = [k for k in range(len(group)) if errors[k] > 0]
        if len(kept) > 1:
            listed = [group.candidates[k] for k in kept]
            groups.append(replace(group, candidates=listed, scores=rng.normal(size=len(kept))))
    model = FeatureReranker(SELECTED, target="best", loss="perceptron", epochs=8).fit(groups, development=groups)
    best = [np.min(quality(group)[1] - quality(group)[0]) for group in groups]
    chosen = [
        (quality(group)[1] - quality(group)[0])[k]
        for group, k in zip(groups, model.chosen(groups).tolist(), strict=True)
    ]
    first = [(quality(group)[1] - quality(group)[0])[group.best] for group in groups]
    assert sum(best) <= sum(chosen) < sum(first)
    with pytest.raises(ValueError, match="target"):
        FeatureReranker(SELECTED, target="gilded").fit(groups)


def test_gold_trees_that_were_added_choose_no_weights():
    """An added gold tree has poor scores, from which a learner would conclude that poor scores are right."""
    groups = with_more([own for own in GROUPS + HELD if len(own) > 2], noise=0.1)
    added = []
    for group in groups:
        more = {name: [*own, -9.0] for name, own in group.more_scores.items()}
        scores = [*group.scores, min(group.scores) - 5.0]
        candidates = [*group.candidates, group.gold]
        added.append(replace(group, candidates=candidates, scores=scores, more_scores=more, gold_added=True))
    assert [own.as_proposed() for own in added] == groups
    options = {"epochs": 1, "random_state": 3}
    learned = FeatureReranker(SELECTED, **options).fit(added)
    assert learned.score_weights_["useful"] > 0
    told = FeatureReranker(SELECTED, **options).fit(added, development=added)
    same = FeatureReranker(SELECTED, **options).fit(added, development=groups)
    assert told.score_weights_ == same.score_weights_ and told.score_weight_ == same.score_weight_
    misled = score_weights([replace(own, gold_added=False) for own in added])
    assert misled["useful"] < 0
    perceptrons = [es.VotedPerceptron(KERNEL, epochs=1).fit(added, development=own) for own in (added, groups)]
    assert perceptrons[0].score_weight_ == perceptrons[1].score_weight_


def test_added_gold_trees_are_marked_in_files(tmp_path):
    group = replace(GROUPS[0], candidates=[*GROUPS[0].candidates, GROUPS[0].gold], scores=None, gold_added=True)
    write_groups([group, GROUPS[1]], tmp_path / "lists.jsonl")
    assert read_groups(tmp_path / "lists.jsonl") == [group, GROUPS[1]]
    text = (tmp_path / "lists.jsonl").read_text().replace('"gold_added": true', '"gold_added": 3')
    (tmp_path / "wrong.jsonl").write_text(text)
    with pytest.raises(InputError, match=r"line 1: gold_added must be True or False, got 3"):
        read_groups(tmp_path / "wrong.jsonl")
    with pytest.raises(InputError, match="gold_added needs a gold tree"):
        replace(group, gold=None)
