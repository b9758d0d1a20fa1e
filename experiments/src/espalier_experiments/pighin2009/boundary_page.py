"""The page of boundary detection: F1, seconds and ratios by the number of training trees."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from espalier_experiments.page import COLOURS, Page, number
from espalier_experiments.pighin2009 import published
from espalier_experiments.pighin2009.learning import N_FOLDS, PAPER, TEST_RUNS
from espalier_experiments.records import Record
from espalier_experiments.store import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BySize = dict[int, Record]

STAGES = ("mine_seconds", "extract_seconds", "learn_seconds")


def page(results: Results) -> Page:
    """F1 and seconds by the number of training candidates, ratios, and how the cost grows."""
    records = list(results)
    kernel, linear = ({r["rows"]: r for r in records if r["method"] == name} for name in ("kernel", "linear"))
    out = Page(results.path.stem, "Boundaries of semantic roles: up to a million trees")
    out.aim(
        "Learn from a million trees, where a kernel machine cannot, and lose nothing where it can.",
        "F1 on the test part, and seconds of training and testing, by the number of training trees.",
        "The kernel machine up to the largest matrix that fits, and the paper's table 1.",
    )
    _introduction(out, results)
    sizes = sorted({*kernel, *linear})
    out.section("F1 on the test part, per cent")
    out.table(
        ["training candidates", "kernel", "linear", "kernel, precision / recall", "linear, precision / recall"],
        [_f1_row(n, kernel.get(n), linear.get(n)) for n in sizes]
        + [
            [
                f"table 1 of the paper, {published.N_BOUNDARY:,}",
                *(number(value, 1) for value in published.BOUNDARY),
                "-",
                "-",
            ]
        ],
    )
    out.say(
        "The paper's candidates are those of the Wall Street Journal in automatic parses, ours of the web in gold "
        "parses, so its F1 is no goal for ours. What compares is the loss by making the machine linear: "
        f"{published.BOUNDARY[0] - published.BOUNDARY[1]:.1f} points there. The paper's kernel machine trains in more "
        "than two days and tests in 4 hours; its linear machine takes 381 and 25 minutes."
    )
    out.section("Seconds")
    header = ["kernel, training", "linear, training", "times as fast"]
    header += ["kernel, testing", "linear, testing", "times as fast"]
    out.table(["training candidates", *header], [_seconds_row(n, kernel.get(n), linear.get(n)) for n in sizes])
    growth = _growth(kernel)
    if growth is not None and max(linear, default=0) > max(kernel):
        _extrapolation(out, growth, kernel, linear)
    panels = [_time_panel(kernel, linear, growth), _f1_panel(kernel, linear)]
    out.draw("cost", "Seconds of training and F1 by the number of training candidates", panels)
    out.section("Stages of linear training, seconds")
    out.table(
        ["training candidates", "parts", "learning and mining", "extraction", "linear learning", "features"],
        [
            [f"{n:,}", str(r["splits"]), *(f"{r[stage]:.3g}" for stage in STAGES), f"{r['features']:,}"]
            for n, r in sorted(linear.items())
        ],
    )
    return out


def _introduction(out: Page, results: Results) -> None:
    first = next(iter(results))
    out.say(
        f"The boundary detection of {PAPER}, on PropBank's arguments in the English Web Treebank, for the paper's "
        "corpus is not free. A candidate is a predicate with any constituent that does not hold it; its tree is the "
        "smallest with the words of both, and both nodes are marked. There are 1,690,078 candidates to learn from, "
        f"drawn at random, and {first['test_rows']:,} to test on, all of the test part; one in twenty is an argument. "
        f"Parses are gold. `{first['kernel']}` and C {first['C']:g} have the best F1 in {N_FOLDS}-fold "
        f"cross-validation on the first {results.settings['choice_rows']:,} training candidates."
    )
    out.say(
        f"*Linear* is all stages: kernel machines on ten parts of the training data (on more where a part would have "
        f"more than 10,000), the {results.settings['fragments']:,} heaviest fragments of each, mined exactly; the "
        "features of the joined dictionary; a linear machine with the same loss and the same C. Seconds are on one "
        f"thread, from interned trees on; those of testing are the best of {TEST_RUNS} runs."
    )


def _f1_row(n: int, *both: Record | None) -> list[str]:
    f1 = [number(100 * r["f1"], 2) if r else "-" for r in both]
    return [f"{n:,}", *f1, *(f"{100 * r['precision']:.1f} / {100 * r['recall']:.1f}" if r else "-" for r in both)]


def _seconds_row(n: int, kernel: Record | None, linear: Record | None) -> list[str]:
    cells = [f"{n:,}"]
    for entry in ("train_seconds", "test_seconds"):
        cells += [f"{r[entry]:.3g}" if r else "-" for r in (kernel, linear)]
        cells.append(f"{kernel[entry] / linear[entry]:.1f}" if kernel and linear else "-")
    return cells


def _growth(kernel: BySize) -> tuple[float, float] | None:
    """Factor and power of the kernel machine's training time between its two largest sizes."""
    if len(kernel) < 2:
        return None
    m, n = sorted(kernel)[-2:]
    seconds = [kernel[size]["train_seconds"] for size in (m, n)]
    power = math.log(seconds[1] / seconds[0]) / math.log(n / m)
    return seconds[1] / n**power, power


def _extrapolation(out: Page, growth: tuple[float, float], kernel: BySize, linear: BySize) -> None:
    factor, power = growth
    guesses = []
    for n in sorted(size for size in linear if size > max(kernel)):
        seconds = factor * n**power
        times = seconds / linear[n]["train_seconds"]
        guesses.append(f"{_spoken(seconds)} for {n:,} candidates, {times:.0f} times what the linear machine took")
    out.say(
        f"The kernel's matrix of {max(kernel):,} candidates takes {8e-9 * max(kernel) ** 2:.1f} GB; that of 100,000 "
        f"would take 80. Its training time grows with the power {power:.2f} between its two largest sizes. "
        f"Extrapolated, not measured, it would take {'; '.join(guesses)}."
    )


def _spoken(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds < 6000 else f"{seconds / 3600:.1f} hours"


def _time_panel(kernel: BySize, linear: BySize, growth: tuple[float, float] | None) -> Callable[[Axes], None]:
    def fill(axes: Axes) -> None:
        for name, own, colour in (("kernel", kernel, COLOURS[0]), ("linear", linear, COLOURS[1])):
            seconds = [own[n]["train_seconds"] for n in sorted(own)]
            axes.plot(sorted(own), seconds, color=colour, marker="o", markersize=3, label=f"{name}, measured")
        if growth is not None and linear:
            ends = np.array([max(kernel), max(linear)], float)
            axes.plot(ends, growth[0] * ends ** growth[1], ":", color=COLOURS[0], label="kernel, extrapolated")
        axes.set(xlabel="training candidates", ylabel="seconds of training", xscale="log", yscale="log")
        axes.legend(fontsize=8)

    return fill


def _f1_panel(kernel: BySize, linear: BySize) -> Callable[[Axes], None]:
    def fill(axes: Axes) -> None:
        # One lies on the other.
        for name, own, colour, width in (("kernel", kernel, COLOURS[0], 4), ("linear", linear, COLOURS[1], 1.5)):
            f1 = [100 * own[n]["f1"] for n in sorted(own)]
            axes.plot(sorted(own), f1, color=colour, linewidth=width, marker="o", markersize=width + 2, label=name)
        axes.set(xlabel="training candidates", ylabel="F1 on the test part, per cent", xscale="log")
        axes.legend(fontsize=8)

    return fill
