"""The reranker of features against its slow twin, and what is chosen on development groups."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.reference.feature_spaces import atoms, dependency_order, dependency_subtrees

from candidate_groups import dependency_groups, groups_of, tagged_groups
from espalier.errors import InputError
from espalier.jobs.schedule import Schedule
from espalier.kernels import DependencySubtree, SubsetTree, Tagging
from espalier.kernels.inputs import Inputs
from espalier.rerank import FeatureReranker, Reranker, quality
from espalier.rerank.chooser import SCORE_SHARES, spread
from espalier.rerank.quality import alike, chosen_f1
from espalier.selection import KernelSpaceSelector
from espalier.structures import DependencyTree, Group
from mined_problems import TEMPLATES, arc_text, candidate_trees
from reference.feature_ranking import Ranked, RankedGroup, learn, valued

MAX_ORDER = 2
KERNEL = DependencySubtree(features=TEMPLATES)


def arc_groups(seed: int, n: int = 20) -> list[Group]:
    """Sentences with any arcs. The gold tree is the one in which most words hang on the word before."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < n:
        drawn = candidate_trees(rng, int(rng.integers(1, 6)))
        near = [sum(head == k for k, head in enumerate(own.heads)) for own in drawn]
        if len(drawn[0]) > 1:
            found.append(Group(drawn, rng.normal(size=len(drawn)), gold=drawn[int(np.argmax(near))]))
    return found


GROUPS, HELD, NEW = arc_groups(0), arc_groups(1, 15), arc_groups(2, 15)
SELECTED = KernelSpaceSelector(KERNEL, C=1.0, max_order=MAX_ORDER, max_passes=10).fit(GROUPS).features_


def occurrences(tree: DependencyTree) -> set[Any]:
    """The selected features of a tree, each with the arcs at which it occurs."""
    known = set(SELECTED.names_of())

    def labelled(subtree: Any) -> list[Any]:
        return list(product(*(product(atoms(tree, k, TEMPLATES), labelled(below)) for k, below in subtree)))

    def arcs(subtree: Any) -> list[tuple[int, int]]:
        return sorted(arc for k, below in subtree for arc in [(tree.heads[k - 1], k), *arcs(below)])

    found = set()
    for subtree in dependency_subtrees(tree, root=False):
        if dependency_order(subtree) <= MAX_ORDER:
            place = tuple(arcs(subtree))
            found |= {(place, text) for text in map(arc_text, labelled(subtree)) if text in known}
    return found


def ranked(groups: Sequence[Group], cost: str = "errors", score_weight: float = 1.0) -> list[RankedGroup]:
    """What the slow twin reads."""
    out = []
    for group in groups:
        same = [alike(own, group.gold) for own in group.candidates]
        matched, gold, _ = quality(group)
        errors = gold - matched if cost == "errors" else np.ones(len(group))
        costs = np.where(same, 0.0, errors).tolist()
        base = [score_weight * score for score in group.scores or ()]
        out.append(RankedGroup([occurrences(own) for own in group.candidates], same.index(True), base, costs))
    return out


ORDERS = dict(zip(SELECTED.names_of(), SELECTED.order.tolist(), strict=True))


def twin(groups: list[RankedGroup], n_epochs: int, seed: int = 0, **options: Any) -> Ranked:
    rng = np.random.default_rng(seed)
    # A step is divided by the mean number of occurrences that tell candidates apart.
    apart = [len(set().union(*own.candidates)) - len(set.intersection(*map(set, own.candidates))) for own in groups]
    options["step"] *= len(groups) / max(sum(apart), len(groups))
    return learn(groups, [rng.permutation(len(groups)) for _ in range(n_epochs)], ORDERS.__getitem__, **options)


def values_of(groups: Sequence[Group], weights: dict[Any, float], decay: float) -> list[Any]:
    """The values of all candidates without scores, up to a constant of the group."""
    found = []
    for group in ranked(groups):
        own = valued(group, ORDERS.__getitem__, decay)
        found.append(np.array([sum(weights.get(f, 0.0) * v for f, v in listed.items()) for listed in own]))
    return found


@pytest.mark.parametrize("loss", ["perceptron", "softmax", "risk"])
@pytest.mark.parametrize(
    "options",
    [
        {"margin": 1.0, "step": 10.0},
        {"margin": 0.0, "step": 5.0, "decay": 0.5, "learning_score_weight": 0.0},
        {"step": 2.5, "l1": 0.01, "l2": 0.1, "cost": "zero-one", "learning_score_weight": 0.5, "random_state": 3},
    ],
    ids=["plain", "no score", "penalties"],
)
def test_weights_and_choices_are_those_of_the_definition(loss: Any, options: dict[str, Any]) -> None:
    given = {"decay": 1.0, **options}
    model = FeatureReranker(SELECTED, loss=loss, epochs=3, score_weight=0.5, **given)
    own = {name: given[name] for name in ("margin", "step", "l1", "l2", "decay") if name in given}
    own |= {"margin": 0.0} if loss == "risk" else {}
    groups = ranked(GROUPS, given.get("cost", "errors"), model.learning_score_weight)
    model.fit(GROUPS, development=HELD)
    expected = twin(groups, model.epoch_, given.get("random_state", 0), loss=loss, **own)
    weights = {feature.text: feature.weights[0] for feature in model.features_}
    kept = {text: weight for text, weight in expected.averaged.items() if abs(weight) > 1e-7}
    assert {text: weights.get(text, 0.0) for text in kept | weights} == pytest.approx(
        {text: expected.averaged.get(text, 0.0) for text in kept | weights}, rel=1e-5, abs=1e-6
    )
    assert model.n_mistakes_ == twin(groups, 3, given.get("random_state", 0), loss=loss, **own).n_mistakes
    for found, listed, group in zip(
        model.decision_function(NEW), values_of(NEW, expected.averaged, given["decay"]), NEW, strict=True
    ):
        full = listed + 0.5 * np.array(group.scores)
        np.testing.assert_allclose(found - found[0], full - full[0], rtol=1e-5, atol=1e-5)
    assert model.chosen(NEW).tolist() == [int(own.argmax()) for own in model.decision_function(NEW)]


def test_occurrences_count_as_often_as_they_are_not_shared() -> None:
    words, tags = ["a", "b", "b", "b"], ["N", "V", "V", "V"]
    three = DependencyTree(words, tags, [0, 1, 1, 1], [""] * 4)
    two = replace(three, heads=[0, 1, 1, 3])
    selected = KernelSpaceSelector(DependencySubtree(features=("tags",)), C=0.0, max_order=1, max_passes=1)
    features = selected.fit([Group([two, three], gold=three)] * 2).features_
    assert features.names_of() == ["[tags: N V]", "[tags: V V]"]
    found = features.extracted(Inputs.of([two, three]), np.array([0, 2]), Schedule.of(1))
    # Two arcs from N to V are shared; a third one, and one between verbs, tell the candidates apart.
    assert found.n_features == 2
    assert found.scores(np.array([1.0, 10.0], np.float32), 1).tolist() == [10.0, 1.0]


def test_epoch_and_weight_of_the_score_are_the_best_on_development_groups() -> None:
    options: dict[str, Any] = {"loss": "softmax", "step": 10.0, "margin": 1.0, "decay": 0.5}
    counts = [quality(group) for group in HELD]
    best: tuple[float, int, float] = (-1.0, 0, 0.0)
    for epoch in (1, 2, 3, 4):
        values = values_of(HELD, twin(ranked(GROUPS, score_weight=3.0), epoch, **options).averaged, 0.5)
        scores = [np.array(group.scores) for group in HELD]
        for share in SCORE_SHARES:
            weight = share * spread(values) / spread(scores)
            chosen = [int((own + weight * score).argmax()) for own, score in zip(values, scores, strict=True)]
            if (reached := chosen_f1(counts, chosen)) > best[0]:
                best = (reached, epoch, weight)
    model = FeatureReranker(SELECTED, epochs=4, **options).fit(GROUPS, development=HELD)
    assert (model.score(HELD) / 100, model.epoch_) == pytest.approx(best[:2])
    assert model.score_weight_ == pytest.approx(best[2], rel=1e-5)
    assert len(model.n_mistakes_) == 4 and model.keep_ == "survivors"


def test_of_equally_good_epochs_and_features_the_first_are_kept() -> None:
    single = [Group([own.gold], gold=own.gold) for own in HELD]
    model = FeatureReranker(SELECTED, keep="chosen", epochs=3).fit(GROUPS, development=single)
    assert (model.epoch_, model.keep_) == (1, "survivors")


def test_features_are_kept_by_what_is_better_on_development_groups() -> None:
    options: dict[str, Any] = {"step": 10.0, "epochs": 2, "score_weight": 0.0}
    by = {}
    for keep in ("survivors", "weighted", "chosen"):
        by[keep] = FeatureReranker(SELECTED, keep=keep, **options).fit(GROUPS, development=HELD)
    weighted = set(SELECTED.weighted().names_of())
    assert {own.text for own in by["weighted"].features_} <= weighted < set(SELECTED.names_of())
    assert by["chosen"].score(HELD) == max(by["survivors"].score(HELD), by["weighted"].score(HELD))
    assert by["chosen"].keep_ == max(("survivors", "weighted"), key=lambda keep: by[keep].score(HELD))
    assert by["chosen"].n_mistakes_ == by["survivors"].n_mistakes_ + by["weighted"].n_mistakes_
    # Features whose weights are all 0 leave nothing to choose.
    unweighted = SELECTED.with_weights(np.zeros_like(SELECTED.weights), SELECTED.names)
    chosen = FeatureReranker(unweighted, keep="chosen", **options).fit(GROUPS, development=HELD)
    assert chosen.keep_ == "survivors" and len(chosen.n_mistakes_) == 2
    with pytest.raises(InputError, match="none has a weight, and keep is 'weighted'"):
        FeatureReranker(unweighted, keep="weighted").fit(GROUPS)


def test_without_development_groups_the_last_epoch_and_the_score_as_it_was_learned_beside_count() -> None:
    few = GROUPS[:4]
    model = FeatureReranker(SELECTED, keep="chosen", epochs=3, learning_score_weight=0.25).fit(few)
    assert (model.epoch_, model.keep_, model.score_weight_) == (3, "survivors", 0.25)
    assert FeatureReranker(SELECTED, score_weight=2).fit(few).score_weight_ == 2.0
    # With more groups a fifth is held out, and repeated sentences stay together.
    held = FeatureReranker(SELECTED).fit(GROUPS)
    assert held.trained_on()["n_groups"] == 16
    with pytest.raises(InputError, match="There are no development groups to choose by"):
        model.fit(GROUPS, development=[])


CASES = [
    (dependency_groups, KERNEL),
    (tagged_groups, Tagging()),
    (groups_of, SubsetTree()),
]


@functools.cache
def selected_by(make: Any, kernel: Any) -> KernelSpaceSelector:
    return KernelSpaceSelector(kernel, C=1.0, max_passes=10).fit(make(0))


@pytest.mark.parametrize("loss", ["perceptron", "softmax", "risk"])
@pytest.mark.parametrize(("make", "kernel"), CASES, ids=["arcs", "tags", "trees"])
def test_every_kind_of_candidate_is_chosen(make: Any, kernel: Any, loss: Any) -> None:
    selector = selected_by(make, kernel)
    model = FeatureReranker(selector, loss=loss, epochs=8, margin=0.0).fit(make(1), development=make(2))
    assert model.score(make(3)) > 97
    assert model.predict(make(3)) == [g.candidates[k] for g, k in zip(make(3), model.chosen(make(3)), strict=True)]
    wrapped = Reranker(model).fit(make(1), development=make(2))
    assert wrapped.score(make(3)) == model.score(make(3))


def test_threads_change_nothing_and_reports_grow() -> None:
    told: list[float] = []
    one = FeatureReranker(SELECTED, n_threads=1, progress=lambda done: told.append(done.fraction)).fit(GROUPS)
    two = FeatureReranker(SELECTED, n_threads=2).fit(GROUPS)
    for own, other in zip(one.decision_function(NEW), two.decision_function(NEW), strict=True):
        np.testing.assert_array_equal(own, other)
    assert told == sorted(told) and 1.0 in told
