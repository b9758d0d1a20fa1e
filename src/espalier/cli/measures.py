"""How good parses and choices are, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.table import Table as RichTable

from espalier.cli.proposals import TreeFile
from espalier.errors import InputError
from espalier.parsing import Evaluation, evaluate
from espalier.rerank.quality import best_candidate, quality
from espalier.structures.group import Group
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
                f"it has other words than its gold tree, {gold.name}, {gold.place(row)}. Pass --skip to leave out "
                "such sentences.",
            )
    return evaluate(*plain, **options)


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
    """What the parser chooses, what was chosen instead, and what was best, side by side."""
    rows = {
        "the parser's own": [group.best for group in groups],
        "reranked": chosen,
        "best of each list": [best_candidate(group) for group in groups],
    }
    if isinstance(groups[0].candidates[0], Tree):
        return _constituents_table(groups, rows)
    return _shares_table(groups, rows)


def _constituents_table(groups: Sequence[Group], rows: Mapping[str, Sequence[int]]) -> RichTable:
    golds = [group.gold for group in groups]
    found = {
        name: evaluate(golds, [group.candidates[k] for group, k in zip(groups, picked, strict=True)])
        for name, picked in rows.items()
    }
    first = next(iter(found.values()))
    table = _table([*_measures(first), "less error"])
    for name, own in found.items():
        less = "" if own is first else f"{own.improvement(first):.1f} %"
        table.add_row(name, *(f"{value:.2f}" for value in _measures(own).values()), less)
    return table


def _shares_table(groups: Sequence[Group], rows: Mapping[str, Sequence[int]]) -> RichTable:
    """Of tags, or of arcs with their relations: how many are right."""
    counts = [quality(group) for group in groups]
    table = _table(["right", "exact", "less error"])
    first = None
    for name, picked in rows.items():
        own = np.array([count[:, k] for count, k in zip(counts, picked, strict=True)])
        right = 100.0 * own[:, 0].sum() / max(own[:, 1].sum(), 1)
        exact = 100.0 * np.mean(own[:, 0] == own[:, 1])
        first = right if first is None else first
        less = (
            "" if name == next(iter(rows)) or first == 100.0 else f"{100.0 * (right - first) / (100.0 - first):.1f} %"
        )
        table.add_row(name, f"{right:.2f}", f"{exact:.2f}", less)
    return table


def _measures(found: Evaluation) -> dict[str, float]:
    return {
        "precision": found.precision,
        "recall": found.recall,
        "F1": found.f1,
        "exact": found.exact_match,
        "score": found.score,
    }


def _table(columns: Sequence[str]) -> RichTable:
    table = RichTable(box=None, padding=(0, 1))
    table.add_column("", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _plain(file: TreeFile, row: int, *, skip: bool) -> Tree:
    kept = strip_traces(file.trees[row])
    if kept is None and skip:
        return file.trees[row]
    if kept is None:
        raise file.error(row, "it has no words beside traces.")
    return strip_function_tags(kept)
