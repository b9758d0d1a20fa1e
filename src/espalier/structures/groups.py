"""Candidates to choose from: the parses of a sentence with their scores, in the layouts of k-best parsers."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from espalier.errors import InputError, TreeSyntaxError
from espalier.structures.files import Readable, read_text, source_name, write_text
from espalier.structures.interop import as_tree
from espalier.structures.tree import Tree


@dataclass(frozen=True)
class Group:
    """The candidates of one sentence.

    Parameters
    ----------
    candidates
        Trees over the same words, or what converts to them.
    scores
        What the parser says of each, such as the logarithm of its probability; 0 for all where None.
    gold
        The right tree, where it is known. It need not be among the candidates.

    Examples
    --------
    >>> group = Group(["(S (N cats))", "(X (N cats))"], scores=[-1.5, -2.0], gold="(S (N cats))")
    >>> len(group), group.best
    (2, 0)
    """

    candidates: Sequence[Any]
    scores: Sequence[float] | None = None
    gold: Any = None

    def __post_init__(self) -> None:
        trees = tuple(as_tree(candidate) for candidate in self.candidates)
        if not trees:
            raise InputError("A group needs at least one candidate.")
        scores = (0.0,) * len(trees) if self.scores is None else tuple(float(score) for score in self.scores)
        if len(scores) != len(trees):
            raise InputError(f"{len(trees)} candidates need as many scores, got {len(scores)}.")
        for place, score in enumerate(scores):
            if math.isnan(score) or score == math.inf:
                raise InputError(f"The score of candidate {place} is {score}.")
        gold = None if self.gold is None else as_tree(self.gold)
        words = trees[0].words()
        for place, tree in enumerate(trees):
            _check_words(f"Candidate {place}", tree, "candidate 0", words)
        if gold is not None:
            _check_words("The gold tree", gold, "the candidates", words)
        for name, value in (("candidates", trees), ("scores", scores), ("gold", gold)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def words(self) -> list[str]:
        """The words that all candidates have."""
        words: list[str] = self.candidates[0].words()
        return words

    @property
    def best(self) -> int:
        """The candidate with the largest score; the first of equals."""
        assert self.scores is not None
        return max(range(len(self)), key=self.scores.__getitem__)


def read_groups(path: Readable, gold: Iterable[Any] | None = None, *, encoding: str = "utf-8") -> list[Group]:
    """Read the candidates of a k-best parser.

    Parameters
    ----------
    path
        Either JSON Lines, one group a line: ``{"candidates": [{"tree": "(S ...)", "score": -1.5}, ...], "gold": "(S
        ...)"}``. Or, for each sentence, a line with the number of candidates (and anything behind it), then each
        candidate's score and its tree, on one line or on two.
    gold
        The right trees in the order of the groups, where the file does not hold them.
    encoding
        Of the file.
    """
    text, name = read_text(path, encoding=encoding), source_name(path)
    first = text.lstrip()[:1]
    groups = list(_from_json(text, name) if first == "{" else _from_layout(text, name))
    if gold is None:
        return groups
    golds = list(gold)
    if len(golds) != len(groups):
        raise InputError(f"{name} has {len(groups):,} groups, and there are {len(golds):,} gold trees.")
    out = []
    for row, (group, tree) in enumerate(zip(groups, golds, strict=True)):
        try:
            out.append(Group(group.candidates, group.scores, tree))
        except InputError as error:
            raise InputError(f"{name}, group {row}: {error}") from None
    return out


def write_groups(groups: Iterable[Group], path: str | os.PathLike[str]) -> None:
    """Write groups as JSON Lines where the name ends in ``.jsonl``, else with a count, scores and trees.

    The second layout has no place for gold trees; it is an error to lose them.
    """
    is_json = Path(os.fspath(path).removesuffix(".gz")).suffix == ".jsonl"
    lines: list[str] = []
    for row, group in enumerate(groups):
        scored = list(zip(group.candidates, group.scores or (), strict=True))
        if is_json:
            record: dict[str, Any] = {
                "candidates": [{"tree": tree.to_brackets(), "score": score} for tree, score in scored]
            }
            if group.gold is not None:
                record["gold"] = group.gold.to_brackets()
            lines.append(json.dumps(record, ensure_ascii=False))
            continue
        if group.gold is not None:
            raise InputError(
                f"Group {row} has a gold tree, for which this layout has no place. Write to a .jsonl file."
            )
        lines += [str(len(group)), *(f"{score!r} {tree.to_brackets()}" for tree, score in scored), ""]
    write_text(path, "".join(f"{line}\n" for line in lines))


def _check_words(what: str, tree: Tree, other: str, words: list[str]) -> None:
    if (own := tree.words()) != words:
        raise InputError(f"{what} has other words than {other}: {' '.join(own)[:60]!r}, not {' '.join(words)[:60]!r}.")


def _from_json(text: str, name: str) -> Iterator[Group]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        try:
            record = json.loads(line)
            listed = record["candidates"]
            trees, scores = [entry["tree"] for entry in listed], [entry.get("score", 0.0) for entry in listed]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise InputError(
                f'{place}: a group should stand here, {{"candidates": [{{"tree": "(S ...)", "score": -1.5}}]}}.'
            ) from None
        yield _group(trees, scores, record.get("gold"), place)


def _from_layout(text: str, name: str) -> Iterator[Group]:
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    at = 0
    while at < len(lines):
        number, line = lines[at]
        count = line.split()[0]
        if not count.isdigit() or int(count) < 1:
            raise InputError(f"{name}, line {number}: the number of candidates should stand here, got {line[:60]!r}.")
        at += 1
        trees, scores = [], []
        for _ in range(int(count)):
            here, line = lines[at] if at < len(lines) else (lines[-1][0], "")
            score, _, tree = line.partition(" ")
            at += 1
            if score and not tree.strip():  # the tree stands on the next line
                tree = lines[at][1] if at < len(lines) else ""
                at += 1
            try:
                scores.append(float(score))
            except ValueError:
                raise InputError(
                    f"{name}, line {here}: the score of candidate {len(scores)} of {count} should stand here, "
                    f"got {line[:60]!r}."
                ) from None
            trees.append(tree.strip())
        yield _group(trees, scores, None, f"{name}, line {number}")


def _group(trees: list[Any], scores: list[Any], gold: Any, place: str) -> Group:
    try:
        return Group(trees, scores, gold)
    except (InputError, TreeSyntaxError, TypeError, ValueError) as error:
        raise InputError(f"{place}: {error}") from None
