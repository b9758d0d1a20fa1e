"""Predicates and candidates as trees: against a slow construction, by hand, and on the treebank."""

from __future__ import annotations

import pytest

from espalier.errors import InputError
from espalier.structures import Tree, read_brackets
from espalier_experiments.propositions import Nodes, Proposition, read_propositions, role_candidates

SENTENCE = Tree.from_brackets(
    "(TOP (S (NP (NNP Ann)) (VP (VBD gave) (NP (DT a) (NN talk)) (PP (IN in) (NP (NNP Rome)))) (. .)))"
)
GIVE = Proposition(1, {(0, 1): "ARG0", (2, 4): "ARG1", (4, 6): "ARGM-LOC"})


def slow_tree(tree, predicate, candidate):
    """Cut away all that leads to neither node; mark both."""

    def cut(node, position):
        if position in (predicate, candidate):
            mark = "-P" if position == predicate else "-B"
            return Tree(node.label + mark, node.children)
        kept = []
        for k, child in enumerate(node.children):
            here = (*position, k)
            if any(goal[: len(here)] == here for goal in (predicate, candidate)):
                kept.append(cut(child, here))
        return Tree(node.label, kept)

    # The lowest node above both.
    common = 0
    while predicate[common] == candidate[common]:
        common += 1
    return cut(tree[predicate[:common]], predicate[:common])


def slow_candidates(tree, proposition):
    """Every node that holds not the predicate, from the root down."""
    words = [position for position in tree.positions() if tree[position].is_leaf]
    predicate = words[proposition.predicate][:-1]
    spans = {}
    for position in tree.positions():
        inside = [k for k, word in enumerate(words) if word[: len(position)] == position]
        spans[position] = (inside[0], inside[-1] + 1)
    taken = set()
    for position in tree.positions():
        if tree[position].is_leaf or predicate[: len(position)] == position:
            continue
        role = proposition.roles.get(spans[position], "")
        if spans[position] in taken:
            role = ""
        taken.add(spans[position])
        yield str(slow_tree(tree, predicate, position)), role


def test_candidates_by_hand():
    found = dict(Nodes(SENTENCE).candidates(GIVE))
    assert found["(S (NP-B (NNP Ann)) (VP (VBD-P gave)))"] == "ARG0"
    assert found["(S (NP (NNP-B Ann)) (VP (VBD-P gave)))"] == ""  # the highest node of a span is the argument
    assert found["(VP (VBD-P gave) (NP-B (DT a) (NN talk)))"] == "ARG1"
    assert found["(VP (VBD-P gave) (PP (NP-B (NNP Rome))))"] == ""
    assert found["(S (VP (VBD-P gave)) (.-B .))"] == ""
    assert len(found) == 10


def test_a_chain_above_the_predicate_is_no_argument():
    tree = Tree.from_brackets("(S (VP (VP (V go)) (NP (NP (N it)))))")
    found = dict(Nodes(tree).candidates(Proposition(0, {(0, 1): "ARG1", (1, 2): "ARG2"})))
    assert found == {
        "(VP (VP (V-P go)) (NP-B (NP (N it))))": "ARG2",
        "(VP (VP (V-P go)) (NP (NP-B (N it))))": "",
        "(VP (VP (V-P go)) (NP (NP (N-B it))))": "",
    }


def test_all_candidates_of_the_treebank_are_those_of_the_slow_way(data):
    trees = read_brackets(data / "ewt_srl" / "dev.mrg.gz")
    sentences = read_propositions(data / "ewt_srl" / "dev.props.conll.gz")
    assert len(trees) == len(sentences) == 1965
    compared = 0
    for tree, (n_words, propositions) in list(zip(trees, sentences, strict=True))[::25]:
        nodes = Nodes(tree)
        assert nodes.n_words == n_words == len(tree.words())
        for proposition in propositions:
            assert list(nodes.candidates(proposition)) == list(slow_candidates(tree, proposition))
            compared += 1
    assert compared > 100


def test_the_test_part_is_read_whole(data):
    table = role_candidates(data, "test")
    roles = list(table["role"])
    assert len(table) == 162_951 and sum(role != "" for role in roles) == 9_303
    assert (roles.count("ARG0"), roles.count("ARG1"), roles.count("ARG5")) == (1724, 3159, 1)
    few = role_candidates(data, "test", 30)
    assert list(few["role"]) == roles[: len(few)] and few["tree"][5] == table["tree"][5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0\tgo\tVB\t*\tgo\tgo.01\t(V*)\n1\tit\tPRP\t*\t-\t-\n", "expected 7 columns in every line, found"),
        ("0\tgo\tVB\t*\tgo\tgo.01\t(V*)\n1\tit\tPRP\t*\t-\t-\t*)\n", "a span ends at word 1 that did not begin"),
    ],
)
def test_broken_columns_are_one_clear_error(tmp_path, text, message):
    path = tmp_path / "props.conll"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_propositions(path)
