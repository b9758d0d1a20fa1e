"""How good parses and choices are, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from rich.table import Table as RichTable

from espalier.cli.proposals import TreeFile
from espalier.errors import InputError
from espalier.parsing import Evaluation, evaluate
from espalier.rerank import best_candidate, evaluate_choices, quality
from espalier.structures.dependency import DependencyTree
from espalier.structures.group import Group
from espalier.structures.sequence import TaggedSequence
from espalier.structures.transforms import strip_function_tags, strip_traces
from espalier.structures.tree import Tree


def compared(gold: TreeFile, parsed: TreeFile, *, all_punctuation: bool, all_labels: bool, skip: bool) -> Evaluation:
    """Compare the trees of two files, without traces and function tags."""
    n_gold, n_parsed = len(gold.trees), len(parsed.trees)
    if n_gold != n_parsed:
        raise InputError(
            f"{gold.name} has {n_gold:,} trees and {parsed.name} {n_parsed:,}. Each parse needs its gold tree."
        )
    options: dict[str, Any] = {"skip": skip}
    if all_punctuation:
        options["punctuation"] = ()
    if all_labels:
        options |= {"roots": (), "equivalent": {}}
    plain = [[_plain(file, row, skip=skip) for row in range(n_gold)] for file in (gold, parsed)]
    for row, (right, own) in enumerate(zip(*plain, strict=True)):
        if not skip and right.words() != own.words():
            raise parsed.error(
                row,
                f"it has different words from its gold tree, {gold.name}, {gold.place(row)}. Pass --skip to leave out "
                "such sentences.",
            )
    return evaluate(*plain, **options)


def measures_record(found: Evaluation) -> dict[str, object]:
    """All measures of some parses, by the names that they have in Python."""
    names = ("precision", "recall", "f1", "exact_match", "score", "tagging")
    counts = {"sentences": len(found), "left_out": len(found.skipped), "gold_constituents": sum(found.gold)}
    return {**counts, **{name: getattr(found, name) for name in names}}


def measures_table(found: Evaluation) -> RichTable:
    """All measures of some parses, by name."""
    table = RichTable(box=None, show_header=False, padding=(0, 2))
    table.add_column()
    table.add_column(justify="right", style="bold")
    table.add_row("sentences", f"{len(found):,}")
    if found.skipped:
        table.add_row("left out", f"{len(found.skipped):,}")
    table.add_row("gold constituents", f"{sum(found.gold):,}")
    for name, value in _measures(found).items():
        table.add_row(name, f"{value:.2f}")
    table.add_row("tags", f"{found.tagging:.2f}")
    return table


def choices_table(groups: Sequence[Group], chosen: Sequence[int]) -> RichTable:
    """Show the parser's choices, the choices of the reranker, and the best candidates side by side."""
    counts = [quality(group) for group in groups]
    rows = {
        "the parser's own": [group.best for group in groups],
        "reranked": chosen,
        "best of each list": [best_candidate(group) for group in groups],
    }
    found = {name: evaluate_choices(counts, picked) for name, picked in rows.items()}
    counted = {TaggedSequence: "tags", DependencyTree: "heads"}.get(type(groups[0].candidates[0]))
    measures = _measures if counted is None else partial(_shares, counted)
    first = next(iter(found.values()))
    table = RichTable(box=None, padding=(0, 1))
    table.add_column("", no_wrap=True)
    for name in (*measures(first), "less error"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, own in found.items():
        nothing_to_gain = own is first or first.score == 100.0
        less = "" if nothing_to_gain else f"{own.improvement(first):.1f} %"
        table.add_row(name, *(f"{value:.2f}" for value in measures(own).values()), less)
    return table


def _shares(counted: str, found: Evaluation) -> dict[str, float]:
    """Return the share of correct tags or heads, and that of sentences in which all are correct."""
    return {f"{counted} right": found.recall, f"all {counted} right": found.exact_match}


def _measures(found: Evaluation) -> dict[str, float]:
    return {
        "precision": found.precision,
        "recall": found.recall,
        "F1": found.f1,
        "exact": found.exact_match,
        "score": found.score,
    }


def _plain(file: TreeFile, row: int, *, skip: bool) -> Tree:
    kept = strip_traces(file.trees[row])
    if kept is None and skip:
        return file.trees[row]
    if kept is None:
        raise file.error(row, "it has no words beside traces.")
    return strip_function_tags(kept)
