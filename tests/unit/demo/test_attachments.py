"""The demo's attachments: phrases hang where their words say, and tags do not tell."""

from __future__ import annotations

from collections import defaultdict

import pytest

from espalier.demo import generate_attachments
from espalier.demo.attachments import MARKS, PLACES, TIMES, TOOLS
from espalier.parsing import PCFG, evaluate
from espalier.structures.tree import Tree

TREES = generate_attachments(1_000, seed=3)


def phrases(tree: Tree) -> list[tuple[str, str, str]]:
    """Each prepositional phrase: its preposition, the head of its noun, and the label that it hangs below."""
    found = []
    for node in tree:
        for child in node.children:
            if child.label == "PP":
                preposition, noun = child.children
                while noun.children[0].label == "NP":
                    noun = noun.children[0]
                found.append((preposition.words()[0], noun.words()[-1], node.label))
    return found


def test_the_same_seed_gives_the_same_trees():
    assert generate_attachments(30, seed=1) == generate_attachments(60, seed=1)[:30]
    assert generate_attachments(30, seed=1) != generate_attachments(30, seed=2)
    assert generate_attachments(0) == []
    with pytest.raises(TypeError, match="n must be an integer"):
        generate_attachments("many")


def test_every_phrase_hangs_where_its_words_say():
    wanted = {("with", noun): "VP" for noun in TOOLS} | {("with", noun): "NP" for noun in MARKS}
    wanted |= {("from", noun): "NP" for noun in PLACES} | {("in", noun): "VP" for noun in TIMES}
    found = {(preposition, noun): below for tree in TREES for preposition, noun, below in phrases(tree)}
    assert found == wanted
    assert sum(len(phrases(tree)) for tree in TREES) > 1_000


def test_tools_and_marks_are_equally_frequent():
    share = sum(any(noun in TOOLS for _, noun, _ in phrases(tree)) for tree in TREES) / len(TREES)
    assert share == pytest.approx(0.5, abs=0.06)


def test_equal_tags_have_different_trees_so_that_no_grammar_of_tags_is_right():
    shapes = defaultdict(set)
    for tree in TREES:
        shape = tree.with_tags_for_words()
        shapes[tuple(shape.words())].add(shape)
    assert sum(len(own) > 1 for own in shapes.values()) > len(shapes) / 2
    parses = PCFG.from_treebank(TREES[:900]).parse_all([tree.words() for tree in TREES[900:]], 1)
    assert evaluate(TREES[900:], [own[0].tree for own in parses]).exact_match < 50
