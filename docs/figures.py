"""Draws the pictures of the documents: ``python docs/figures.py``.

Fragments are listed here from their definitions, on their own, so that a picture and the kernel it explains
can be compared: the tests check that the kernel counts as many as are drawn, and that they weigh as much as
is written above them.

A framed node was left without its children; what stands in green is a word.

The pictures of a fitted model are those of ``espalier.explanations``, set in the type and the colours of the others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

import espalier as es
from espalier import Fragment, Tree
from espalier.demo import EDITORS, generate, generate_attachments, generate_editors, generate_translations
from espalier.explanations import shared_fragments
from espalier.explanations.explanation import fragment_colours
from espalier.gp import Inducing, LogNormal
from espalier.gp.plots.axes import axes_of, legend_above
from espalier.parsing import PCFG, DependencyParser
from espalier.rerank import jackknifed
from espalier.structures.arc_drawing import arc_summary
from espalier.structures.arc_elements import arc_elements
from espalier.structures.drawing import arranged, card, side_by_side, tree_svg
from espalier.structures.files import write_text
from espalier.structures.palette import AGAINST, BLUE, FOR, ORANGE
from espalier.structures.plot_svg import OPTIONS, themed_svg

FOLDER = Path(__file__).resolve().parent / "figures"
SENTENCE = Tree.from_brackets("(S (NP (D the) (N cat)) (VP (V sleeps)))")
OTHER = Tree.from_brackets("(S (NP (D the) (N dog)) (VP (V sleeps)))")
# What the quickstart asks for, and what it finds.
QUERY = Tree.from_brackets("(SBARQ (WHADVP (WRB Where)) (SQ (VBD did) (NP (DT the) (NN king)) (VP (VB die))))")
NEIGHBOUR = Tree.from_brackets("(SBARQ (WHADVP (WRB Where)) (SQ (VBD did) (NP (DT the) (NN author)) (VP (VB live))))")
WIDTH = 760
FRAME = "#6e7781"  # legible on light and on dark pages


def subtrees(tree: Tree) -> list[Fragment]:
    """Every inner node with all that is below it."""
    return [Fragment(node) for node in tree if not node.is_leaf]


def subset_trees(tree: Tree, max_depth: int | None = None) -> list[Fragment]:
    """Every connected piece in which a node keeps all of its children or none."""

    def rooted(node: Tree, depth: int) -> list[str]:
        if depth == 0:
            return []
        choices = [
            [child.label] if child.is_leaf else [f"({child.label})", *rooted(child, depth - 1)]
            for child in node.children
        ]
        return [f"({node.label} {' '.join(children)})" for children in product(*choices)]

    depth = tree.size if max_depth is None else max_depth
    inner = [node for node in tree if not node.is_leaf]
    return [Fragment.from_brackets(text) for node in inner for text in rooted(node, depth)]


def partial_trees(tree: Tree) -> list[Fragment]:
    """Every connected piece, some children of a node kept and others not; the smallest first."""

    def rooted(node: Tree) -> list[str]:
        if node.is_leaf:
            return [node.label]
        out = [f"({node.label})"]
        for n in range(1, len(node.children) + 1):
            for kept in combinations(node.children, n):
                for children in product(*(rooted(child) for child in kept)):
                    out.append(f"({node.label} {' '.join(children)})")
        return out

    found = [
        Fragment(Tree(text)) if node.is_leaf else Fragment.from_brackets(text) for node in tree for text in rooted(node)
    ]
    return sorted(found, key=lambda fragment: fragment.tree.size)


def subset_exponents(fragment: Fragment) -> dict[str, int]:
    """Of decay: the productions. Of frontier: the nodes left unexpanded."""
    return {"λ": fragment.n_productions, "α": len(fragment.unexpanded)}


def partial_exponents(fragment: Fragment) -> dict[str, int]:
    """Of decay: twice the nodes at which the fragment ends. Of depth_decay: its nodes.

    Nothing is said of gaps: no node of the example has a child between two others.
    """
    return {"λ": 2 * len(fragment.tree.leaves()), "μ": fragment.tree.size}


def _written(exponents: dict[str, int]) -> str:
    raised = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    factors = [
        name if power == 1 else f"{name}{str(power).translate(raised)}" for name, power in exponents.items() if power
    ]
    return " ".join(factors)


def _frames(fragment: Fragment) -> dict[tuple[int, ...], str]:
    """The positions of nodes without their children, so that they do not look like words."""
    leaves = [position for position in fragment.tree.positions() if fragment.tree[position].is_leaf]
    return {leaves[number]: FRAME for number in fragment.unexpanded}


def _gallery(fragments: Sequence[Fragment], exponents: Callable[[Fragment], dict[str, int]]) -> str:
    return side_by_side(
        [fragment.tree for fragment in fragments],
        highlights=[_frames(fragment) for fragment in fragments],
        titles=[_written(exponents(fragment)) for fragment in fragments],
        width=WIDTH,
    )


def _shared(x: Tree, y: Tree, titles: Sequence[str]) -> str:
    heaviest = shared_fragments(x, y, n=1)[0]
    places = (heaviest.in_x[0], heaviest.in_y[0])
    marked = [list(heaviest.fragment.positions(place)) for place in places]
    return side_by_side([x, y], highlights=marked, titles=titles)


FIGURES = {
    "sentence": lambda: tree_svg(SENTENCE),
    "subtree": lambda: _gallery(subtrees(SENTENCE), subset_exponents),
    "subset_tree": lambda: _gallery(subset_trees(SENTENCE), subset_exponents),
    "subset_tree_depth_1": lambda: _gallery(subset_trees(SENTENCE, max_depth=1), subset_exponents),
    "partial_tree": lambda: _gallery(partial_trees(SENTENCE), partial_exponents),
    "shared": lambda: _shared(SENTENCE, OTHER, ["one sentence", "and another"]),
    "neighbours": lambda: _shared(QUERY, NEIGHBOUR, ["the query", "its nearest neighbour"]),
}


@cache
def fitted() -> tuple[es.GPRegressor, es.Table]:
    """The model of the guide, climbed from more starts, and the translations that it has not seen."""
    table = generate_translations(400, seed=2)
    source = es.Normalized(es.SubsetTree(es.PerLabel(0.3, prior=None), on="source"))
    target = es.Normalized(es.SubsetTree(on="target"))
    kernel = 1.0 * source + 1.0 * target + 1.0 * es.RBF(on="features")
    model = es.GPRegressor(kernel, target_transform="log", restarts=5, random_state=4)
    return model.fit(table[:200], table["seconds"][:200]), table[200:]


def of_editors() -> es.GPRegressor:
    """The model of the guide to several tasks."""
    table = generate_editors(50, seed=1, known=0.5)
    items = es.Normalized(es.SubsetTree(decay=0.3, on="target"))
    model = es.GPRegressor(es.Coregion(on="task") * items, target_transform="log", tolerance=1e-3)
    return model.fit(table, table[list(EDITORS)])


def _decides() -> str:
    """The heaviest fragment for and against one class, each in a question of the demo."""
    table = generate(400, seed=1)
    machine = es.KernelSVC(es.Normalized(es.SubsetTree(on="tree"))).fit(table, table["label"])
    reasons = es.explain(machine, n=10).of("place")
    asked = "(SBARQ"  # what the whole question looks like
    shown = [
        next(r for r in reasons if r.weight > 0 and str(r.fragment).startswith(asked)),
        next(r for r in reasons if r.weight < 0 and not str(r.fragment).startswith(asked)),
    ]
    return side_by_side(
        [reason.example.tree for reason in shown],
        highlights=[fragment_colours(reason) for reason in shown],
        titles=["speaks for a place", "speaks against a place"],
        width=WIDTH,
    )


def _why() -> str:
    """Two parses of a sentence of the demo, of which the words decide."""
    trees = generate_attachments(600, seed=1)
    grammar = PCFG.from_treebank(trees[:200])

    def group(words: list[str], gold: Tree | None = None) -> es.Group:
        parses = grammar.parse(words, 10)
        return es.Group(parses.candidates, parses.scores, gold)

    reranker = es.Reranker(es.VotedPerceptron(es.SubsetTree(decay=0.4), epochs=3, random_state=0))
    reranker.fit([group(tree.words(), tree) for tree in trees[200:]])
    return es.explain(reranker, group("the painter watched the sailor with the coat .".split())).to_svg(1000)


def _selected() -> str:
    """The heaviest subtree for a candidate, and the heaviest against, each in the first list that has it."""
    trees = [tree.to_dependencies() for tree in generate_attachments(200, seed=1)]
    settings = {"order": 1, "epochs": 2, "bits": 16}
    groups = jackknifed(trees, k=10, folds=4, make=DependencyParser.from_treebank, add_gold=True, **settings)
    kernel = es.DependencySubtree(("head tag, word",), root=True)
    features = es.KernelSpaceSelector(kernel, C=5.0, max_passes=10).fit(groups).features_
    drawings, told, titles = [], [], []
    for sign, colour, says in ((1, FOR, "speaks for a tree"), (-1, AGAINST, "speaks against a tree")):
        own = features.chosen(np.argsort(-sign * features.weights[:, 0] * (features.order == 2), kind="stable")[:1])
        example = own.examples(groups, 1)[0][0]
        tree = groups[example.row].candidates[example.candidate]
        drawings.append(arc_elements(tree, dict.fromkeys(example.places[0], colour), {}, (), {}))
        told.append(arc_summary(tree))
        titles.append(f"{own[0]} {says}")
    return card(*arranged(drawings, titles, WIDTH), "; ".join(told))


@cache
def sparse() -> tuple[es.GPRegressor, dict[int, float]]:
    """A sparse process on translations of the demo, and the noise that bounds learn, by the number of structures."""
    table = generate_translations(1000, seed=1)
    kernel = 1.0 * es.Normalized(es.SubsetTree(decay=0.3, on="target"))

    def fit(inducing: Inducing) -> es.GPRegressor:
        return es.GPRegressor(kernel, target_transform="log", pilot=300, inducing=inducing).fit(table, table["seconds"])

    noise = {m: float(fit(Inducing(m, learn="bound")).noise_) for m in (10, 20, 50, 100, 200)}
    return fit(Inducing(50)), noise


def _inducing() -> str:
    """The first trees that were chosen."""
    trees = generate_translations(1000, seed=1)["target"]
    rows = sparse()[0].inducing_rows_[:3].tolist()
    return side_by_side([trees[row] for row in rows], titles=["first", "second", "third"], width=WIDTH)


def _sparse_noise() -> Any:
    """The noise that bounds learn, above that of an exact process."""
    model, noise = sparse()
    axes = axes_of(None, (4.6, 3.2))
    axes.plot(list(noise), list(noise.values()), "o-", ms=4, color=ORANGE, label="learned by the bound")
    axes.axhline(model.noise_, color=BLUE, label="learned exactly, on a pilot")
    axes.set_ylim(0, 1.1 * max(noise.values()))
    axes.set_xlabel("inducing structures")
    axes.set_ylabel("noise variance")
    legend_above(axes)
    return axes


def _plot(draw: Callable[[], Any]) -> str:
    """A picture of matplotlib like the others: text as text, on a card, for light and dark pages, always the same."""
    import matplotlib
    from matplotlib import pyplot

    with matplotlib.rc_context(OPTIONS):
        drawn = draw()
        figure = getattr(drawn, "figure", None) or drawn[0].figure
        svg = themed_svg(figure)
        pyplot.close(figure)
    return svg


def _reliability() -> str:
    """How sure the classifier of the guide is of new questions, against how often it is right."""
    table = generate(400, seed=1)
    model = es.GPClassifier(es.Normalized(es.SubsetTree(on="tree"))).fit(table[:200], table["label"][:200])
    return _plot(lambda: es.plot_calibration(model, table[200:], table["label"][200:]))


def _thresholds() -> str:
    """The grades of the guide, in words."""
    table = generate_translations(400, seed=2)
    names = ["quick", "fair", "slow", "endless"]
    grades = np.array(names)[np.digitize(table["seconds"], [2.0, 3.0, 5.0])]
    kernel = 1.0 * es.Normalized(es.SubsetTree(on="target")) + 1.0 * es.RBF(on="features")
    model = es.GPOrdinal(kernel, grades=names).fit(table[:200], grades[:200])
    return _plot(lambda: es.plot_thresholds(model, table[200:], grades[200:]))


def _draws() -> str:
    """The distribution of the hyperparameters of the guide, by draws and by the cheap way."""
    known = generate_translations(430, seed=2)[:30]
    lengthscale = es.Learned(1.0, prior=LogNormal(1.0, 0.7))
    kernel = es.Learned(1.0, prior=LogNormal(1.0)) * es.RBF(lengthscale, on="features")
    model = es.GPRegressor(kernel, noise=es.Learned(0.2, prior=LogNormal(0.2)), target_transform="log")
    model.fit(known, known["seconds"])
    return _plot(lambda: es.bayes.plot_draws(es.bayes.sample(model), beside=es.bayes.approximate(model)))


# Learned numbers differ in their last digits between machines, so these need not be the same to the bit.
PLOTS = {
    "inducing": _inducing,
    "sparse_noise": lambda: _plot(_sparse_noise),
    "draws": _draws,
    "learned": lambda: _plot(lambda: es.plot_learned(fitted()[0])),
    "predictions": lambda: _plot(lambda: es.plot_predictions(fitted()[0], fitted()[1], fitted()[1]["seconds"])),
    "calibration": lambda: _plot(lambda: es.plot_calibration(fitted()[0])),
    "decides": _decides,
    "selected": _selected,
    "reliability": _reliability,
    "restarts": lambda: _plot(lambda: es.plot_restarts(fitted()[0])),
    "tasks": lambda: _plot(lambda: es.plot_tasks(of_editors())),
    "thresholds": _thresholds,
    "why": _why,
}


def main() -> None:
    for name, draw in {**FIGURES, **PLOTS}.items():
        write_text(FOLDER / f"{name}.svg", draw())
        sys.stdout.write(f"{name}.svg\n")


if __name__ == "__main__":
    main()
