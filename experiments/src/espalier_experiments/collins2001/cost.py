"""Section 5: what training and reranking cost, and what the compressed model saves as data grow."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from espalier.corpus import Forest
from espalier.kernels import Constant, Kernel, SubsetTree, fixed
from espalier.parsing import PCFG
from espalier.rerank import CompressedModel, VotedPerceptron, jackknifed, propose
from espalier.structures import Group
from espalier_experiments.collins2001.corpora import question_trees, shuffled
from espalier_experiments.collins2001.learning import PAPER, SAMPLE, UPDATES
from espalier_experiments.page import COLOURS, Page, logarithmic
from espalier_experiments.papers import Setup
from espalier_experiments.records import Record, short
from espalier_experiments.store import Results, Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "cost"
DECAY, K = 0.4, 100
COMPRESSED: Kernel = SubsetTree(DECAY)
SUPPORT: Kernel = COMPRESSED * Constant(fixed(1.0))  # the same values; sums of products are not compressed
GROUPS = (100, 200, 400, 800, 1600, 2400)  # of training candidates
PARSED, SCORED = 600, 300  # test questions, and those of them with all candidates that are reranked
MOST_SECONDS, LEAST_RATE = 120.0, 200.0
REPEATS = 3

Result = TypeVar("Result")


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    counts = {"candidates": 10 if quick else K, "sampled": 5 if quick else SAMPLE, "repeats": REPEATS}
    return {"decay": DECAY, **counts, "updates": UPDATES}


def tasks(setup: Setup) -> list[Task]:
    """All in one task, because all is measured on the same candidates."""
    return [Task({"what": "all"}, measure, setup.arguments)]


def measure(what: str, setup: Setup) -> Record:
    """Train on all questions, rerank others, and let a model grow in both forms; on one thread."""
    common = settings(quick=setup.quick)
    sizes = (10, 20) if setup.quick else GROUPS
    n_parsed, n_scored = (20, 5) if setup.quick else (PARSED, SCORED)
    trees, _ = question_trees(setup.data)
    train, test = shuffled(trees, setup.seed, (sizes[-1], n_parsed))
    start = time.process_time()
    groups = jackknifed(train, common["candidates"], random_state=setup.seed, n_threads=1)
    full = propose(PCFG.from_treebank(train), test, common["candidates"], n_threads=1)
    parse_seconds = time.process_time() - start
    full = [group for group in full if len(group) == common["candidates"]][:n_scored]
    options = {"sample": common["sampled"], "score_weight": 0.0, "random_state": setup.seed, "updates": UPDATES}
    learner = VotedPerceptron(COMPRESSED, **options)
    seconds = _seconds(lambda: learner.fit(groups))
    rerank = _seconds(lambda: learner.predict(full))
    return {
        "groups": len(groups),
        "candidates_learned": learner.n_candidates_,
        "parsed": len(train) + len(test),
        "parse_seconds": short(parse_seconds),
        "train_seconds": short(seconds),
        "reranked": len(full),
        "rerank_seconds": short(rerank),
        "growth": [_grown(groups[:size], full[: n_scored // 3], common["sampled"], setup) for size in sizes],
    }


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def _least_seconds(run: Callable[[], Result]) -> tuple[float, Result]:
    """The least time of several runs, for machines are never quite quiet; and what the last one returned."""
    results: list[Result] = []
    seconds = [_seconds(lambda: results.append(run())) for _ in range(REPEATS)]
    return min(seconds), results[-1]


def _grown(groups: Sequence[Group], others: Sequence[Group], sample: int, setup: Setup) -> Record:
    """Train on some groups in both forms, and score other candidates with what was learned."""
    compressed_train, learner = _least_seconds(partial(one_epoch, groups, COMPRESSED, sample, setup.seed))
    support_train, _ = _least_seconds(partial(one_epoch, groups, SUPPORT, sample, setup.seed))
    coefficients = learner.coefficients_
    support = Forest.from_trees(learner.support_)
    model = CompressedModel(COMPRESSED, support)
    for row, coefficient in enumerate(coefficients.tolist()):
        model.add(support, row, coefficient)
    trees = [tree for group in others for tree in group.candidates]
    candidates = Forest.from_trees(trees, vocabulary=support.vocabulary)
    by_model, of_model = _least_seconds(lambda: model(candidates))
    by_trees, of_trees = _least_seconds(lambda: COMPRESSED(candidates, support, n_threads=1) @ coefficients)
    return {
        "groups": len(groups),
        "support_trees": len(coefficients),
        "largest_difference": short(float(np.abs(of_model - of_trees).max() / np.abs(of_trees).max())),
        "subtrees": model.n_subtrees,
        "compressed_bytes": model.n_bytes,
        "compressed_bytes_in_all": model.n_bytes_in_all,
        "support_bytes": n_bytes(support) + coefficients.nbytes,
        "compressed_train": short(compressed_train),
        "support_train": short(support_train),
        "scored": len(trees),
        "compressed_score": short(by_model),
        "support_score": short(by_trees),
    }


def one_epoch(groups: Sequence[Group], kernel: Kernel, sample: int, seed: int) -> VotedPerceptron:
    """The last perceptron after one epoch, its model compressed or not."""
    learner = VotedPerceptron(
        kernel, vote="last", updates=UPDATES, sample=sample, score_weight=0.0, random_state=seed, n_threads=1
    )
    return learner.fit(groups)


def n_bytes(forest: Forest) -> int:
    """What the arrays of a corpus take."""
    return sum(array.nbytes for array in forest.arrays.values())


def page(results: Results) -> Page:
    """Goals and what was measured, and how both forms grow."""
    (record,) = results
    growth = record["growth"]
    out = Page(results.path.stem, "What choosing costs, and what compression saves")
    out.aim(
        "Train and rerank fast enough for daily use, with a model that takes less memory than its support trees.",
        "Seconds of the processor for training, scoring and parsing, and bytes of the models.",
        "The compressed model with one that keeps its support trees, by the number of training groups.",
    )
    out.say(
        f"Section 5 of {PAPER}, which proposes to keep a sum of trees as one forest of weighted subtrees and does not "
        "measure it. Questions and grammar are those of [questions](questions.md), the plain grammar and a subset tree "
        f"kernel with decay {DECAY}. Seconds are those that processors were busy, of all threads together."
    )
    _goals(out, record)
    out.section("Growth with the training data")
    out.say(
        f"One epoch, the least seconds of {REPEATS} runs; "
        "both forms make the same updates, but for ties that the last digit decides. *Compressed*: every "
        "distinct subtree once, with a weight; adding a tree is an update. *Support*: all trees that were added are "
        "kept, interned as one corpus, and a candidate's value is the sum of its kernels with them; their matrix is "
        f"computed in blocks. Scoring is of {growth[0]['scored']:,} candidates, interned before. Bytes are of what is "
        "kept: weighted subtrees, without and with the tables that find them and the room that these leave for more; "
        "the arrays of the support trees, of which every distinct subtree is kept once too, with their coefficients."
    )
    header = ["support trees", "distinct subtrees", "kB, compressed", "with tables", "kB, support"]
    header += [f"{what} s, {form}" for what in ("training", "scoring") for form in ("compressed", "support")]
    out.table(["training groups", *header], [_row(own) for own in growth])
    out.draw(
        "growth", "Seconds of training and kilobytes by training groups", [_seconds_panel(growth), _bytes_panel(growth)]
    )
    last = growth[-1]
    out.say(
        f"With {last['groups']:,} groups the compressed model trains in {last['compressed_train']:.3g} s and the "
        f"support trees take {last['support_train'] / last['compressed_train']:.1f} times as long; scoring takes "
        f"{last['support_score'] / last['compressed_score']:.1f} times as long. Support trees take "
        f"{last['support_bytes'] / last['compressed_bytes']:.1f} times the memory of the weighted subtrees, and "
        f"{last['support_bytes'] / last['compressed_bytes_in_all']:.1f} times that of all that is kept to add more. "
        f"From {growth[0]['groups']:,} groups "
        f"on, time grows with the power {_power(growth, 'compressed_train'):.2f} of the data where compressed, and "
        f"{_power(growth, 'support_train'):.2f} where not. Values of both forms differ by "
        f"{max(own['largest_difference'] for own in growth):.0e} of the largest at most."
    )
    return out


def _goals(out: Page, record: Record) -> None:
    rate = record["reranked"] / record["rerank_seconds"]
    out.section("Speed")
    rows = [
        [
            f"training, {record['groups']:,} questions, {record['candidates_learned']:,} candidates, one epoch",
            f"{record['train_seconds']:.3g} s",
            f"at most {MOST_SECONDS:.0f} s",
        ],
        [
            f"reranking {record['reranked']:,} questions",
            f"{rate:.0f} a second",
            f"at least {LEAST_RATE:.0f} a second",
        ],
        [f"parsing {record['parsed']:,} questions", f"{record['parsed'] / record['parse_seconds']:.0f} a second", "-"],
    ]
    out.table(["", "measured", "goal"], rows)
    out.say(
        "Training and reranking start from groups of trees and include interning them; parsing includes estimating "
        "six grammars."
    )


def _row(own: Record) -> list[str]:
    return [
        f"{own['groups']:,}",
        f"{own['support_trees']:,}",
        f"{own['subtrees']:,}",
        *(f"{own[name] / 1000:,.0f}" for name in ("compressed_bytes", "compressed_bytes_in_all", "support_bytes")),
        *(f"{own[f'{form}_{what}']:.3g}" for what in ("train", "score") for form in ("compressed", "support")),
    ]


def _power(growth: Sequence[Record], name: str) -> float:
    """The slope of the logarithms."""
    x, y = (np.log([own[entry] for own in growth]) for entry in ("groups", name))
    return float(np.polyfit(x, y, 1)[0])


def _seconds_panel(growth: Sequence[Record]) -> Callable[[Axes], None]:
    return _panel(
        growth, {"compressed_train": "compressed", "support_train": "support trees"}, "seconds of training", 1
    )


def _bytes_panel(growth: Sequence[Record]) -> Callable[[Axes], None]:
    names = {"compressed_bytes": "compressed", "support_bytes": "support trees"}
    return _panel(growth, {**names, "compressed_bytes_in_all": "compressed, with tables"}, "kilobytes", 1000)


def _panel(growth: Sequence[Record], names: dict[str, str], label: str, unit: int) -> Callable[[Axes], None]:
    def fill(axes: Axes) -> None:
        for colour, (name, shown) in zip(COLOURS, names.items(), strict=False):
            x, y = [own["groups"] for own in growth], [own[name] / unit for own in growth]
            axes.plot(x, y, "-", color=colour, marker="o", markersize=3, label=shown)
        axes.set(xlabel="training groups", ylabel=label, xscale="log", yscale="log")
        logarithmic(axes.xaxis)
        logarithmic(axes.yaxis)
        axes.legend(fontsize=7)

    return fill
