"""Groups of candidates in files: the layouts of k-best parsers, k-best CoNLL-U and JSON Lines."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from espalier.errors import InputError, TreeSyntaxError
from espalier.structures.conllu import Sentence, conllu_lines, conllu_sentences
from espalier.structures.dependency import DependencyTree
from espalier.structures.files import Readable, read_text, source_name, write_text
from espalier.structures.group import Candidate, Group, as_candidate
from espalier.structures.sequence import TaggedSequence
from espalier.structures.tree import Tree

__all__ = ["Group", "read_groups", "write_groups"]

_EXAMPLE = '{"candidates": [{"tree": "(S ...)", "score": -1.5}]}'
_COLUMNS = ("words", "tags", "heads", "relations", "lemmas", "features")


def read_groups(
    path: Readable,
    gold: Iterable[Any] | None = None,
    *,
    tags: Literal["upos", "xpos"] = "upos",
    encoding: str = "utf-8",
) -> list[Group]:
    """Read the candidates of a k-best parser.

    Parameters
    ----------
    path
        One of three layouts, told apart by how the file begins.
        JSON Lines, one group a line: ``{"candidates": [{"tree": "(S ...)", "score": -1.5}, ...], "gold": "(S ...)"}``;
        a candidate may also have ``words`` and ``tags``, and then ``heads`` and ``relations``.
        Or, for each sentence, a line with the number of candidates (and anything behind it), then each candidate's
        score and its tree, on one line or on two.
        Or CoNLL-U, in which the candidates of a sentence follow each other and have the same ``# sent_id``, each with a
        line ``# score = -1.5``.
        Either all candidates of a group have scores, or none has.
    gold
        The right ones in the order of the groups, where the file does not hold them.
    tags
        Which column of CoNLL-U gives the tags.
    encoding
        Of the file.
    """
    text, name = read_text(path, encoding=encoding), source_name(path)
    groups = list(_read(text, name, tags))
    return groups if gold is None else with_gold(groups, gold, name)


def with_gold(groups: Sequence[Group], gold: Iterable[Any], name: str) -> list[Group]:
    """Groups of a file with the gold trees of another; errors name the first."""
    golds = list(gold)
    if len(golds) != len(groups):
        raise InputError(f"{name} has {len(groups):,} groups, and there are {len(golds):,} gold trees.")
    pairs = enumerate(zip(groups, golds, strict=True))
    return [_group(group.candidates, group.scores, right, f"{name}, group {row}") for row, (group, right) in pairs]


def write_groups(groups: Iterable[Group], path: str | os.PathLike[str]) -> None:
    """Write groups: JSON Lines for a name in ``.jsonl``, CoNLL-U for ``.conllu``, else counts, scores and trees.

    Only JSON Lines have a place for what is gold, and only they hold candidates of every kind; it is an error to lose
    them. In CoNLL-U tags stand in the fourth column; of what a file had beside words, tags, lemmas, features and arcs a
    dependency tree knows nothing.
    """
    suffix = Path(os.fspath(path).removesuffix(".gz")).suffix
    lines: list[str] = []
    if isinstance(groups, Group):
        raise TypeError("Groups are written, got a single one. Write [group].")
    for row, group in enumerate(groups):
        if not isinstance(group, Group):
            raise TypeError(f"Groups are written, got {type(group).__name__} at {row}. Write Group(candidates).")
        if suffix == ".jsonl":
            lines.append(json.dumps(_record(group), ensure_ascii=False))
            continue
        if group.gold is not None:
            raise InputError(
                f"Group {row} has a gold tree, for which this layout has no place. Write to a .jsonl file."
            )
        wanted = DependencyTree if suffix == ".conllu" else Tree
        if not isinstance(group.candidates[0], wanted):
            kind = type(group.candidates[0]).__name__
            raise InputError(f"Group {row} holds candidates of the kind {kind}. Write to a .jsonl file.")
        scored = zip(group.candidates, group.scores or (), strict=True)
        if suffix == ".conllu":
            for tree, score in scored:
                lines += [f"# sent_id = {row + 1}", f"# score = {score!r}", *conllu_lines(tree), ""]
        else:
            lines += layout_lines(group)
    write_text(path, "".join(f"{line}\n" for line in lines))


def layout_lines(group: Group) -> list[str]:
    """A group of trees as k-best parsers write it: their number, then a score and a tree on each line."""
    scored = zip(group.candidates, group.scores or (), strict=True)
    lines = [str(len(group)), *(f"{score!r} {tree.to_brackets()}" for tree, score in scored), ""]
    if any("\n" in line for line in lines):
        raise InputError("A label has a line break, for which this layout has no place. Write to a .jsonl file.")
    return lines


def candidate_record(candidate: Candidate) -> dict[str, Any]:
    """A candidate as JSON holds it."""
    if isinstance(candidate, Tree):
        return {"tree": candidate.to_brackets()}
    columns = ((name, getattr(candidate, name, None)) for name in _COLUMNS)
    return {name: list(values) for name, values in columns if values is not None}


def candidate_of(record: Any) -> Any:
    """What a record of JSON says of a candidate: a tree's brackets, or an object; other texts are brackets."""
    if isinstance(record, str):
        return record
    if "tree" in record:
        return record["tree"]
    columns = {name: record[name] for name in _COLUMNS if name in record}
    return DependencyTree(**columns) if "heads" in columns else TaggedSequence(columns["words"], columns["tags"])


def _record(group: Group) -> dict[str, Any]:
    scored = zip(group.candidates, group.scores or (), strict=True)
    record: dict[str, Any] = {"candidates": [candidate_record(one) | {"score": score} for one, score in scored]}
    if group.gold is not None:
        gold = candidate_record(group.gold)
        record["gold"] = gold.get("tree", gold)
    return record


def _read(text: str, name: str, tags: Literal["upos", "xpos"]) -> Iterator[Group]:
    first = text.lstrip().split("\n", 1)[0]
    if first.startswith("{"):
        return _from_json(text, name)
    return _from_conllu(text, name, tags) if _is_conllu(text) else _from_layout(text, name)


def _is_conllu(text: str) -> bool:
    first = text.lstrip().split("\n", 1)[0]
    return first.startswith("#") or first.count("\t") > 6


def _from_json(text: str, name: str) -> Iterator[Group]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        try:
            record = json.loads(line)
            listed = record["candidates"]
            candidates = [candidate_of(entry) for entry in listed]
            scores = [entry.get("score") for entry in listed]
            gold = record.get("gold")
            gold = None if gold is None else candidate_of(gold)
        except InputError as error:
            raise InputError(f"{place}: {error}") from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise InputError(f"{place}: a group should stand here, {_EXAMPLE}.") from None
        yield _group(candidates, _all_or_none(scores, place), gold, place)


def _from_conllu(text: str, name: str, tags: Literal["upos", "xpos"]) -> Iterator[Group]:
    for label, found in _by_sentence(conllu_sentences(text, name, tags), name):
        place = f"{name}, sent_id {label}"
        written = [str(own.metadata["score"]) if "score" in own.metadata else None for own in found]
        scores = _all_or_none(written, place)
        try:
            numbers = None if scores is None else [float(score) for score in scores]
        except (TypeError, ValueError):
            raise InputError(f"{place}: '# score = ...' must be a number.") from None
        yield _group([sentence.tree for sentence in found], numbers, None, place)


def _by_sentence(sentences: list[Sentence], name: str) -> Iterator[tuple[str, list[Sentence]]]:
    """The candidates of each sentence, which follow each other, by its name."""
    for number, sentence in enumerate(sentences, 1):
        if "sent_id" not in sentence.metadata:
            raise InputError(
                f"{name}, sentence {number}: it has no line '# sent_id = ...'. The candidates of one sentence follow "
                "each other and have the same."
            )
    seen: set[str] = set()
    for label, listed in itertools.groupby(sentences, key=lambda sentence: sentence.metadata["sent_id"]):
        if label in seen:
            raise InputError(
                f"{name}, sent_id {label}: it comes back after other sentences. The candidates of one sentence follow "
                "each other."
            )
        seen.add(label)
        yield label, list(listed)


def conllu_texts(path: Readable, *, encoding: str = "utf-8") -> list[list[str]] | None:
    """The text of every candidate of a CoNLL-U file, by group, as it stands there; None of another layout."""
    text, name = read_text(path, encoding=encoding), source_name(path)
    if not _is_conllu(text):
        return None
    groups = _by_sentence(conllu_sentences(text, name, "upos"), name)
    return [[sentence.text for sentence in found] for _, found in groups]


def _all_or_none(scores: list[Any], place: str) -> list[Any] | None:
    """Scores, where there are some; a candidate without one among them would be taken for the best or the worst."""
    unknown = [rank for rank, score in enumerate(scores) if score is None]
    if unknown and len(unknown) < len(scores):
        raise InputError(f"{place}: candidate {unknown[0]} has no score, and others have.")
    return None if unknown else scores


def _from_layout(text: str, name: str) -> Iterator[Group]:
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    at = 0
    while at < len(lines):
        number, line = lines[at]
        count, rest = _parted(line)
        if count.isdecimal() and int(count) == 0:
            raise InputError(
                f"{name}, line {number}: this sentence has no candidates, and a group has at least one. Leave it out, "
                "and its gold tree."
            )
        if not count.isdecimal() or rest.startswith("("):
            hint = ", or one more of those above" if at else ""
            raise InputError(
                f"{name}, line {number}: the number of candidates should stand here{hint}, got {line[:60]!r}."
            )
        trees, scores = [], []
        for rank in range(int(count)):
            at += 1
            which = f"candidate {rank} of the {count} that line {number} promises"
            here, line = lines[at] if at < len(lines) else (lines[-1][0] + 1, "")
            score, tree = _parted(line)
            scores.append(_score(score, f"{name}, line {here}: the score of {which}", line))
            if not tree.strip():  # the tree stands on the next line
                at += 1
                here, tree = lines[at] if at < len(lines) else (here + 1, "")
            if not tree.strip().startswith("("):
                raise InputError(f"{name}, line {here}: the tree of {which} should stand here, got {tree[:60]!r}.")
            trees.append(tree.strip())
        at += 1
        yield _group(trees, scores, None, f"{name}, line {number}")


def _parted(line: str) -> tuple[str, str]:
    """The first word of a line, and the rest."""
    first, *rest = line.split(None, 1) or [""]
    return first, "".join(rest)


def _score(text: str, what: str, line: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{what} should stand here, got {line[:60]!r}.") from None


def _group(candidates: Any, scores: Any, gold: Any, place: str) -> Group:
    try:
        return Group(candidates, scores, gold)
    except TreeSyntaxError as error:
        which = _misspelled([*candidates, gold])
        what = "the gold tree" if which == len(candidates) else f"candidate {which}"
        named = TreeSyntaxError(error.message, source=f"{place}, {what}", text=error.text, position=error.position)
        raise InputError(str(named)) from None
    except (InputError, TypeError, ValueError) as error:
        raise InputError(f"{place}: {error}") from None


def _misspelled(items: list[Any]) -> int:
    """The first that is no tree."""
    for place, item in enumerate(items):
        try:
            as_candidate(item)
        except TreeSyntaxError:
            return place
    return len(items) - 1
