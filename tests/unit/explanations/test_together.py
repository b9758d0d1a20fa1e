"""Features of the same arcs are summed: the sums add up to the lead, and say which arcs a candidate has."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import espalier as es
from candidate_groups import dependency_groups, groups_of, tagged_groups
from espalier.explanations.together import names_of_arcs, names_of_tags

TREE = es.DependencyTree(["we", "saw", "a", "man", "with", "hats"], ["x"] * 6, [2, 0, 4, 2, 4, 5], ["x"] * 6)
KERNELS: dict[str, tuple[Any, Any]] = {
    "arcs": (es.DependencySubtree(("words", "tags", "relation"), root=True), dependency_groups),
    "tags": (es.Tagging(gap_decay=es.fixed(0)), tagged_groups),
    "tags with gaps": (es.Tagging(), tagged_groups),
    "productions": (es.SubsetTree(), groups_of),
}


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    found = {}
    for name, (kernel, make) in KERNELS.items():
        selector = es.KernelSpaceSelector(kernel, C=0.5, max_order=3, max_passes=2).fit(make(0))
        found[name] = es.FeatureReranker(selector, epochs=2, decay=0.5).fit(make(0), development=make(2))
    return found


@pytest.mark.parametrize(
    ("places", "text"),
    [
        ((1,), "saw → we"),
        ((2,), "ROOT → saw"),
        ((4, 5, 6), "saw → man → with → hats"),
        ((4, 3, 5), "saw → man → a, man → with"),
        ((1, 6), "saw → we, with → hats"),
        ((2, 1, 4), "ROOT → saw → we, saw → man"),
        ((5, 5), "man → with"),
    ],
)
def test_arcs_are_written_from_head_to_modifier(places: Any, text: str) -> None:
    names = names_of_arcs(TREE)
    assert names.text(places) == names.text(places[::-1]) == text
    assert names.key(places) == names.key(places[::-1])
    assert names.key(places) == tuple((token, TREE.heads[token - 1]) for token in sorted(set(places)))


def test_tags_are_written_with_their_words() -> None:
    names = names_of_tags(es.TaggedSequence(["the", "old", "dog"], ["D", "A", "N"]))
    assert names.text((0, 1)) == "D/the A/old" and names.text((0, 2)) == "D/the ... N/dog"


@pytest.mark.parametrize("name", ["arcs", "tags", "tags with gaps"])
def test_sums_are_of_all_occurrences_at_the_same_places(models: dict[str, Any], name: str) -> None:
    reranker, groups = models[name], KERNELS[name][1](1)
    features = reranker.features_
    for group in groups[:4]:
        why = es.explain(reranker, group, n=100_000)
        expected: dict[str, float] = defaultdict(float)
        for candidate, sign in ((why.winner, 1.0), (why.loser, -1.0)):
            names = names_of_arcs(candidate) if name == "arcs" else names_of_tags(candidate)
            locate = features.space.locator(features.atoms, candidate)
            for row, feature in enumerate(features):
                for places in locate(features.path(row)):
                    expected[f"{names.key(places)}"] += sign * feature.weights[0] * 0.5 ** (feature.order - 1)
        values = sorted(value for value in expected.values() if abs(value) > 1e-9)
        assert sorted(own.contribution for own in why.together if abs(own.contribution) > 1e-9) == pytest.approx(values)
        assert sum(own.contribution for own in why.together) == pytest.approx(why.of_trees, abs=1e-9)
        sizes = [abs(own.contribution) for own in why.together]
        assert sizes == sorted(sizes, reverse=True) and why.shown == why.together
        for own in why.together:
            assert own.rest == pytest.approx(0.0, abs=1e-9) and len(own.parts) == own.n_parts
            assert sum(part.contribution for part in own.parts) == pytest.approx(own.contribution)
            assert len(own.in_winner) <= 1 and len(own.in_loser) <= 1 and own.in_winner + own.in_loser
    (first,) = es.explain(reranker, groups[0], n=1).together
    assert len(first.parts) == 1 < first.n_parts and first.rest
    assert first.rest + first.parts[0].contribution == pytest.approx(first.contribution)


def test_what_both_candidates_have_at_the_same_places_cancels(models: dict[str, Any]) -> None:
    right = es.DependencyTree(["n0", "v", "n1"], ["N", "V", "N"], [2, 0, 2], ["subject", "root", "object"])
    group = es.Group([right, replace(right, heads=(2, 0, 1))], gold=right)
    why = es.explain(models["arcs"], group, n=1000)
    texts = {str(own.fragment) for own in why.together}
    assert "v → n1" in texts and "n0 → n1" in texts and "v → n0" not in texts and "ROOT → v" not in texts
    relabelled = es.Group([right, replace(right, relations=["object", "root", "object"])], gold=right)
    both = {str(own.fragment): own for own in es.explain(models["arcs"], relabelled, n=1000).together}
    assert both["v → n0"].in_winner == both["v → n0"].in_loser == ((),)
    small = es.explain(models["arcs"], group, n=1000, max_size=1)
    assert {str(own.fragment) for own in small.together} == {"v → n1", "n0 → n1"}


def test_pages_list_the_largest_features_beneath_their_arcs_and_fold_the_others(models: dict[str, Any]) -> None:
    groups = dependency_groups(1)
    why = es.explain(models["arcs"], groups[0], n=3)
    page = why.to_html()
    first = next(own for own in why.together if own.n_parts > 4)
    assert page.count("<details>") == len(why.together) and "all features of the same arcs. Below it" in page
    row = page[page.index(f"<code>{first.fragment!s}</code>") :]
    shown, folded = row.split("<details>")[:2]
    assert f"{first.n_parts} features</small>" in shown
    for place, own in enumerate(first.parts):
        assert f"<code>{own.fragment!s}</code>" in (shown if place < 2 else folded.split("</details>")[0])
    assert f"{first.n_parts - 3} that are not listed" in folded
    assert f"{first.fragment}: {first.parts[0].fragment}, {first.n_parts - 1} more" in why.to_svg()
    listed = sum(own.contribution for own in why.together)
    assert re.search(rf"the arcs listed below</td><td class=\"n\">{re.escape(f'{listed:+.4g}')}<", page)
    assert len(why.plot().get_yticks()) == 3
    tags = es.explain(models["tags"], tagged_groups(1)[0], n=3)
    assert "all features of the same runs of tags" in tags.to_html()


def test_fragments_are_not_summed(models: dict[str, Any]) -> None:
    why = es.explain(models["productions"], groups_of(1)[0], n=3)
    assert why.together == () and why.shown == why.reasons and "<details>" not in why.to_html()
    assert not np.any([reason.contribution == 0 for reason in why])
