"""The fragments that the paper prints, in its tables 3 to 9, and where ours have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Forest
from espalier.fragments import FragmentDictionary, mine_fragments
from espalier.kernels import Normalized, SubsetTree
from espalier_experiments import data
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.pighin2009 import published
from espalier_experiments.pighin2009.learning import PAPER, machine
from espalier_experiments.propositions import role_candidates
from espalier_experiments.records import Record, short
from espalier_experiments.store import Results, Task

NAME = "fragments"
FIRST, SHOWN = 100, 25  # fragments of ours among which the paper's are looked for, and that are stored
N_FRAGMENTS, BOUNDARY_ROWS, BOUNDARY_SENTENCES = 50_000, 10_000, 1_000
# Decay and C: the paper's for questions, as the page of questions has them; what the other pages chose.
MACHINES = {
    "questions, the paper's values": (0.4, 1.0),
    "questions, chosen values": (0.1, 10.0),
    "boundaries, chosen values": (0.1, 3.0),
}


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    return {"fragments": 300 if quick else N_FRAGMENTS, "rows": 300 if quick else BOUNDARY_ROWS}


def tasks(setup: Setup) -> list[Task]:
    """One machine each."""
    return [Task({"machine": name}, compare, setup.arguments) for name in MACHINES]


def compare(machine: str, setup: Setup) -> Record:
    """Train a machine, mine it exactly, and look the paper's fragments up in the lists of its classes."""
    common = settings(quick=setup.quick)
    train, y = _rows(machine, setup, common["rows"])
    return {"rows": len(train), "classes": _ranks(machine, train, y, common["fragments"], setup)}


def _rows(name: str, setup: Setup, n: int) -> tuple[Forest, NDArray[Any]]:
    if name.startswith("questions"):
        table = data.questions(setup.data, "train")
        n_rows = n if setup.quick else len(table)
        return table["tree"][:n_rows], np.array(table["coarse"])[:n_rows]
    table = role_candidates(setup.data, "train", 100 if setup.quick else BOUNDARY_SENTENCES)
    rows = np.sort(np.random.default_rng(setup.seed).permutation(len(table))[:n])
    forest: Forest = table["tree"]
    return forest[rows].compact(), np.array(table["role"])[rows] != ""


def _ranks(name: str, train: Forest, y: NDArray[Any], n: int, setup: Setup) -> dict[str, Record]:
    """For each class: the rank and the weight of each of the paper's fragments, by both weights."""
    decay, C = MACHINES[name]
    learner = machine(Normalized(SubsetTree(decay)), C, setup).fit(train, y)
    out: dict[str, Record] = {}
    for part in mine_fragments(learner, n=n, n_threads=setup.n_threads):
        label = part.name if part.name in published.FRAGMENTS else "boundary"
        assert isinstance(part.fragments, FragmentDictionary)  # of subset trees
        saved = part.fragments.n_productions - part.fragments.depths
        by_level = np.argsort(-np.abs(part.weights * decay ** (-saved / 2)), kind="stable")
        names = part.fragments.names()
        rank = {fragment: k for k, fragment in enumerate(names, start=1)}
        level_rank = {names[row]: k for k, row in enumerate(by_level.tolist(), start=1)}
        out[label] = {
            "proven": part.proven,
            "found": [
                [fragment, rank.get(fragment), level_rank.get(fragment), _weight(part.weights, rank.get(fragment))]
                for fragment in published.FRAGMENTS[label]
            ],
            "first": [[fragment, short(weight)] for fragment, weight in zip(names[:SHOWN], part.weights, strict=False)],
        }
    return out


def _weight(weights: NDArray[np.float64], rank: int | None) -> float | None:
    return None if rank is None else short(weights[rank - 1])


def page(results: Results) -> Page:
    """How many of the paper's fragments are among our first, and both lists side by side."""
    out = Page(results.path.stem, "The paper's fragments beside ours")
    out.aim(
        f"See whether the fragments that {PAPER}, prints as its best (tables 3 to 9) are the heaviest here too.",
        f"How many of them are among the first {FIRST} of ours, and the rank and weight of each.",
        "The paper's lists with ours, side by side, for each class.",
    )
    out.say(
        "Ours are the heaviest fragments of a kernel machine for each class, by the magnitude of their "
        f"weights, mined exactly, {results.settings['fragments']:,} for each class. *By level* ranks these once more "
        "with one decay for each level of a fragment instead of one for each production, as the paper weighs them."
    )
    out.say(
        "The trees differ: the paper's questions were parsed by the Stanford parser, ours by a parser of Charniak's "
        "kind, whose root is S1 where the paper's is ROOT; the two are taken for the same. The paper's boundaries are "
        f"those of the Wall Street Journal, ours {results.settings['rows']:,} candidates of the English Web Treebank, "
        "drawn from its first sentences. The paper trained on a million. It mined with a greedy search."
    )
    records = list(results)
    out.section(f"How many are among our first {FIRST}")
    header = ["", "printed in the paper", f"among our first {FIRST}", "by level", "among all that we mined"]
    out.table(header, [row for record in records for row in _counts(record)])
    for record in records:
        decay, C = MACHINES[record["machine"]]
        out.section(f"{record['machine']}: decay {decay:g}, C {C:g}")
        for label, own in record["classes"].items():
            out.say(f"**{label}**")
            shown = [f"`{fragment}` {weight:+.2f}" for fragment, weight in own["first"]]
            rows = [
                [f"`{fragment}`", _rank(rank), _rank(level), "-" if weight is None else f"{weight:+.2f}", beside]
                for (fragment, rank, level, weight), beside in zip(own["found"], shown, strict=False)
            ]
            out.table(["the paper's, in its order", "our rank", "by level", "our weight", "ours, in our order"], rows)
    return out


def _counts(record: Record) -> Iterator[list[str]]:
    totals = np.zeros(4, dtype=int)
    for label, own in record["classes"].items():
        found = own["found"]
        ranks = [[entry[k] for entry in found if entry[k] is not None] for k in (1, 2)]
        counts = [len(found), *(sum(rank <= FIRST for rank in listed) for listed in ranks), len(ranks[0])]
        totals += counts
        yield [f"{record['machine']}: {label}", *map(str, counts)]
    if len(record["classes"]) > 1:
        yield [f"{record['machine']}: all classes", *map(str, totals)]


def _rank(rank: int | None) -> str:
    return "-" if rank is None else f"{rank:,}"
