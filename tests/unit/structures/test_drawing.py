"""Drawings: nothing overlaps, nothing recurses, everything is escaped, marks are where they belong."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET

import pytest

from espalier.structures.drawing import (
    MARK,
    UNEXPANDED,
    card,
    side_by_side,
    side_by_side_text,
    svg_text,
    tree_svg,
    tree_text,
)
from espalier.structures.layout import cells, list_nodes, pixels, place, printable
from espalier.structures.tree import Tree

SENTENCE = "(S (NP (D the) (N cat)) (VP (V sat)))"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def tree() -> Tree:
    return Tree.from_brackets(SENTENCE)


def random_tree(n_words: int, rng: random.Random) -> Tree:
    pool = [Tree("w" * rng.randint(1, 9)) for _ in range(n_words)]
    while len(pool) > 1:
        start, n = rng.randrange(len(pool)), rng.randint(1, 4)
        pool[start : start + n] = [Tree("NP" * rng.randint(1, 8), pool[start : start + n])]
    return pool[0]


def deep_tree(depth: int) -> Tree:
    node = Tree("x")
    for k in range(depth):
        node = Tree("A", [node, "y"]) if k % 2 else Tree("B", [node])
    return node


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("gap", [1, 16])
def test_labels_of_one_level_do_not_overlap_and_parents_stand_over_children(seed, gap):
    tree = random_tree(60, random.Random(seed))
    nodes = list_nodes(tree, max_nodes=10_000, max_label=40)
    widths = [pixels(text) for text in nodes.texts]
    centre, width = place(nodes, widths, gap)
    ends: dict[int, int] = {}
    for n, depth in enumerate(nodes.depth):
        start = centre[n] - (widths[n] - 1) // 2
        assert start >= 0
        assert depth not in ends or ends[depth] + gap <= start
        ends[depth] = start + widths[n]
        assert ends[depth] <= width
        children = nodes.children[n]
        if children and widths[n] < 20:
            assert centre[children[0]] <= centre[n] <= centre[children[-1]]


def test_leaves_read_from_left_to_right():
    tree = random_tree(40, random.Random(1))
    nodes = list_nodes(tree, max_nodes=10_000, max_label=40)
    centre, _ = place(nodes, [pixels(text) for text in nodes.texts], 16)
    leaves = sorted((centre[n], nodes.texts[n]) for n, word in enumerate(nodes.is_word) if word)
    assert [text for _, text in leaves] == tree.words()


def test_svg_is_well_formed_and_shows_every_label(tree):
    assert sorted(texts(tree_svg(tree))) == sorted(node.label for node in tree)
    assert tree_svg(tree) == tree._repr_svg_()


def test_labels_are_escaped_and_controls_made_visible():
    tree = Tree("<script>&\"'", ["]]>", "a\tb", "\x01", "", "e\u0301", "\ufffe", "a\u202eb"])
    svg = tree_svg(tree, title="<b> & co")
    assert "<script>" not in svg
    assert texts(svg) == ["<b> & co", "<script>&\"'", "]]>", "a␉b", "␁", "e\u0301", "\ufffd", "a\ufffdb"]
    assert len(list(ET.fromstring(svg).iter(f"{SVG}circle"))) == 1


def test_a_long_label_is_cut_with_an_ellipsis():
    assert texts(tree_svg(Tree("x" * 1_000_000))) == ["x" * 39 + "…"]


def test_marked_nodes_are_framed_and_edges_between_them_are_heavy(tree):
    root = ET.fromstring(tree_svg(tree, highlight=[(), (0,), (1,), (0, 0, 0)]))
    frames = [element for element in root.iter(f"{SVG}rect") if element.get("fill") == MARK]
    assert len(frames) == 4
    (path,) = [element for element in root.iter(f"{SVG}path") if element.get("stroke") == MARK]
    assert (path.get("d") or "").count("M") == 2


def test_each_mark_may_have_its_own_colour(tree):
    root = ET.fromstring(tree_svg(tree, highlight={(0,): "#06c", (0, 0): "#06c", (1,): "teal"}))
    assert [element.get("stroke") for element in root.iter(f"{SVG}path")] == ["#8c959f", "#06c"]


def test_a_colour_that_is_none_cannot_smuggle_markup(tree):
    with pytest.raises(ValueError, match="A colour is"):
        tree_svg(tree, highlight={(): '"/><script>'})


@pytest.mark.parametrize("draw", [tree_svg, tree_text])
def test_a_mark_outside_the_tree_is_an_error(tree, draw):
    with pytest.raises(IndexError, match=r"no node at position \(0, 7\)"):
        draw(tree, highlight=[(0, 7)])
    with pytest.raises(TypeError, match="tuple of child indices"):
        draw(tree, highlight=[0])


@pytest.mark.parametrize("draw", [tree_svg, tree_text])
def test_what_is_no_tree_is_an_error(draw):
    with pytest.raises(TypeError, match="Only a Tree can be drawn"):
        draw(SENTENCE)


@pytest.mark.parametrize("tree", [random_tree(6_500, random.Random(0)), deep_tree(3_000)])
def test_large_and_deep_trees_are_drawn_whole(tree):
    assert tree.size > 4_000
    assert len(texts(tree_svg(tree))) == tree.size


def test_a_tree_past_the_limit_says_how_much_is_left_out():
    tree = deep_tree(50_000)
    shown = texts(tree_svg(tree, max_nodes=10))
    assert len(shown) == 10
    assert re.fullmatch(r"[AB] … 74,\d\d\d more", shown[-1])
    # A mark below the cut is not drawn; one above it is.
    assert tree_svg(tree, max_nodes=10, highlight=[(0,) * 20, (0,)]).count(f'fill="{MARK}"') == 1


def test_a_tree_whose_shared_subtrees_unfold_to_millions_of_nodes_is_cut():
    node = Tree("x")
    for _ in range(60):
        node = Tree("A", [node, node])
    assert len(texts(tree_svg(node, max_nodes=100))) <= 100


def test_text_drawing_has_heavy_lines_where_a_whole_production_is_marked(tree):
    drawing = tree_text(tree, highlight=[(), (0,), (1,), (0, 0)])
    assert drawing.splitlines() == [
        "      [S]",
        "   ┏━━━┻━━━┓",
        "  [NP]    [VP]",
        " ┌─┴──┐    │",
        "[D]   N    V",
        " │    │    │",
        "the  cat  sat",
    ]


def test_a_parent_that_is_wider_than_its_children_bends_the_line():
    assert tree_text(Tree.from_brackets("(LONGLABELS (A x (B wwwwwwww)))")).splitlines() == [
        "LONGLABELS",
        "   ┌┘",
        "   A",
        "┌──┴──┐",
        "x     B",
        "      │",
        "   wwwwwwww",
    ]


def test_wide_characters_take_two_columns():
    assert tree_text(Tree("木木", ["a", "木"])).splitlines() == ["木木", "┌┴─┐", "a  木"]
    assert cells("a\u200db") == 2


@pytest.mark.parametrize("seed", range(10))
def test_every_line_of_a_text_drawing_is_as_wide_as_it_says(seed):
    tree = random_tree(30, random.Random(seed))
    lines = tree_text(tree).split("\n")
    assert len(lines) == 2 * tree.height + 1
    assert sum(line.count("w") for line in lines) == sum(len(word) for word in tree.words())


def test_side_by_side_stands_in_rows_that_fit(tree):
    one_row = side_by_side_text([tree, tree], width=40)
    two_rows = side_by_side_text([tree, tree], width=20)
    assert len(one_row.splitlines()) == 7
    assert two_rows == f"{tree_text(tree)}\n\n{tree_text(tree)}"
    wide, tall = (
        ET.fromstring(side_by_side([tree, tree])),
        ET.fromstring(side_by_side([tree, tree], width=200)),
    )
    assert int(wide.get("width", 0)) > int(tall.get("width", 0))
    assert int(wide.get("height", 0)) < int(tall.get("height", 0))


def test_side_by_side_takes_one_highlight_and_title_per_tree(tree):
    with pytest.raises(ValueError, match="titles must have one entry per tree: got 1 for 2 trees"):
        side_by_side([tree, tree], titles=["a"])
    with pytest.raises(ValueError, match="highlights must have one entry per tree: got 3 for 2 trees"):
        side_by_side_text([tree, tree], highlights=[[], [], []])
    assert ET.fromstring(side_by_side([])) is not None


def test_a_width_is_a_number(tree):
    with pytest.raises(TypeError, match=r"width must be a number of pixels or None, got 'tree\.svg'"):
        side_by_side([tree], width="tree.svg")


def test_printable_keeps_joiners_and_other_scripts():
    assert printable("می\u200cخواهم", 40) == "می\u200cخواهم"
    assert printable("a\xa0b", 40) == "a b"


def test_fragments_and_dependency_trees_draw_themselves_in_notebooks():
    from espalier.structures.dependency import DependencyTree
    from espalier.structures.fragment import Fragment

    svg = Fragment.from_brackets("(NP (D the) (N))")._repr_svg_()
    assert svg.startswith("<svg") and UNEXPANDED in svg
    tree = DependencyTree(words=("cats", "sleep"), tags=("NNS", "VBP"), heads=(2, 0), relations=("nsubj", "root"))
    assert ">cats<" in tree._repr_svg_()


def test_control_characters_anywhere_leave_the_picture_valid():
    odd = "".join(map(chr, [*range(1, 32), 0x7F, 0x85, 0xFFFE, 0xFFFF])) + "<&>"
    tree = Tree("S", [Tree(odd, [odd])])
    for svg in (tree_svg(tree, title=odd), side_by_side([tree, tree], titles=[odd, odd]), card([], 9, 9, odd)):
        ET.fromstring(svg)
    assert svg_text("a\x1b<b") == "a\u241b&lt;b"
