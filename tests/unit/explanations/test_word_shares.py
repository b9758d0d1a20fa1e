"""Words that share the lead of a candidate: against all runs of tags and all sub-feature-trees, listed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.reference import dependency_subtree, tagging

import espalier as es
from candidate_groups import dependency_groups, tagged_groups
from espalier.explanations.word_shares import drawn, word_nodes


def compared(kernel, groups_of):
    """A learner, a group that it has not seen, and why its first candidate has another value than the second."""
    model = es.VotedPerceptron(kernel, score_weight=0.2, random_state=0).fit(groups_of(0))
    group = groups_of(1)[0]
    why = es.explain(model, group, winner=0, loser=1)
    values = model.decision_function([group])[0]
    assert why.value == pytest.approx(values[0] - values[1]) and why.elsewhere == 0 and why.left_out == ()
    assert why.from_score + why.of_trees == pytest.approx(why.value) and len(why) == 0
    return model, group, why


@pytest.mark.parametrize("kernel", [es.Tagging(0.6, 0.7), es.Normalized(es.Tagging(0.6, 0.7))], ids=repr)
def test_tags_share_the_lead_by_the_runs_that_end_at_them(kernel):
    model, group, why = compared(kernel, tagged_groups)

    def value(own, other):
        return tagging.tagging(own, other, lambda _: 0.6, lambda _: 0.7)

    def norm(own):
        return np.sqrt(value(own, own)) if isinstance(kernel, es.Normalized) else 1.0

    for own, candidate, sign in zip(why.trees, group.candidates[:2], (1.0, -1.0), strict=True):
        runs = {}  # by the place at which they end, each as a sequence of its own
        words, tags = candidate.words, candidate.tags
        for first, last in itertools.combinations(range(len(words) + 1), 2):
            runs.setdefault(last - 1, []).append((words[first:last], tags[first:last]))
        for place in range(len(words)):
            true = 0.0
            for item, coefficient in zip(model.support_, model.coefficients_, strict=True):
                held = tagging.fragments(item)
                for run_words, run_tags in runs[place]:
                    for kept in itertools.product((False, True), repeat=len(run_tags)):
                        run = tuple(
                            (tag, word if keeps else None)
                            for tag, word, keeps in zip(run_tags, run_words, kept, strict=True)
                        )
                        true += coefficient * held[run] * 0.6 ** len(run) * 0.7 ** sum(kept) / norm(item)
            assert own.shares[1 + 2 * place] == pytest.approx(sign * true / norm(candidate))
            assert own.tree.children[place].label == tags[place]
        assert own.split == "end" and own.shares.sum() == pytest.approx(own.total)
    assert [word for word, _ in why.by_word()] == list(group.words)
    both = why.trees[0].shares + why.trees[1].shares
    assert [share for _, share in why.by_word()] == pytest.approx(both[1::2].tolist())
    assert "runs of tags" in why.summary and why.to_svg().count("<text") > 2 * len(group.words)
    assert "Every run of tags counts for its last tag" in why.to_html()


def test_tags_share_the_lead_by_the_subsequences_that_end_at_them():
    model, group, why = compared(es.Tagging(0.6, 0.7, gap_decay=0.5), tagged_groups)
    for own, candidate, sign in zip(why.trees, group.candidates[:2], (1.0, -1.0), strict=True):
        for place in range(len(candidate.words)):
            true = 0.0
            for item, coefficient in zip(model.support_, model.coefficients_, strict=True):
                ending = [value_of(candidate, item, end) for end in (place + 1, place)]
                true += coefficient * (ending[0] - ending[1])
            assert own.shares[1 + 2 * place] == pytest.approx(sign * true)
        assert own.shares.sum() == pytest.approx(own.total)


def value_of(candidate, item, end):
    begins = es.TaggedSequence(candidate.words[:end], candidate.tags[:end])
    return tagging.tagging(begins, item, lambda _: 0.6, lambda _: 0.7, lambda _: 0.5)


def arc_features(tree, token):
    head = tree.heads[token] - 1
    return [
        ("words", f"{tree.words[head]} {tree.words[token]}"),
        ("tags", f"{tree.tags[head]} {tree.tags[token]}"),
        ("relation", tree.relations[token]),
    ]


@pytest.mark.parametrize("is_normalized", [False, True])
def test_heads_share_the_lead_by_the_subtrees_below_them(is_normalized):
    inner = es.DependencySubtree(("words", "tags", "relation"), decay=0.6)
    kernel = 2.0 * (es.Normalized(inner) if is_normalized else inner)
    model, group, why = compared(kernel, dependency_groups)

    def held(tree, heads=None):
        return dependency_subtree.feature_trees(tree, arc_features, True, heads)

    def shared(a, b):
        return sum(n * b[form] * dependency_subtree.weight(form, 0.6, lambda _: 1.0) for form, n in a.items())

    def norm(tree):
        return np.sqrt(shared(held(tree), held(tree))) if is_normalized else 1.0

    by_word = np.zeros(len(group.words))
    for own, candidate, sign in zip(why.trees, group.candidates[:2], (1.0, -1.0), strict=True):
        nodes = list(own.tree)
        for token, node in enumerate(word_nodes(candidate).tolist()):
            true = sum(
                2.0 * coefficient * shared(held(candidate, [token]), held(item)) / norm(item)
                for item, coefficient in zip(model.support_, model.coefficients_, strict=True)
            )
            by_word[token] += sign * true / norm(candidate)
            assert own.shares[node] == pytest.approx(sign * true / norm(candidate))
            assert nodes[node].label == candidate.relations[token]
        assert own.split == "head" and own.shares.sum() == pytest.approx(own.total)
    assert [word for word, _ in why.by_word()] == list(group.words)
    assert [share for _, share in why.by_word()] == pytest.approx(by_word.tolist())
    assert "subtrees" in why.summary and "SYNT" not in why.to_svg()
    assert "Every subtree counts for its head" in why.to_html()


def test_a_kernel_that_counts_the_arcs_to_roots_is_not_shared():
    kernel = es.DependencySubtree(("words", "tags"), decay=0.6, root=True)
    model = es.VotedPerceptron(kernel, score_weight=0.2, random_state=0).fit(dependency_groups(0))
    group = dependency_groups(1)[0]
    why = es.explain(model, group, winner=0, loser=1)
    values = model.decision_function([group])[0]
    assert why.value == pytest.approx(values[0] - values[1]) and why.elsewhere != 0 and why.trees == ()


def test_words_of_crossing_arcs_and_several_roots_are_found_in_what_is_drawn():
    words = ["a", "b", "c", "d", "e"]
    tree = es.DependencyTree(words, list("ABCDE"), [3, 4, 0, 3, 0], ["r1", "r2", "r3", "r4", "r5"])
    nodes = list(drawn(tree))
    assert [nodes[k].label for k in word_nodes(tree)] == ["r1", "r2", "r3", "r4", "r5"]
