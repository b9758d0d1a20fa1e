"""The page of sparse processes: bounds and errors by the number of structures, learned noise, and combinations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier_experiments.beck2014.learning import PAPER
from espalier_experiments.page import COLOURS, GREY, Page, number
from espalier_experiments.records import Record
from espalier_experiments.store import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = {"fr-en": "translations", "questions": "questions", "headlines": "headlines"}
CHOICES = {
    "greedy": "greedy gain of the bound",
    "random": "at random",
    "medoids": "medoids",
    "variance": "greedy variance",
}


def sparse_page(results: Results) -> Page:
    """All that is shown."""
    settings = results.settings
    out = Page(results.path.stem, "Sparse Gaussian processes on trees")
    out.aim(
        "Condition a process on many trees through a few of them, or through weighted combinations of trees.",
        "The variational bound of the log evidence a row, errors on test rows, and the noise that is learned.",
        "The exact process with the same numbers, four ways of choosing trees, and weighted combinations.",
    )
    out.say(
        f"{PAPER} asks what pseudo-inputs could be if inputs are no vectors. Three data sets: seconds per word that it "
        f"took to correct French-English translations (the logarithm; {settings['folds']} of its ten test folds), "
        "TREC questions, where 1 stands for a person and -1 for all else (2,000 training rows drawn at random, the "
        "official test part), and the joy of headlines (four fifths, tested on the last). Kernels are sums of learned "
        "variances times normalised subset tree kernels: of the source and of the target, or of the one tree."
    )
    out.say(
        "In each part, the numbers of the kernel and the noise are learned exactly on a pilot of "
        f"{settings['pilot']:,} training rows drawn at random (all of the headlines), and kept. Test rows choose "
        "nothing."
    )
    by_data = {name: results.where(data=name) for name in NAMES if results.where(data=name)}
    _errors(out, by_data)
    _choices(out, by_data)
    _noise(out, by_data)
    _combined(out, by_data, settings)
    return out


def _mean(records: Sequence[Record], *path: str) -> float:
    """The mean of one entry over test parts."""
    return float(np.mean([_at(record, path) for record in records]))


def _at(record: Any, path: Sequence[str]) -> float:
    for name in path:
        record = record[name]
    return float(record)


def _errors(out: Page, by_data: dict[str, list[Record]]) -> None:
    out.section("Error by the number of trees")
    out.say(
        "Trees are chosen one by one, each time the one that raises the bound most. The error is the root mean square "
        "of the means, and NLPD the mean negative log density of test rows; both are averaged over test parts. Seconds "
        "are those of choosing and conditioning, with the matrix there already."
    )
    rows = []
    for name, records in by_data.items():
        exact = _mean(records, "exact", "rmse")
        sizes = sorted(records[0]["chosen"]["greedy"], key=_size)
        for m in sizes:
            own = ("chosen", "greedy", m)
            cells = [_mean(records, *own, key) for key in ("rmse", "nlpd", "bound", "fit_seconds")]
            above = 100 * (cells[0] / exact - 1)
            rows.append(
                [
                    f"{NAMES[name]}, {m}",
                    number(cells[0]),
                    f"{above:+.1f} %",
                    *map(number, cells[1:3]),
                    number(cells[3], 1),
                ]
            )
        cells = [_mean(records, "exact", key) for key in ("rmse", "nlpd", "bound", "fit_seconds")]
        rows.append([f"{NAMES[name]}, exact", number(cells[0]), "", *map(number, cells[1:3]), number(cells[3], 1)])
    out.table(["", "RMSE", "above exact", "NLPD", "bound a row", "seconds"], rows)


def _choices(out: Page, by_data: dict[str, list[Record]]) -> None:
    out.section("Ways of choosing trees")
    out.say(
        "The bound a row on the first test part, and the error. FITC has an evidence that is no bound: it may be "
        "higher than that of the exact process."
    )
    rows = []
    for name, records in by_data.items():
        first = _first(records)
        sizes = sorted(first["chosen"]["greedy"], key=_size)
        for choice, text in CHOICES.items():
            cells = [number(first["chosen"][choice][m][key]) for key in ("bound", "rmse") for m in sizes]
            rows.append([f"{NAMES[name]}, {text}", *cells])
        cells = [number(first["fitc"][m][key]) for key in ("bound", "rmse") for m in sizes]
        rows.append([f"{NAMES[name]}, greedy, FITC", *cells])
    sizes = [f"{m} trees" for m in sorted(next(iter(by_data.values()))[0]["chosen"]["greedy"], key=_size)]
    out.table(["", *(f"bound, {m}" for m in sizes), *(f"error, {m}" for m in sizes)], rows)
    out.say(
        "NLPD of the first test part. The bound conditions as if the trees explained all targets up to the noise. So "
        "if the pilot learned almost no noise (1e-6 for the questions), error bars are far too narrow. Those of FITC "
        "are not."
    )
    rows = []
    for name, records in by_data.items():
        first = _first(records)
        ordered = sorted(first["chosen"]["greedy"], key=_size)
        for text, own in {"bound": first["chosen"]["greedy"], "FITC": first["fitc"]}.items():
            cells = [number(own[m]["nlpd"]) for m in ordered]
            rows.append([f"{NAMES[name]}, {text}", *cells, number(first["exact"]["nlpd"])])
    out.table(["", *sizes, "exact"], rows)
    panels = [_bounds(name, records) for name, records in by_data.items()]
    out.draw("choices", "The bound by the number of trees, for each way of choosing", panels)


def _first(records: Sequence[Record]) -> Record:
    return min(records, key=lambda record: int(record["fold"]))


def _bounds(name: str, records: Sequence[Record]) -> Callable[[Axes], None]:
    first = _first(records)

    def fill(axes: Axes) -> None:
        axes.axhline(first["exact"]["bound"], color=GREY, label="exact")
        for colour, (choice, text) in zip(COLOURS, CHOICES.items(), strict=False):
            own = first["chosen"][choice]
            ordered = sorted(own, key=_size)
            axes.plot(
                [int(m) for m in ordered], [own[m]["bound"] for m in ordered], "o-", ms=3, color=colour, label=text
            )
        axes.set_xlabel("trees")
        axes.set_ylabel("bound a row, nats")
        axes.set_title(NAMES[name])
        axes.legend(fontsize=7)

    return fill


def _noise(out: Page, by_data: dict[str, list[Record]]) -> None:
    out.section("Noise that the bound learns")
    out.say(
        "The noise and one variance of the whole kernel, learned from all training rows, on the first test part: "
        "exactly, and by the bound of trees chosen at the pilot's numbers. The bound of few trees explains by noise "
        "what these trees cannot explain. So numbers are learned exactly on a pilot, and kept."
    )
    rows = []
    for name, records in by_data.items():
        learned = _first(records)["learned"]
        for m, values in sorted(learned.items(), key=lambda own: _size(own[0])):
            ratio = values["noise"] / learned["exact"]["noise"]
            variance = next(value for path, value in values.items() if path != "noise")
            rows.append([f"{NAMES[name]}, {m}", number(values["noise"], 3), number(ratio, 2), number(variance, 3)])
    out.table(["", "noise", "to exact", "variance"], rows)
    out.draw(
        "noise", "The learned noise by the number of trees, relative to that of the exact process", [_ratios(by_data)]
    )


def _size(name: str) -> float:
    return float("inf") if name == "exact" else int(name)


def _ratios(by_data: dict[str, list[Record]]) -> Callable[[Axes], None]:
    def fill(axes: Axes) -> None:
        axes.axhline(1.0, color=GREY, label="exact")
        for colour, (name, records) in zip(COLOURS, by_data.items(), strict=False):
            learned = _first(records)["learned"]
            sizes = sorted((m for m in learned if m != "exact"), key=_size)
            ratios = [learned[m]["noise"] / learned["exact"]["noise"] for m in sizes]
            axes.plot([int(m) for m in sizes], ratios, "o-", ms=3, color=colour, label=NAMES[name])
        axes.set_xlabel("trees")
        axes.set_ylabel("learned noise, to exact")
        axes.set_yscale("log")
        axes.legend(fontsize=8)

    return fill


def _combined(out: Page, by_data: dict[str, list[Record]], settings: Any) -> None:
    m, s = settings["combined"], settings["share"] * settings["combined"]
    out.section("Weighted combinations of trees")
    out.say(
        f"{m} inducing variables that are weighted combinations of {s} chosen trees, with weights learned by the "
        f"bound; all {s} trees as inducing variables; and the {m} trees that were chosen first. The bound a row, and "
        f"the error, averaged over test parts. *Numbers of the bound*: on the first part, the variance and the noise "
        f"are those that the bound of all {s} trees learns."
    )
    rows = []
    for setting, text in {"combined": "", "by_bound": ", numbers of the bound"}.items():
        for name, records in by_data.items():
            own = [record for record in records if setting in record]
            bounds, errors = (
                [_mean(own, setting, way, key) for way in ("best", "weighted", "all")] for key in ("bound", "rmse")
            )
            apart = bounds[1] - bounds[0], bounds[2] - bounds[1]
            rows.append([NAMES[name] + text, *map(number, (*bounds, *apart, *errors))])
    header = [f"bound, {m} chosen", f"{m} weighted", f"all {s}", "weighted above chosen", "below all"]
    out.table(["", *header, f"error, {m} chosen", f"{m} weighted", f"all {s}"], rows)
