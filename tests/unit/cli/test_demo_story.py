"""The demo in terminals of any width, saying what was computed and no more."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import cache

import pytest
from rich.console import Console

from espalier.cli.demo_story import conclusion, folded, still_there, tell
from espalier.demo.answers import DECAYS, Answers, Score, answer_questions, tree_score_name
from espalier.structures.tree import Tree

TREE = Tree.from_brackets("(S (NP (D the) (J old) (N cat)) (VP (V sat)) .)")


@pytest.mark.parametrize(
    ("depth", "text"),
    [
        (0, r"(S the\ …)"),
        (1, r"(S (NP the\ …) (VP sat) .)"),
        (2, TREE.to_brackets()),
        (9, TREE.to_brackets()),
    ],
)
def test_what_is_below_the_depth_becomes_one_leaf(depth, text):
    assert folded(TREE, depth).to_brackets() == text


@pytest.mark.parametrize("depth", range(5))
def test_positions_that_are_kept_hold_the_same_labels(depth):
    kept = still_there(list(TREE.positions()), TREE, depth)
    assert kept
    for position in kept:
        assert folded(TREE, depth)[position].label == TREE[position].label


def test_a_deep_tree_folds_without_recursion():
    tree = Tree("x")
    for _ in range(50_000):
        tree = Tree("A", [tree])
    assert folded(tree, 2).height == 3


@cache
def small() -> Answers:
    return answer_questions(120, seed=0, n_threads=1)


def told(width: int) -> str:
    stream = io.StringIO()
    tell(small(), Console(file=stream, width=width, highlight=False))
    return stream.getvalue()


@pytest.mark.parametrize("width", [36, 60, 80, 120])
def test_every_width_shows_the_names_and_percentages_of_all_answers(width):
    lines = [" ".join(line.split()) for line in told(width).splitlines()]
    for score in small().scores:
        shown = f"{score.name} {100 * score.share:.1f} %"
        assert any(line.startswith(shown) for line in lines), shown
    assert ("seconds" in told(width)) == (width >= 80)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_score_table_fits_the_terminal(width):
    lines = told(width).splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith(" answered by"))
    assert all(len(line) <= width and "…" not in line for line in lines[first : first + 8])


def with_scores(words: float, trees: dict[float, float], *, chosen: float, n: int) -> Answers:
    """The small experiment with other scores."""
    by_trees = [Score(tree_score_name(decay), share) for decay, share in trees.items()]
    scores = (Score("guessing", 0.25), Score("words", words), *by_trees, Score("best possible", 0.95))
    return replace(small(), scores=scores, decay=chosen, n_held_out=n)


def test_few_questions_are_not_said_to_show_what_they_do_not():
    text = conclusion(with_scores(0.3, dict(zip(DECAYS, (0.7, 0.9, 0.65, 0.5), strict=True)), chosen=0.6, n=20))
    assert "Words answer 30.0 %, no more than guessing does by chance" in text
    assert "Structure answers 50.0 %" in text and "45 points below the best possible" in text
    assert "Decay 0.2 would have answered 90.0 % here" in text
    assert "all that can be answered" not in text


def test_a_good_choice_is_said_to_be_good():
    text = conclusion(with_scores(0.26, dict(zip(DECAYS, (0.7, 0.8, 0.9, 0.94), strict=True)), chosen=0.6, n=400))
    assert "Structure answers 94.0 % with the decay that was chosen: all that can be answered" in text
    assert "would have answered" not in text and "More questions" not in text


def test_words_that_help_are_said_to_help():
    text = conclusion(with_scores(0.6, dict.fromkeys(DECAYS, 0.7), chosen=0.1, n=400))
    assert "Words answer 60.0 %, and guessing 25.0 %" in text
