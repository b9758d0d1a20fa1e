"""``Explanation``: why a model decides as it does, as a table, a plot, a drawing or a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from espalier.spaces.space import Feature
from espalier.structures.drawing import side_by_side, tree_svg
from espalier.structures.files import write_text
from espalier.structures.fragment import Position
from espalier.structures.frames import frame_of
from espalier.structures.layout import printable
from espalier.structures.palette import AGAINST, FOR
from espalier.structures.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

_LONGEST = 60  # characters of a fragment beside its bar


@dataclass(frozen=True)
class Example:
    """A training tree that contains a fragment, and the position of the fragment's root."""

    row: int
    tree: Tree
    position: Position


@dataclass(frozen=True)
class Reason:
    """A fragment and its effect.

    Attributes
    ----------
    score
        The score that it belongs to: a class, or the prediction.
    column
        The column that holds the tree, if the kernel names one.
    fragment, weight
        The fragment, and its weight in the model: what each unit of the fragment adds to the score.
    low, high
        The interval in which the weight lies with a probability of 95 %, for Gaussian processes; None for other models.
    n_trees
        How many training trees contain it; for a support vector machine, how many of those that it kept. None for
        models that keep no trees.
    contribution
        What it adds to the score of the example that is explained; None if a model is explained.
    variance
        What the uncertainty of its weight adds to the variance of the prediction, for Gaussian processes.
    example
        A training tree that contains it.
    in_winner, in_loser
        If two candidates are compared, the nodes of each at which it is rooted.
    """

    score: str
    column: str | None
    fragment: Feature
    weight: float
    low: float | None
    high: float | None
    n_trees: int | None
    contribution: float | None = None
    variance: float | None = None
    example: Example | None = None
    in_winner: tuple[Position, ...] = ()
    in_loser: tuple[Position, ...] = ()

    @property
    def effect(self) -> float:
        """What it adds to the score of the example; its weight if a model is explained."""
        return self.weight if self.contribution is None else self.contribution


@dataclass(frozen=True, eq=False)
class TreeShares:
    """One tree of the example that is explained, and the share of every node in the score."""

    column: str | None
    tree: Tree
    total: float
    shares: NDArray[np.float64]  # every node before its children
    split: str  # how a feature is shared by its nodes: a key of ``espalier.explanations.page.SPLITS``
    item: str = "tree"  # what was drawn as a tree

    @property
    def is_text(self) -> bool:
        """Whether the item is a plain text: words, without a tree above them."""
        return self.tree.label == "" and not any(word.children for word in self.tree.children)


@dataclass(frozen=True, eq=False)
class Explanation:
    """What decides a score: fragments of a whole model, or fragments and nodes of one example.

    Attributes
    ----------
    reasons
        Fragments, those with the largest effect first.
    value, intercept
        The score of the example and its constant part; None if a model is explained. ``value`` is ``intercept`` plus
        the totals of all trees plus ``elsewhere``.
    elsewhere
        What parts of the kernel without fragments, such as kernels on vectors, add to the score.
    variance
        The variance of the example's function value, its mean included, for Gaussian processes.
    trees
        The trees of the example, with the shares of their nodes.
    left_out
        Parts of the kernel that have no fragments.
    """

    reasons: tuple[Reason, ...]
    value: float | None = None
    intercept: float | None = None
    elsewhere: float | None = None
    variance: float | None = None
    trees: tuple[TreeShares, ...] = ()
    left_out: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Reason]:
        return iter(self.reasons)

    def __len__(self) -> int:
        return len(self.reasons)

    @property
    def scores(self) -> list[str]:
        """The scores that are explained, in the model's order."""
        return list(dict.fromkeys(reason.score for reason in self.shown))

    @property
    def shown(self) -> tuple[Reason, ...]:
        """What drawings and pages list."""
        return self.reasons

    @property
    def kind(self) -> str:
        """What the listed features are: fragments, n-grams, or features of several kinds."""
        kinds = {reason.fragment.kind for reason in self.reasons} or {"fragment"}
        return kinds.pop() if len(kinds) == 1 else "feature"

    def of(self, score: str) -> list[Reason]:
        """The reasons of one score."""
        return [reason for reason in self.reasons if reason.score == score]

    def to_frame(self) -> DataFrame:
        """Return a pandas frame with one row for each fragment."""
        names = ("score", "column", "fragment", "weight", "low", "high", "n_trees", "contribution", "variance")
        rows = [{name: getattr(reason, name) for name in names} | {"fragment": str(reason.fragment)} for reason in self]
        return frame_of(rows, names).dropna(axis="columns", how="all")

    def nodes(self) -> DataFrame:
        """Return a pandas frame with one row for each node of the example: column, position, label, share."""
        rows = [
            (own.column, position, node.label, float(share))
            for own in self.trees
            for position, node, share in zip(own.tree.positions(), own.tree, own.shares, strict=True)
        ]
        return frame_of(rows, ["column", "position", "label", "share"])

    def to_svg(self, width: int | None = 1200) -> str:
        """Draw the example's trees with their nodes in the colours of their shares, or examples of the fragments."""
        if self.trees:
            marks = [node_colours(own) for own in self.trees]
            titles = [f"{own.column or own.item}: {own.total:+.3g}" for own in self.trees]
            return side_by_side([own.tree for own in self.trees], highlights=marks, titles=titles, width=width)
        shown = [reason for reason in self.reasons if reason.example is not None]
        if not shown:
            return tree_svg(Tree("nothing"))
        return side_by_side(
            [reason.example.tree for reason in shown if reason.example],
            highlights=[fragment_colours(reason) for reason in shown],
            titles=[f"{reason.score} {reason.weight:+.2f}" for reason in shown],
            width=width,
        )

    def to_html(self, path: str | Path | None = None) -> str:
        """Return a self-contained HTML page; also write it to a file, whole or not at all."""
        from espalier.explanations.page import explanation_page

        page = explanation_page(self)
        if path is not None:
            write_text(path, page)
        return page

    def plot(self, ax: Axes | None = None, *, n: int = 15) -> Axes:
        """Draw bars of the weights, or of the contributions to one score."""
        if not self.shown:
            raise ValueError("There is nothing to draw: the explanation lists no fragment.")
        shown = sorted(self.shown, key=lambda reason: -abs(reason.effect))[:n][::-1]
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=(9, 0.9 + 0.32 * len(shown)), layout="constrained")
        values = [reason.effect for reason in shown]
        ax.barh(range(len(shown)), values, color=[FOR if value > 0 else AGAINST for value in values], height=0.7)
        if self.value is None and all(reason.low is not None for reason in shown):
            errors = [[r.weight - (r.low or 0.0) for r in shown], [(r.high or 0.0) - r.weight for r in shown]]
            ax.errorbar(values, range(len(shown)), xerr=errors, fmt="none", ecolor="#57606a", capsize=2, linewidth=1)
        labels = [printable(str(reason.fragment), _LONGEST) for reason in shown]
        if len(self.scores) > 1:
            scores = [printable(str(reason.score), _LONGEST) for reason in shown]
            labels = [f"{score}: {label}" for score, label in zip(scores, labels, strict=True)]
        ax.set_yticks(range(len(shown)), labels, family="monospace", fontsize=8, parse_math=False)
        ax.axvline(0, color="#8c959f", linewidth=0.8)
        ax.set_xlabel("weight in the model" if self.value is None else "added to the score")
        for side in ("top", "right", "left"):
            ax.spines[side].set_visible(False)
        ax.tick_params(axis="y", length=0)
        return ax

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        kind = "a model" if self.value is None else f"a score of {self.value:.4g}"
        return f"<Explanation of {kind}: {len(self):,} {self.kind}s for {', '.join(self.scores) or 'nothing'}>"


def heaviest_shares(shares: NDArray[np.float64]) -> list[int]:
    """The numbers of the largest shares, positive or negative, until they cover most of the total."""
    total = float(np.abs(shares).sum())
    out: list[int] = []
    told = 0.0
    for k in np.argsort(-np.abs(shares), kind="stable").tolist():
        if shares[k] == 0 or told > 0.8 * total:
            break
        out.append(k)
        told += abs(float(shares[k]))
    return out


def node_colours(own: TreeShares) -> dict[Position, str]:
    """The colours of the nodes with the largest shares."""
    positions: Sequence[Position] = list(own.tree.positions())
    return {positions[k]: FOR if own.shares[k] > 0 else AGAINST for k in heaviest_shares(own.shares)}


def fragment_colours(reason: Reason) -> dict[Position, str]:
    """The nodes of a fragment in its example."""
    assert reason.example is not None
    colour = FOR if reason.weight > 0 else AGAINST
    return dict.fromkeys(reason.fragment.nodes(reason.example.tree, reason.example.position), colour)
