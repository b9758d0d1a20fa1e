"""Dependency trees as arcs over their words: what is written and where, and that nothing overlaps or crosses."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET

import pytest
from tests.unit.explanations.test_comparison_drawing import check_room

import espalier as es
from espalier.structures import dependency_svg
from espalier.structures.palette import BLUE

TREE = es.DependencyTree(
    ["Cats", "saw", "NASA", "'s", "dogs"],
    ["N", "V", "X", "P", "N"],
    [2, 0, 5, 3, 2],
    ["nsubj", "root", "p", "q", "obj"],
)


def places(svg: str, texts: list[str]) -> list[int]:
    """The middle of each of some texts, which are written once."""
    found = [own for own in ET.fromstring(svg).iter() if own.tag.endswith("text")]
    return [next(int(own.get("x") or 0) for own in found if own.text == text) for text in texts]


def arcs(svg: str) -> list[tuple[int, int, int]]:
    """Where each arc begins and ends, and how high it is; not those to roots."""
    lines = re.findall(r'd="M(\d+) \d+V\d+Q\d+ (\d+) \d+ \d+H\d+Q\d+ \d+ (\d+) ', svg)
    return [(int(start), int(end), int(top)) for start, top, end in lines]


def drawn_at_random(rng: random.Random, n: int, is_projective: bool) -> es.DependencyTree:
    heads = [0] * n

    def attach(first: int, last: int, head: int) -> None:
        if first <= last:
            root = rng.randint(first, last)
            heads[root - 1] = head
            attach(first, root - 1, root)
            attach(root + 1, last, root)

    attach(1, n, 0)
    order = list(range(1, n + 1))
    if not is_projective:
        rng.shuffle(order)
        moved = [0] * n
        for token, head in enumerate(heads, 1):
            moved[order[token - 1] - 1] = order[head - 1] if head else 0
        heads = [0 if rng.random() < 0.2 else head for head in moved]
    texts = ["a", "word", "incomprehensibilities", "Wm", "木木"]
    return es.DependencyTree(*([rng.choice(texts) for _ in range(n)] for _ in range(2)), heads, rng.choices(texts, k=n))


def test_words_tags_and_relations_are_written_as_they_are():
    texts = check_room(dependency_svg(TREE, title="a title"))
    assert sorted(texts) == sorted(["a title", *TREE.words, *TREE.tags, *TREE.relations])
    assert (
        TREE._repr_svg_() == dependency_svg(TREE)
        and 'aria-label="dependency tree of Cats saw NASA' in TREE._repr_svg_()
    )


def test_an_arc_goes_from_a_head_to_its_modifier():
    svg = dependency_svg(TREE)
    x = [0, *places(svg, list(TREE.words))]
    found = {(end, start) for start, end, _ in arcs(svg)}
    assert len(found) == 4
    for token, head in enumerate(TREE.heads, 1):
        if head:
            (start,) = (start for end, start in found if end == x[token])
            assert 0 < abs(start - x[head]) < 8 and (start > x[head]) == (x[token] > x[head])
    assert svg.count(f'd="M{x[2]} ') == 1  # the line to the root


@pytest.mark.parametrize("is_projective", [True, False])
def test_nothing_overlaps_and_longer_arcs_are_above_those_that_they_enclose(is_projective):
    rng = random.Random(5)
    for n in (1, 2, 3, 8, 25):
        for _ in range(6):
            svg = dependency_svg(drawn_at_random(rng, n, is_projective))
            check_room(svg)
            found = [(min(a, b), max(a, b), top) for a, b, top in arcs(svg)]
            for k, (left, right, top) in enumerate(found):
                for other_left, other_right, other_top in found[:k]:
                    if left < other_right and other_left < right:
                        assert top != other_top
                        if left <= other_left and other_right <= right:
                            assert top < other_top


def test_marks_have_their_colours():
    svg = dependency_svg(TREE, arcs={3: BLUE}, words={1: "teal", 2: "#c2410c"})
    assert svg.count(f'stroke="{BLUE}" stroke-width="2.5"') == 2  # the line, and its tip
    assert svg.count('fill="teal"') == 1 and 'class="p"' in svg
    assert dependency_svg(TREE).count('stroke-width="2.5"') == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arcs": {0: BLUE}}, "arcs counts words from 1 to 5, got 0"),
        ({"words": {6: BLUE}}, "words counts words from 1 to 5, got 6"),
        ({"words": {"Cats": BLUE}}, "got 'Cats'"),
        ({"arcs": {1: '"/><script>'}}, "A colour is '#rgb'"),
    ],
)
def test_what_cannot_be_marked_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        dependency_svg(TREE, **options)


def test_odd_words_are_visible_and_cannot_leave_their_place():
    tree = es.DependencyTree(["<b>&", "a\x00", "\u00a0", "x" * 300], ["T"] * 4, [0, 1, 1, 1], ["r", "", "_", '"'])
    texts = check_room(dependency_svg(tree))
    assert "<b>&" in texts and "a␀" in texts and f"{'x' * 39}…" in texts


def test_of_a_very_long_sentence_the_first_words_are_drawn():
    n = 1_200
    svg = dependency_svg(es.DependencyTree(["w"] * n, ["T"] * n, [0, *range(1, n)], ["r"] * n))
    assert svg.count(">w<") == 1_000 and ">… 200 more<" in svg
    assert len(arcs(svg)) == 999
