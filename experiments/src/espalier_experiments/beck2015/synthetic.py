"""Sections 4.1 and 4.2: the values that made the data are found again, and a richer kernel wins where it is true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from espalier_experiments import measures
from espalier_experiments.beck2015 import samples
from espalier_experiments.beck2015.settings import PAPER, Setup
from espalier_experiments.page import COLOURS, GREY, Page, logarithmic, number
from espalier_experiments.records import fit_gp, short
from espalier_experiments.selection import Record, quartiles
from espalier_experiments.store import Results, Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "synthetic"
SIZES, REPETITIONS, RESTARTS, TREES = (25, 50, 100, 200, 400, 800), 20, 10, 1000
TOLERANCE = 1e-4  # of the gradient per example
# What is learned from which truth: the paper's figure 2, and the two curves of its figure 3.
COMPARED = (("subset", "subset"), ("symbol-aware", "subset"), ("symbol-aware", "symbol-aware"))
TRUE_VALUES = {
    "subset": {"kernel.decay": samples.DECAY, "kernel.frontier": samples.FRONTIER, "noise": samples.NOISE},
    "symbol-aware": {f"kernel.decay[{key}]": value for key, value in samples.SYMBOL_DECAY.items()}
    | {f"kernel.frontier[{key}]": value for key, value in samples.SYMBOL_FRONTIER.items()}
    | {"noise": samples.NOISE},
}


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    return {
        "trees": 60 if quick else TREES,
        "restarts": 1 if quick else RESTARTS,
        "noise": samples.NOISE,
        "tolerance": TOLERANCE,
    }


def tasks(setup: Setup) -> list[Task]:
    """One task per truth, model, training size and repetition, kernels normalised and not; the cheap ones first."""
    sizes, repetitions = ((20, 40), 1) if setup.quick else (SIZES, REPETITIONS)
    return [
        Task(
            {"truth": truth, "model": model, "normalized": normalized, "size": size, "repetition": repetition},
            learn,
            setup.arguments,
        )
        for size in sizes
        for normalized in (False, True)
        for truth, model in COMPARED
        for repetition in range(repetitions)
    ]


def learn(truth: str, model: str, normalized: bool, size: int, repetition: int, setup: Setup) -> Record:
    """Learn a kernel from one sample; say what was found, and the error on the test trees."""
    common = settings(quick=setup.quick)
    sample = samples.draw(
        setup.data,
        truth,
        normalized=normalized,
        n_trees=common["trees"],
        n_test=common["trees"] // 5 if setup.quick else samples.N_TEST,
        repetition=repetition,
        seed=setup.seed,
    )
    train, y = sample.part(size)
    options = {"standardize": False, "tolerance": common["tolerance"], "n_threads": setup.n_threads}
    start = samples.start_kernel(model, sample.forest, normalized=normalized)
    fitted, seconds = fit_gp(
        start, train, y, noise=samples.START_NOISE, restarts=common["restarts"], random_state=repetition, **options
    )
    true = samples.true_kernel(truth, sample.forest, normalized=normalized)
    oracle, _ = fit_gp(true, train, y, noise=samples.NOISE, learn=False, **options)
    predicted, observed = fitted.predict(sample.held_out), sample.observed[sample.test]
    return {
        "rmse": measures.rmse(observed, predicted),
        "rmse_of_function": measures.rmse(sample.function[sample.test], predicted),
        "rmse_with_true_values": measures.rmse(observed, oracle.predict(sample.held_out)),
        "evidence": float(fitted.log_marginal_likelihood_),
        "evidence_of_true_values": float(oracle.log_marginal_likelihood_),
        "fit_seconds": short(seconds),
        "evaluations": sum(restart.n_evaluations for restart in fitted.restarts_),
        "learned": {path: short(value) for path, value in fitted.learned_.to_dict().items()},
    }


def page(results: Results) -> Page:
    """Figures 2 and 3 redrawn, and their numbers."""
    out = Page(results.path.stem, "Synthetic data: are hyperparameters found again?")
    out.aim(
        "Find the hyperparameters again from which data were drawn.",
        "Learned values and errors on held-out trees, by the number of training trees.",
        "The true values, and the symbol-aware kernel with the plain one, as in the paper's figures 2 and 3.",
    )
    out.say(
        f"Sections 4.1 and 4.2 of {PAPER}. Functions are drawn from a Gaussian process over real trees and observed "
        f"with noise of variance {samples.NOISE}; a process with the same kernel, or a simpler one, learns from them."
    )
    out.say(
        "The paper draws its trees from the Penn Treebank. Here they are 1,000 different trees of the sample of the "
        "Wall Street Journal that NLTK distributes, bare of traces, function tags and indices: 800 to learn from, 200 "
        "held out. "
        f"Medians and quartiles of {REPETITIONS} repetitions, {RESTARTS} random starts beside the declared one. "
        "The training sizes are ours: the paper gives its own only on the axes of its figures 2 and 3."
    )
    out.say(
        "The paper reports that about 200 trees bring the original values back, and that the symbol-aware kernel, "
        "where it is true, has the smaller error from 100 trees on. In our runs of 20 repetitions both are so, the "
        "latter from 25 trees on. Not found reliably are the symbol-aware frontier of labels other than S, which "
        "hardly changes the kernel where their decay is so small, and the decay of a normalised subset kernel. Errors "
        "do not suffer: they are nearly those of the true values."
    )
    for normalized in (False, True):
        records = results.where(normalized=normalized)
        if records:
            _recovered(out, records, "normalised" if normalized else "not normalised", normalized)
            _errors(out, records, "normalised" if normalized else "not normalised", normalized)
    return out


def _recovered(out: Page, records: Sequence[Record], title: str, normalized: bool) -> None:
    """Section 4.1: what was learned by training size, beside the truth."""
    for truth in samples.TRUTHS:
        own = [r for r in records if r["truth"] == truth and r["model"] == truth]
        if not own:
            continue
        out.section(f"Learned values, {truth} kernel, {title}")
        paths = [path for path in TRUE_VALUES[truth] if path in own[0]["learned"]]
        rows = [["true"] + [f"{TRUE_VALUES[truth][path]:g}" for path in paths]]
        for size in _sizes(own):
            here = [r["learned"] for r in own if r["size"] == size]
            rows.append([f"{size} trees"] + [_spread([values[path] for values in here]) for path in paths])
        out.table(["median (quartiles)", *(path.removeprefix("kernel.") for path in paths)], rows)
        name = f"learned-{truth}" + ("-normalized" if normalized else "")
        out.draw(name, f"Learned values by training size, {title}", [_value_panel(own, truth, p) for p in paths])


def _errors(out: Page, records: Sequence[Record], title: str, normalized: bool) -> None:
    """Section 4.2: errors of both kernels where the symbol-aware one is true."""
    own = [r for r in records if r["truth"] == "symbol-aware"]
    if not own:
        return
    out.section(f"Errors where the symbol-aware kernel is true, {title}")
    curves = {
        "subset tree": ([r for r in own if r["model"] == "subset"], "rmse"),
        "symbol-aware": ([r for r in own if r["model"] == "symbol-aware"], "rmse"),
        "true values": (own, "rmse_with_true_values"),
    }
    rows = [
        [f"{size} trees"]
        + [_spread([r[entry] for r in listed if r["size"] == size], digits=4) for listed, entry in curves.values()]
        for size in _sizes(own)
    ]
    out.table(["RMSE, median (quartiles)", *curves], rows)
    out.draw("rmse" + ("-normalized" if normalized else ""), f"RMSE by training size, {title}", [_error_panel(curves)])


def _sizes(records: Sequence[Record]) -> list[int]:
    return sorted({record["size"] for record in records})


def _spread(values: Sequence[float], digits: int | None = None) -> str:
    if not values:
        return "-"
    low, middle, high = (f"{v:.3g}" if digits is None else number(v, digits) for v in quartiles(values))
    return f"{middle} ({low}, {high})"


def _value_panel(records: Sequence[Record], truth: str, path: str) -> Callable[[Axes], None]:
    def fill(axes: Axes) -> None:
        axes.axhline(TRUE_VALUES[truth][path], color=GREY, linestyle="--", label="true")
        _band(axes, [(size, [r["learned"][path] for r in records if r["size"] == size]) for size in _sizes(records)], 0)
        axes.set(title=path.removeprefix("kernel."), xlabel="training trees", yscale="log")
        low, high = axes.get_ylim()
        room = max(1.0, (10 * low / high) ** 0.5)  # a decade at least, or there would be one tick
        axes.set_ylim(low / room, high * room)
        logarithmic(axes.yaxis)
        _size_axis(axes, _sizes(records))
        axes.legend()

    return fill


def _error_panel(curves: dict[str, tuple[list[Record], str]]) -> Callable[[Axes], None]:
    def fill(axes: Axes) -> None:
        for colour, (name, (records, entry)) in enumerate(curves.items()):
            points = [(size, [r[entry] for r in records if r["size"] == size]) for size in _sizes(records)]
            if name == "true values":  # on the symbol-aware curve, where learning succeeded
                medians = [quartiles(values)[1] for _, values in points]
                axes.plot(_sizes(records), medians, color=GREY, linestyle="--", label=name, zorder=3)
            else:
                _band(axes, points, colour, name)
        axes.set(xlabel="training trees", ylabel="RMSE")
        _size_axis(axes, sorted({size for records, _ in curves.values() for size in _sizes(records)}))
        axes.legend()

    return fill


def _size_axis(axes: Axes, sizes: Sequence[int]) -> None:
    from matplotlib.ticker import NullLocator

    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(sizes, [str(size) for size in sizes])


def _band(axes: Axes, points: Sequence[tuple[int, list[float]]], colour: int, label: str = "learned") -> None:
    """A line of medians in a band of quartiles."""
    sizes, spreads = [size for size, _ in points], [quartiles(values) for _, values in points]
    low, middle, high = ([spread[k] for spread in spreads] for k in range(3))
    axes.fill_between(sizes, low, high, color=COLOURS[colour], alpha=0.2, linewidth=0)
    axes.plot(sizes, middle, color=COLOURS[colour], marker="o", markersize=3, label=label)
