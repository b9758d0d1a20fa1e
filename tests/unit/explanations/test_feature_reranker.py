"""Selected features as reasons: they add up to the lead, they are where they are said to be, and they are drawn."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import espalier as es
from candidate_groups import dependency_groups, groups_of, tagged_groups
from espalier.errors import InputError
from espalier.explanations.comparison_drawing import LOSER, WINNER
from espalier.explanations.page import SPLITS
from espalier.jobs.schedule import Schedule
from espalier.kernels import Constant, Power
from espalier.kernels.inputs import Inputs
from espalier.structures.palette import AGAINST
from reference.feature_spaces import TABLE_1, dependency_occurrences

KERNELS = {
    "arcs": (
        es.DependencySubtree(("words", "tags", "head tag, between tag, tag, length, direction")),
        dependency_groups,
    ),
    "arcs with ROOT": (es.DependencySubtree(("tags", "head tag -1, tag +1", "relation"), root=True), dependency_groups),
    "sets of arcs": (
        Power(Constant(1.0) + es.DependencySubtree(("words", "tags", "relation"), max_arcs=1, root=True), 3),
        dependency_groups,
    ),
    "tags": (es.Tagging(0.6, 0.7), tagged_groups),
    "tags with gaps": (es.Tagging(0.6, 0.7, gap_decay=0.5), tagged_groups),
    "productions": (es.SubsetTree(0.4), groups_of),
}


def fitted(name):
    kernel, make = KERNELS[name]
    selector = es.KernelSpaceSelector(kernel, C=0.5, max_order=3, tolerance=0.0, max_passes=3).fit(make(0))
    reranker = es.FeatureReranker(selector, decay=0.7, epochs=2, score_weight=0.25).fit(make(0), development=make(2))
    return selector, reranker, make(1)


@pytest.fixture(scope="module")
def models():
    return {name: fitted(name) for name in KERNELS}


@pytest.mark.parametrize("name", KERNELS)
def test_features_and_shares_add_up_to_the_lead(models, name):
    _, reranker, groups = models[name]
    for group in groups[:4]:
        values = reranker.decision_function([group])[0]
        size = np.abs(values).max() + np.abs(group.scores).max()
        for winner in range(len(group)):
            loser = (winner + 1) % len(group)
            why = es.explain(reranker, group, winner=winner, loser=loser, n=100_000)
            lead = pytest.approx(values[winner] - values[loser], rel=1e-6, abs=1e-6 * size)
            assert why.value == lead and why.from_score + why.of_trees == pytest.approx(why.value, rel=1e-12)
            assert why.from_score + sum(reason.contribution for reason in why) == lead
            assert why.values[0] - why.values[1] == lead and why.elsewhere == 0.0
            assert why.from_score == pytest.approx(0.25 * (group.scores[winner] - group.scores[loser]))
            for own in why.trees:
                assert own.total == pytest.approx(own.shares.sum()) and len(own.shares) == own.tree.size
            assert not why.is_of_words or sum(s for _, s in why.by_word()) == pytest.approx(why.of_trees, abs=1e-12)
            effects = [abs(reason.effect) for reason in why]
            assert effects == sorted(effects, reverse=True) and all(effects)


@pytest.mark.parametrize("name", KERNELS)
def test_a_feature_is_located_as_often_as_the_core_counts_it(models, name):
    selector, _, groups = models[name]
    features = selector.features_
    for candidate in [own for group in groups[:3] for own in group.candidates]:
        locate = features.space.locator(features.atoms, candidate)
        found = [len(locate(features.path(row))) for row in range(len(features))]
        counts = features.matrix(Inputs.of([candidate]), Schedule.of(1), counts=True).toarray()[0]
        assert found == counts.tolist() and max(found) > 0


def test_a_reranker_around_a_feature_reranker_is_explained_alike(models):
    _, model, groups = models["arcs"]
    around = es.Reranker.around(model)
    assert list(es.explain(around, groups[0])) == list(es.explain(model, groups[0]))
    assert es.explain(around).to_html() == es.explain(model).to_html()


def test_reasons_have_the_weights_of_the_model_and_count_by_order(models):
    _, reranker, groups = models["arcs"]
    features = reranker.features_
    known = {feature.text: feature for feature in features}
    why = es.explain(reranker, groups[0], n=50)
    for reason in why:
        own = known[str(reason.fragment)]
        more = len(reason.in_winner) - len(reason.in_loser)
        assert reason.weight == own.weights[0] and reason.score == "choice"
        assert reason.contribution == pytest.approx(own.weights[0] * 0.7 ** (own.order - 1) * more)
    assert {known[str(reason.fragment)].order for reason in why} > {1}
    small = es.explain(reranker, groups[0], n=50, max_size=1)
    assert {known[str(reason.fragment)].order for reason in small} == {1} and small.value == why.value
    frame = why.to_frame()
    assert frame["in_winner"].tolist() == [len(reason.in_winner) for reason in why]
    assert len(es.explain(reranker, groups[0], n=3)) == 3


def test_subtrees_are_located_like_the_definition_lists_them(models):
    rng = np.random.default_rng(0)
    kernel = es.DependencySubtree(TABLE_1, root=True)
    trees = [drawn_tree(rng) for _ in range(12)]
    groups = [es.Group([replace(tree, heads=(0, 1, 1, 1, 1, 1)), tree], gold=tree) for tree in trees]
    features = es.KernelSpaceSelector(kernel, C=1.0, max_order=3, tolerance=0.0, max_passes=2).fit(groups).features_
    for tree in trees[:3]:
        expected = Counter({written(own): n for own, n in dependency_occurrences(tree, TABLE_1, 3, root=True).items()})
        locate = features.space.locator(features.atoms, tree)
        rows = rng.choice(len(features), 2000)
        found = {features[row].text: locate(features.path(row)) for row in rows.tolist()}
        assert {text: len(own) for text, own in found.items()} == {text: expected[text] for text in found}
        assert any(len(own) > 1 for own in found.values())


def drawn_tree(rng):
    """A tree of six words, each below an earlier one or ROOT, with few words and tags."""
    heads = [0, *(int(rng.integers(0, k)) for k in range(1, 6))]
    words, tags = (rng.choice(list(letters), 6).tolist() for letters in ("abc", "NV"))
    return es.DependencyTree(words, tags, heads, ["x"] * 6)


def written(feature):
    """A feature of the slow twin as the space writes it."""
    out = []
    for (template, *told), below in feature:
        under = f" ({written(below)})" if below else ""
        out.append(f"[{template}: {' '.join(text or '-' for text in told)}]{under}")
    return " ".join(out)


def test_a_subtree_is_shared_by_the_modifiers_of_its_arcs(models):
    _, reranker, groups = models["arcs with ROOT"]
    group = groups[0]
    why = es.explain(reranker, group, n=100_000)
    features = reranker.features_
    by_word = np.zeros(len(group.words))
    for candidate, sign in ((why.winner, 1.0), (why.loser, -1.0)):
        locate = features.space.locator(features.atoms, candidate)
        for row, feature in enumerate(features):
            for places in locate(features.path(row)):
                for token in places:
                    by_word[token - 1] += sign * feature.weights[0] * 0.7 ** (feature.order - 1) / feature.order
    assert [share for _, share in why.by_word()] == pytest.approx(by_word.tolist(), abs=1e-12)
    assert why.trees[0].split == "modifiers" and "subtrees" in why.summary


def test_drawings_mark_the_words_of_subtrees(models):
    _, reranker, _ = models["arcs"]
    right = es.DependencyTree(["n0", "v", "n1"], ["N", "V", "N"], [2, 0, 2], ["subject", "root", "object"])
    wrong = replace(right, heads=(2, 0, 1))
    group = es.Group([wrong, right], gold=right)
    why = es.explain(reranker, group)
    assert why.winner == right and why.names == ("candidate 2, chosen, gold", "candidate 1, the parser's choice")
    first = next(own for own in why.together if own.contribution > 0 and own.in_winner and not own.in_loser)
    tree = why.trees[0].tree
    marked = {tree[node].label for root in first.in_winner for node in first.fragment.nodes(tree, root)}
    assert {"v", "n1"} <= marked and not {"TOP"} & marked
    svg = why.to_svg()
    assert arcs(svg) == {WINNER, LOSER} and f"{first.fragment}: {first.parts[0].fragment}" in svg
    bold = set(re.findall(r'font-weight="bold">([^<]*)<', svg))
    assert {"v", "n1"} <= bold and any(re.fullmatch("object [⁰¹²³⁴⁵⁶⁷⁸⁹ ]+", own) for own in bold)
    upper = [replace(own, words=[f"{word}X".upper() for word in own.words]) for own in (wrong, right)]
    for word in upper[0].words:  # as they are written, once in each tree
        assert es.explain(reranker, es.Group(upper, [0.0, 1.0])).to_svg().count(f">{word}<") == 2
    page = why.to_html()
    assert "the arcs listed below" in page and "<code>v → n0" in page
    assert SPLITS["modifiers"] in page and '<mark class="up">' in page and "Marked are arcs" in page
    assert re.findall(r"<mark[^>]*>(\w+)</mark>", page)
    assert why.plot(n=3).get_title() == why.summary
    again = pickle.loads(pickle.dumps(why))
    assert again.to_svg() == svg


def arcs(svg):
    """The colours of marked arcs."""
    return set(re.findall(r' stroke="(#\w+)" stroke-width="2.5"', svg))


def frames(svg):
    """The colours of what is framed in both trees."""
    return set(re.findall(r'<rect[^>]* stroke="(#\w+)" stroke-opacity', svg))


def test_words_are_marked_if_no_listed_feature_favours_the_winner(models):
    _, reranker, groups = models["arcs"]
    values = reranker.decision_function(groups[:1])[0]
    against = es.explain(reranker, groups[0], winner=int(values.argmin()), loser=int(values.argmax()), n=1)
    assert against.together[0].contribution < 0 and against.marks_words()
    assert frames(against.to_svg()) == {AGAINST}
    assert "Marked are the words" in against.to_html() and "Marked are arcs" not in against.to_html()


@pytest.mark.parametrize(("name", "split"), [("tags", "end"), ("tags with gaps", "end"), ("productions", "root")])
def test_tags_and_constituents_are_drawn(models, name, split):
    _, reranker, groups = models[name]
    why = es.explain(reranker, groups[0], n=5)
    assert {own.split for own in why.trees} == {split}
    assert why.to_svg().startswith("<svg") and (SPLITS[split] in why.to_html()) == (split == "end")
    for reason in why:
        for own, roots in zip(why.trees, (reason.in_winner, reason.in_loser), strict=True):
            for root in roots:
                nodes = reason.fragment.nodes(own.tree, root)
                assert root in nodes and all(own.tree[node] for node in nodes)


def test_equal_subtrees_count_once_as_in_learning():
    groups = [es.Group(["(S (N a) (N a))", "(S (M a) (M a))"], gold="(S (N a) (N a))")] * 4
    selector = es.KernelSpaceSelector(es.SubsetTree(), C=1.0).fit(groups)
    reranker = es.FeatureReranker(selector, cost="zero-one", score_weight=1.0).fit(groups, development=groups)
    found = {str(reason.fragment): reason for reason in es.explain(reranker, groups[0])}
    assert found["(N a)"].in_winner == ((0,),) and found["(M a)"].in_loser == ((0,),)
    assert found["(N a)"].contribution == pytest.approx(found["(N a)"].weight) and found["(N a)"].weight > 0
    values = reranker.decision_function(groups[:1])[0]
    assert sum(reason.contribution for reason in found.values()) == pytest.approx(values[0] - values[1], rel=1e-6)


def test_gold_that_is_no_candidate_has_the_tags_of_the_candidates(models):
    _, reranker, _ = models["arcs"]
    right = es.DependencyTree(["n0", "v", "n1"], ["N", "V", "N"], [2, 0, 2], ["subject", "root", "object"])
    group = es.Group([replace(right, heads=(2, 0, 1))], [7.0], gold=replace(right, tags=("X", "Y", "Z")))
    why = es.explain(reranker, group, winner="gold")
    assert why.names == ("gold, no candidate", "candidate 1, chosen, the parser's choice")
    assert why.from_score == 0.0 and why.winner == right and why.value > 0
    values = reranker.feature_values([es.Group([right, *group.candidates])])[0]
    assert why.value == pytest.approx(values[0] - values[1], rel=1e-6)
    assert why.values[0] - why.values[1] == pytest.approx(why.value, rel=1e-6)


def test_gold_is_found_among_candidates_by_its_heads(models):
    _, reranker, groups = models["arcs"]
    group = groups[0]
    other = replace(group.gold, relations=["y"] * 3)
    number = group.candidates.index(group.gold)
    found = es.Group(group.candidates, group.scores, gold=other)
    why = es.explain(reranker, found, winner="gold", loser=(number + 1) % 3)
    assert why.names[0].startswith(f"candidate {number + 1}, ") and why.names[0].endswith("gold")
    assert why.winner == group.candidates[number]


@pytest.mark.parametrize("name", KERNELS)
def test_a_model_as_a_whole_lists_its_heaviest_features(models, name):
    selector, reranker, _ = models[name]
    for model in (selector, reranker):
        features = model.features_
        why = es.explain(model, n=6)
        assert [str(reason.fragment) for reason in why] == features.heaviest(6).names_of()
        assert [reason.weight for reason in why] == features.heaviest(6).weights[:, 0].tolist()
        assert why.value is None and why.kind == "feature" and not why.trees
        page = why.to_html()
        assert "items" not in page and features.heaviest(1)[0].text in page.replace("&gt;", ">")
        largest = es.explain(model, n=10**6, max_size=1)
        assert len(largest) == np.count_nonzero(features.weights[features.order == 1])


def test_classes_have_reasons_of_their_own():
    X = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 6)
    selector = es.KernelSpaceSelector(es.kernels.Polynomial(2), C=2.0).fit(X, ["a", "b", "c"] * 6)
    why = es.explain(selector)
    assert why.scores == ["a", "b", "c"]
    assert {str(reason.fragment) for reason in why.of("a") if reason.weight > 0} == {"0"}


def test_what_cannot_be_explained_is_refused(models):
    selector, reranker, groups = models["arcs"]
    with pytest.raises(NotFittedError):
        es.explain(es.FeatureReranker(selector), groups[0])
    with pytest.raises(NotFittedError):
        es.explain(es.KernelSpaceSelector(es.Tagging()))
    with pytest.raises(TypeError, match="between two candidates of a group"):
        es.explain(selector, groups[0])
    with pytest.raises(TypeError, match="between two candidates of a group"):
        es.explain(reranker, groups[0].gold)
    with pytest.raises(TypeError, match="one group"):
        es.explain(reranker, groups[:2])
    with pytest.raises(ValueError, match="winner and loser"):
        es.explain(reranker, winner=0)
    with pytest.raises(InputError, match="0 to 2 here, or 'gold'"):
        es.explain(reranker, groups[0], winner=3)
    with pytest.raises(InputError, match="no gold tree"):
        es.explain(reranker, es.Group(groups[0].candidates), loser="gold")
    with pytest.raises(InputError, match="one candidate"):
        es.explain(reranker, es.Group(groups[0].candidates[:1]))


def test_features_of_candidates_that_are_not_drawn_are_refused():
    groups = tagged_groups(0)
    selector = es.KernelSpaceSelector(es.Spectrum(2, of="tags"), C=1.0).fit(groups)
    reranker = es.FeatureReranker(selector).fit(groups)
    with pytest.raises(InputError, match="not of Spectrum"):
        es.explain(reranker, groups[0])
