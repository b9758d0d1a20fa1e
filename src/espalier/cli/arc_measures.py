"""How good dependency parses are, or lists of them, as tables and as JSON."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table as RichTable

from espalier.cli.proposals import Texts
from espalier.cli.text_lines import holds_groups
from espalier.errors import InputError
from espalier.parsing import Attachment, evaluate_attachment, oracle
from espalier.structures.conllu import conllu_sentences, is_conllu
from espalier.structures.dependency import DependencyTree
from espalier.structures.groups import groups_of_text

_LONGEST = 7  # characters of a figure, which is never cut: names wrap
_COLUMNS = {"all_tokens": True, "without_punctuation": False}
_SENT_ID = re.compile(r"^#\s*sent_id\s*=\s*(.*?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class ArcMeasures:
    """Measures with punctuation and without, and whether these are of first or of best candidates.

    Parameters
    ----------
    name
        Which candidates these are; empty if there are no lists.
    whole, universal
        By the names of the columns, what whole and universal relations are measured by.
    n_skipped
        How many sentences were left out.
    """

    name: str
    whole: dict[str, Attachment]
    universal: dict[str, Attachment]
    n_skipped: int

    def table(self) -> RichTable:
        """All measures as a table."""
        table = RichTable(box=None, padding=(0, 1))
        table.add_column(self.name and f"{self.name} of each list")
        for name in _COLUMNS:
            table.add_column(name.replace("_", " "), justify="right", min_width=_LONGEST)
        both, universal = list(self.whole.values()), list(self.universal.values())
        table.add_row("sentences", *(f"{len(own):,}" for own in both))
        if self.n_skipped:
            table.add_row("left out", *[f"{self.n_skipped:,}"] * 2)
        table.add_row("tokens", *(f"{sum(own.tokens):,}" for own in both))
        rows = {
            "UAS": [own.uas for own in both],
            "LAS": [own.las for own in both],
            "LAS, universal relations": [own.las for own in universal],
            "all heads right": [own.exact_heads for own in both],
            "all arcs right": [own.exact_match for own in both],
        }
        for name, values in rows.items():
            shares = zip(values, both, strict=True)  # of nothing, there is no share
            table.add_row(name, *(f"{value:.2f}" if sum(own.tokens) else "-" for value, own in shares))
        return table

    def record(self) -> dict[str, object]:
        """All measures as JSON has them, by the names that they have in Python."""
        found: dict[str, object] = {"sentences": len(self.whole["all_tokens"]), "left_out": self.n_skipped}
        for name, own in self.whole.items():
            measures = {measure: getattr(own, measure) for measure in own.ratios}
            measures["las_universal"] = self.universal[name].las
            found[name] = {"tokens": sum(own.tokens), **measures}
        return found


def of_arcs(texts: Texts) -> bool:
    """Say whether the first of two files is CoNLL-U and the second has lists of its trees in JSON Lines."""
    (_, gold), (_, parsed) = texts
    return is_conllu(gold) and holds_groups(parsed)


def arc_measures(texts: Texts, *, skip: bool) -> list[ArcMeasures]:
    """All measures of the dependency parses in the second of two files; of lists, of the first and of the best."""
    (gold_file, gold_text), (parsed_file, parsed_text) = texts
    gold = [(own.tree, own.metadata.get("sent_id")) for own in conllu_sentences(gold_text, str(gold_file), "upos")]
    lists = holds_groups(parsed_text) or (_repeats(parsed_text) and not _repeats(gold_text))
    if lists:
        groups, _ = groups_of_text(parsed_text, str(parsed_file), "upos")
        for row, group in enumerate(groups, start=1):
            if group.kind != "dependency trees":
                raise InputError(f"{parsed_file}, group {row}: it holds {group.kind}, and dependency trees are needed.")
        found = [(list(group.candidates), group.name) for group in groups]
    else:
        sentences = conllu_sentences(parsed_text, str(parsed_file), "upos")
        found = [([own.tree], own.metadata.get("sent_id")) for own in sentences]
    for file, n in ((gold_file, len(gold)), (parsed_file, len(found))):
        if not n:
            raise InputError(f"{file} contains no sentence.")
    if len(gold) != len(found):
        raise InputError(
            f"{gold_file} has {len(gold):,} sentences and {parsed_file} {len(found):,}. Each "
            f"{'list' if lists else 'parse'} needs its gold tree."
        )
    kept = list(_kept([tree for tree, _ in gold], found, parsed_file, skip=skip))
    names = ("first", "best") if lists else ("",)
    return [_measured(name, kept, len(gold) - len(kept)) for name in names]


def _repeats(text: str) -> bool:
    """Say whether sentences of the same name follow each other, as candidates in CoNLL-U do."""
    return any(one == other for one, other in itertools.pairwise(_SENT_ID.findall(text)))


def _measured(name: str, kept: Sequence[tuple[DependencyTree, list[DependencyTree]]], n_skipped: int) -> ArcMeasures:
    golds, lists = [tree for tree, _ in kept], [own for _, own in kept]

    def measured(*, punctuation: bool, subtypes: bool) -> Attachment:
        if name == "best":
            return oracle(golds, lists, punctuation=punctuation, subtypes=subtypes)[1]
        return evaluate_attachment(golds, [own[0] for own in lists], punctuation=punctuation, subtypes=subtypes)

    whole, universal = (
        {column: measured(punctuation=counts, subtypes=subtypes) for column, counts in _COLUMNS.items()}
        for subtypes in (True, False)
    )
    return ArcMeasures(name, whole, universal, n_skipped)


def _kept(
    golds: Sequence[DependencyTree],
    lists: Sequence[tuple[list[DependencyTree], str | None]],
    parsed_file: Path,
    *,
    skip: bool,
) -> Iterator[tuple[DependencyTree, list[DependencyTree]]]:
    """The gold trees and the candidates of sentences that have the same words in both."""
    for row, (right, (own, name)) in enumerate(zip(golds, lists, strict=True), start=1):
        if right.words == own[0].words:
            yield right, own
        elif not skip:
            raise InputError(
                f"{parsed_file}, sentence {row:,}{'' if name is None else f' ({name})'}: it has different words from "
                f"its gold tree, {' '.join(own[0].words)[:60]!r} for {' '.join(right.words)[:60]!r}. Pass --skip to "
                "leave out such sentences."
            )
