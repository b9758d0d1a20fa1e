"""The picture of two candidates: what is marked and numbered, what stands back, and that nothing overlaps."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest

import espalier as es
from candidate_groups import tagged_groups
from espalier.demo import generate_attachments
from espalier.explanations.comparison import signed
from espalier.explanations.comparison_drawing import BOTH, LOSER, WINNER, numbered, shared_nodes
from espalier.parsing import PCFG
from espalier.structures.drawing import side_by_side
from espalier.structures.group import Group
from espalier.structures.layout import pixels
from espalier.structures.palette import AGAINST, FOR
from espalier.structures.tree import Tree

SVG = "{http://www.w3.org/2000/svg}"
RIGHT = "(S (NP (N cats)) (VP (V saw) (NP (NP (N dogs)) (PP (P with) (N tails)))))"
WRONG = "(S (NP (N cats)) (VP (V saw) (NP (N dogs)) (PP (P with) (N tails))))"


@pytest.fixture(scope="module")
def why():
    group = Group([WRONG, RIGHT], [-1.0, -2.0], gold=RIGHT)
    reranker = es.Reranker(es.VotedPerceptron(es.SubsetTree(0.4), score_weight=0.1, random_state=0)).fit([group] * 5)
    return es.explain(reranker, group, n=12)


def boxes(svg):
    """What is written, and the boxes that it takes."""
    found = []

    def visit(element, x, y):
        moved = re.match(r"translate\((-?\d+),(-?\d+)\)", element.get("transform") or "")
        if moved:
            x, y = x + int(moved[1]), y + int(moved[2])
        if element.tag == f"{SVG}text" and element.text:
            width = pixels(element.text)
            anchor = re.search(r"text-anchor:(\w+)", element.get("style") or "text-anchor:middle")[1]
            left = x + int(element.get("x")) - {"start": 0, "middle": width / 2, "end": width}[anchor]
            base = y + int(element.get("y"))
            found.append((element.text, left, left + width, base - 11, base + 3))
        for child in element:
            visit(child, x, y)

    visit(ET.fromstring(svg), 0, 0)
    return found


def check_room(svg):
    root = ET.fromstring(svg)
    width, height = int(root.get("width")), int(root.get("height"))
    found = boxes(svg)
    for text, left, right, top, bottom in found:
        assert left >= 0 and right <= width and top >= 0 and bottom <= height, text
    for k, (one, *a) in enumerate(found):
        for other, *b in found[k + 1 :]:
            apart = a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2]
            assert apart, (one, other)
    return [text for text, *_ in found]


# What is drawn


def test_fragments_that_speak_for_the_winner_are_numbered_at_their_roots(why):
    texts = check_room(why.to_svg(n=8))
    assert why.summary in texts and f"{why.names[0]}: {why.values[0]:.4g}".replace("-", "−") in texts
    shown = why.reasons[:8]
    numbers = numbered(shown)
    assert sorted(numbers.values()) == list(range(1, len(numbers) + 1)) and len(numbers) > 2
    for k, reason in enumerate(shown):
        assert (k in numbers) == (reason.contribution > 0)
        assert str(reason.fragment) in texts and signed(reason.contribution) in texts
    raised = "".join(text.split(" ", 1)[1] for text in texts if re.search(r"[¹²³⁴⁵⁶⁷⁸⁹]", text))
    marked = [reason for k, reason in enumerate(shown) if k in numbers]
    assert len(re.findall(r"[¹²³⁴⁵⁶⁷⁸⁹]", raised)) == sum(
        max(len(reason.in_winner), len(reason.in_loser)) for reason in marked
    )


def test_frames_hold_what_each_candidate_has_alone(why):
    root = ET.fromstring(why.to_svg(n=8))
    trees = [element for element in root.iter(f"{SVG}g") if element.get("transform", "").startswith("translate(")][1:]
    assert len(trees) == 2
    for tree, own, other in ((trees[0], WINNER, LOSER), (trees[1], LOSER, WINNER)):
        colours = [frame.get("stroke") for frame in tree.iter(f"{SVG}rect")]
        assert colours.count(own) > 2 and other not in colours
        pale = [element for group in tree.iter(f"{SVG}g") if group.get("opacity") for element in group]
        assert {element.text for element in pale} <= {"S", "NP", "N", "VP", "V", "PP", "P"} and len(pale) > 2


def test_the_longest_bar_is_the_largest_contribution(why):
    root = ET.fromstring(why.to_svg(n=8))
    bars = [
        float(bar.get("width"))
        for bar in root.findall(f"{SVG}rect")
        if bar.get("fill") in (WINNER, LOSER, BOTH) and bar.get("width") != "12.0"
    ]
    sizes = [abs(reason.contribution) for reason in why.reasons[:8]]
    assert bars == pytest.approx([max(bars) * size / max(sizes) for size in sizes], abs=0.06)


def test_shared_nodes_are_those_over_the_same_words():
    a, b = Tree.from_brackets(RIGHT), Tree.from_brackets(WRONG)
    first, second = shared_nodes(a, b)
    assert {position for position, node in zip(a.positions(), a, strict=True) if node.children} - first == {(1, 1)}
    assert {position for position, node in zip(b.positions(), b, strict=True) if node.children} == second
    chain, node = (Tree.from_brackets(text) for text in ("(A (A (A a)))", "(A (A a))"))
    assert shared_nodes(chain, node) == ({(), (0,)}, {(), (0,)})
    assert shared_nodes(Tree("a"), Tree("a")) == (set(), set())


def test_tags_that_push_are_marked():
    model = es.VotedPerceptron(es.Tagging(0.5), score_weight=0.1, random_state=0).fit(tagged_groups(0))
    why = es.explain(model, tagged_groups(1)[0])
    svg = why.to_svg()
    check_room(svg)
    assert f'stroke="{FOR}"' in svg or f'stroke="{AGAINST}"' in svg
    with pytest.raises(ValueError, match="nothing to draw"):
        why.plot()


# Room for everything


@pytest.fixture(scope="module")
def parsed():
    trees = generate_attachments(80, seed=3)
    grammar = PCFG.from_treebank(trees[:40])
    lists = grammar.parse_all([tree.words() for tree in trees], 6)
    groups = [Group(own.candidates, own.scores, tree) for own, tree in zip(lists, trees, strict=True)]
    return [group for group in groups if len(group) > 1]


@pytest.mark.parametrize("kernel", [es.SubsetTree(0.4), es.Normalized(es.PartialTree(0.4, 0.4))], ids=repr)
@pytest.mark.parametrize("width", [400, 1200, None])
def test_nothing_overlaps(parsed, kernel, width):
    model = es.VotedPerceptron(kernel, random_state=0).fit(parsed[:30])
    for group in parsed[30:36]:
        for n in (1, 8, 30):
            check_room(es.explain(model, group, n=30, max_size=6).to_svg(width, n=n))


def test_long_fragments_and_strange_labels_are_cut_and_escaped():
    labels = [f"{k}{'x' * 30}" for k in range(6)]
    right, wrong = (f'(S (A <b>&") {" ".join(f"({x}" for x in own)} a{")" * len(own)})' for own in (labels, labels[1:]))
    group = Group([wrong, right], gold=right)
    why = es.explain(es.VotedPerceptron(es.SubsetTree(1.5), score_weight=0.0).fit([group] * 3), group)
    svg = why.to_svg(600)
    assert "<b>" not in svg and "<b>" not in why.to_html() and "&lt;b&gt;&amp;" in why.to_html()
    assert any(text.endswith("…") and text.startswith("(") for text in check_room(svg))


def test_pale_nodes_and_notes_are_one_for_each_tree():
    tree = Tree.from_brackets("(S (A a) (B b))")
    svg = side_by_side([tree, tree], pale=[[(0,)], []], notes=[{}, {(1,): "²"}])
    assert svg.count('<g opacity=".5">') == 1 and ">B ²<" in svg and svg.count(">B<") == 1
    with pytest.raises(ValueError, match="pale must have one entry per tree: got 1 for 2 trees"):
        side_by_side([tree, tree], pale=[[()]])
    with pytest.raises(IndexError, match="no node at position"):
        side_by_side([tree], notes=[{(7,): "1"}])


# Pages and plots


def test_the_page_and_the_plot_say_what_the_picture_says(why, tmp_path):
    page = why.to_html(tmp_path / "why.html")
    assert (tmp_path / "why.html").read_text() == page == why._repr_html_()
    assert not re.search(r"(?:src|href)\s*=", page) and "<script" not in page and page.count("<svg") == 1
    for text in ("Why this one", "the lead", "of it, the parser&#39;s", "winner", "loser", "numbered at their roots"):
        assert text in page
    assert page.count("<code>") == len(why)
    axes = why.plot(n=3)
    assert len(axes.patches) == 3 and axes.get_xlabel() == "added to the lead of the winner"
    assert axes.get_title() == why.summary
    assert repr(why) == f"<Comparison of {why.names[0]} with {why.names[1]}: {why.summary}; 12 fragments>"


def test_candidates_of_a_dozen_words_stand_side_by_side_and_shrink_to_fit():
    words = "What fowl grabs the spotlight after the Chinese Year of the Monkey".split()
    flat = " ".join(f"(NN {word})" for word in words)
    right, wrong = f"(SBARQ {flat})", f"(SBARQ (NP {flat}))"
    group = Group([wrong, right], gold=right)
    why = es.explain(es.VotedPerceptron(es.SubsetTree(), score_weight=0.0).fit([group] * 3), group)

    def heights(svg):
        return set(re.findall(r'<text class="h" x="\d+" y="(\d+)"', svg))

    page = why.to_html()
    assert len(heights(why.to_svg())) == len(heights(page)) == 1 and len(heights(why.to_svg(900))) == 2
    least, width = int(re.search(r"--least:(\d+)px", page)[1]), int(re.search(r'<svg[^>]* width="(\d+)"', page)[1])
    assert width > 1200 and least == round(0.7 * width)


def test_a_browser_shows_the_comparison(why, tmp_path):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no Chromium here: `make browser` installs it and runs this test")
    matplotlib_image = pytest.importorskip("matplotlib.image")
    why.to_html(tmp_path / "why.html")
    picture = tmp_path / "why.png"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1300,1000"]
    command = [browser, *options, f"--screenshot={picture}", (tmp_path / "why.html").as_uri()]
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # of a sanitizer
    done = subprocess.run(command, capture_output=True, timeout=120, check=False, env=plain)
    if not picture.exists():
        pytest.skip(f"this browser takes no screenshot: {done.stderr.decode(errors='replace')[-200:]}")
    image = matplotlib_image.imread(picture)[..., :3]
    red, green, blue = (image[..., k] for k in range(3))
    assert ((blue > red + 0.5) & (blue > green + 0.2)).sum() > 500  # bars and edges of the winner
    assert ((red > blue + 0.5) & (red > green + 0.3)).sum() > 500  # and of the loser
