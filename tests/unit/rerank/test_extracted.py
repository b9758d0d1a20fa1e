"""Features of groups within a budget: what is learned and chosen has the same bits, whatever the budget is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import espalier as es
from candidate_groups import dependency_groups, groups_of
from espalier.errors import MemoryBudgetError
from espalier.jobs.schedule import Schedule
from espalier.rerank.extracted import ExtractedGroups
from espalier.rerank.listed import ListedGroups
from espalier.spaces.selected import SelectedFeatures

ARCS = es.DependencySubtree(("words", "tags", "head tag, word"), root=True)
CASES: dict[str, tuple[Any, Any]] = {"arcs": (ARCS, dependency_groups), "productions": (es.SubsetTree(), groups_of)}


@pytest.fixture(scope="module")
def selected() -> dict[str, Any]:
    return {
        name: es.KernelSpaceSelector(kernel, C=0.5, max_order=3, max_passes=2).fit(make(0, 60)).features_
        for name, (kernel, make) in CASES.items()
    }


def extractions(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool, int]]:
    """By extraction: how many groups, whether all were kept, and the bytes of what was kept."""
    done: list[tuple[int, bool, int]] = []
    real = SelectedFeatures.extracted

    def noted(*given: Any, **named: Any) -> Any:
        found = real(*given, **named)
        done.append((len(found), found.is_whole, int(found.n_bytes.sum())))
        return found

    monkeypatch.setattr(SelectedFeatures, "extracted", noted)
    return done


@pytest.mark.parametrize("loss", ["perceptron", "softmax", "risk"])
@pytest.mark.parametrize("name", CASES)
def test_what_is_learned_and_chosen_does_not_depend_on_the_memory(
    selected: dict[str, Any], monkeypatch: pytest.MonkeyPatch, name: str, loss: Any
) -> None:
    groups, new = CASES[name][1](0, 60), CASES[name][1](1)
    whole = es.FeatureReranker(selected[name], loss=loss, l1=1e-4, epochs=3).fit(groups, development=new)
    expected = whole.decision_function(new)
    done = extractions(monkeypatch)
    cut = es.FeatureReranker(selected[name], loss=loss, l1=1e-4, epochs=3, memory=40_000).fit(groups, development=new)
    values = cut.decision_function(new)
    assert done[0][:2] == (len(new), False) and done[1][:2] == (60, False)
    kept = [own for own in done[2:] if own[1]]
    assert all(n_bytes <= 40_000 for _, _, n_bytes in kept)
    assert sum(n for n, _, _ in kept) == 3 * (60 + len(new)) + len(new)  # of every epoch, and of the choice
    assert list(cut.features_) == list(whole.features_) and len(cut.features_) > 0
    assert (cut.n_mistakes_, cut.epoch_, cut.score_weight_) == (whole.n_mistakes_, whole.epoch_, whole.score_weight_)
    for own, other in zip(values, expected, strict=True):
        np.testing.assert_array_equal(own, other)


def test_a_group_that_exceeds_the_memory_alone_is_an_error_that_names_enough(selected: dict[str, Any]) -> None:
    groups = dependency_groups(0, 60)
    with pytest.raises(
        MemoryBudgetError, match=r"single group needs .*but 750 bytes of the budget, memory, are left .* memory=\d+ or"
    ) as caught:
        es.FeatureReranker(selected["arcs"], memory=3000).fit(groups)
    enough = int(str(caught.value).split("memory=")[1].split()[0])
    assert es.FeatureReranker(selected["arcs"], memory=enough).fit(groups).epoch_ > 0


def test_no_more_is_held_than_the_memory(selected: dict[str, Any]) -> None:
    listed = ListedGroups.of(dependency_groups(0, 60), "errors")
    features = selected["arcs"]
    own = ExtractedGroups(features, listed, 1.0, Schedule.of(2, "1 GB"))
    graphs = features.space.graphs(listed.inputs, listed.bounds, features.atoms, Schedule.of(1)).n_bytes
    enough = own.n_bytes + graphs
    assert ExtractedGroups(features, listed, 1.0, Schedule.of(2, enough)).n_bytes == own.n_bytes
    less = ExtractedGroups(features, listed, 1.0, Schedule.of(2, enough - 1))
    assert less.n_bytes == enough - 1 and less.n_features == own.n_features and len(less) == len(own)


def test_parts_report_progress_that_grows(selected: dict[str, Any]) -> None:
    told: list[float] = []
    es.FeatureReranker(selected["arcs"], memory=40_000, progress=lambda done: told.append(float(done))).fit(
        dependency_groups(0, 60)
    )
    assert told == sorted(told) and told[-1] == 1.0
