"""Figures and axes in the quiet look of the project's drawings.

Every plot draws into the axes it is given, or into a new figure. matplotlib is loaded when the first one is drawn, and
none of its settings change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from espalier.gp.latent_learner import LatentLearner
from espalier.gp.regressor import GPRegressor
from espalier.structures.palette import LINE, MUTED, TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def check_fitted(model: object, *, kinds: tuple[type[Any], ...] = (GPRegressor, LatentLearner)) -> None:
    """Refuse another model, and one that has not learned anything yet."""
    if not isinstance(model, kinds):
        named = "GPRegressor, GPClassifier or GPOrdinal" if len(kinds) > 1 else kinds[0].__name__
        raise TypeError(
            f"Only what a fitted {named} learned and predicts can be drawn, got {model!r}. "
            "Of a search or a pipeline, give the model itself: search.best_estimator_, pipeline[-1]."
        )
    check_is_fitted(model)


def new_figure(size: tuple[float, float]) -> Figure:
    """A figure of this size in inches, known to ``pyplot`` so that notebooks show it, with some room at its edges."""
    from matplotlib import pyplot
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return pyplot.figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.15, h_pad=0.12))


def axes_of(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes that were given, or those of a new figure, in the look of the project."""
    ax = new_figure(size).add_subplot() if ax is None else ax
    style(ax)
    return ax


def legend_above(ax: Axes, handles: list[Any] | None = None, *, scale: float = 1.0) -> None:
    """Put the legend between the axes and the title, where no data can be."""
    drawn = ax.get_legend_handles_labels()[0] if handles is None else handles
    ax.legend(
        handles=drawn,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=len(drawn),
        frameon=False,
        labelcolor=TEXT,
        fontsize=9 * scale,
        handletextpad=0.4,
        columnspacing=1.4,
        borderaxespad=0.2,
    )
    ax.set_title(ax.get_title(), pad=24 * scale)


def probability_square(ax: Axes, *, above: str, below: str, xlabel: str, ylabel: str) -> None:
    """Make both axes run from 0 % to 100 %, and write what it means to be above or below the diagonal."""
    for x, height, words, side in ((0.04, 0.7, above, "left"), (0.96, 0.22, below, "right")):
        ax.text(x, height, words, ha=side, color=MUTED, style="italic", fontsize=9)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel=xlabel, ylabel=ylabel)
    ax.set_aspect("equal")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:.0%}")


def style(ax: Axes) -> None:
    """Give axes the quiet look of the project's drawings, whatever the settings of the process are."""
    ax.set_facecolor("white")
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set(color=LINE, linewidth=0.8)
    ax.tick_params(which="both", colors=MUTED, labelsize=9)
    ax.grid(True, color="#eaeef2", linewidth=0.8)
    ax.set_axisbelow(True)
    for text in (ax.xaxis.label, ax.yaxis.label):
        text.set(color=TEXT, fontsize=10)
    ax.title.set(color=TEXT, fontsize=11)
