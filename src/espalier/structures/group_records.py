"""Groups of candidates as JSON Lines: one group a line, each candidate an object."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from espalier.errors import InputError, warn_user
from espalier.structures.columns import first_repeated
from espalier.structures.dependency import DependencyTree
from espalier.structures.group import Candidate, Group, group_at
from espalier.structures.notation import BLANKS
from espalier.structures.sequence import TaggedSequence
from espalier.structures.tree import Tree

_EXAMPLE = '{"candidates": [{"tree": "(S ...)", "score": -1.5}]}'
_COLUMNS = ("words", "tags", "heads", "relations", "lemmas", "features")
MORE, ADDED = "more_scores", "gold_added"
_KNOWN = ("tree", "score", MORE, *_COLUMNS)
_N_SHOWN = 8  # keys that a warning lists at most


def group_record(group: Group) -> dict[str, object]:
    """Return a group as a JSON object."""
    record: dict[str, Any] = {} if group.name is None else {"id": group.name}
    listed: list[dict[str, object]] = []
    for rank, (one, score) in enumerate(zip(group.candidates, group.scores or (), strict=True)):
        more = {name: own[rank] for name, own in group.more_scores.items()}
        listed.append(_candidate_record(one) | {"score": score} | ({MORE: more} if more else {}))
    record["candidates"] = listed
    if group.gold is not None:
        gold = _candidate_record(group.gold)
        record["gold"] = gold.get("tree", gold)
    if group.gold_added:
        record[ADDED] = True
    return record


def _candidate_record(candidate: Candidate) -> dict[str, object]:
    """Return a candidate as a JSON object."""
    if isinstance(candidate, Tree):
        return {"tree": candidate.to_brackets()}
    columns = ((name, getattr(candidate, name, None)) for name in _COLUMNS)
    return {name: list(values) for name, values in columns if values is not None}


def groups_of_json(text: str, name: str) -> list[Group]:
    """Read the groups of JSON Lines; warn once about all keys that have no meaning."""
    groups: list[Group] = []
    unread: dict[str, dict[str, None]] = {"groups": {}, "candidates": {}, "gold": {}}
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip(BLANKS):
            groups.append(_group(line, f"{name}, line {number}", unread))
    found = [f"{_quoted(keys)} of {what}" for what, keys in unread.items() if keys]
    if found:
        warn_user(
            f'{name}: these keys are ignored: {", ".join(found)}. A group has "candidates", "gold" and "id"; '
            f'a candidate has "score", "{MORE}", and "tree" or {_quoted(_COLUMNS)}.'
        )
    return groups


def all_or_none(scores: list[float | None], place: str) -> list[float] | None:
    """Return scores if there are any. If some are given, all must be: a missing one would look best or worst."""
    known = [score for score in scores if score is not None]
    if known and len(known) < len(scores):
        raise InputError(f"{place}: candidate {scores.index(None) + 1} has no score, but others have one.")
    return known if len(known) == len(scores) else None


def by_name(more: list[dict[str, float]], place: str) -> dict[str, list[float]]:
    """Return the further scores of all candidates by name; each candidate must have all of them."""
    names = list(more[0]) if more else []
    for rank, own in enumerate(more, 1):
        if own.keys() != set(names):
            missing = next(iter(own.keys() ^ set(names)))
            raise InputError(f"{place}: some candidates have a score {missing!r} and candidate {rank} or 1 has none.")
    return {name: [own[name] for own in more] for name in names}


def _group(line: str, place: str, unread: dict[str, dict[str, None]]) -> Group:
    try:
        record = json.loads(line, object_pairs_hook=_object)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise _no_group(place, f"this is not JSON on one line ({error})") from None
    listed = record.get("candidates") if isinstance(record, dict) else None
    if not isinstance(listed, list):
        raise _no_group(place, 'this is not an object with a list "candidates"')
    candidates, scores, more = [], [], []
    for rank, entry in enumerate(listed, start=1):
        if not isinstance(entry, dict):
            raise _no_group(place, f"candidate {rank} is not an object")
        unread["candidates"] |= dict.fromkeys(key for key in entry if key not in _KNOWN)
        candidates.append(_candidate(entry, f"{place}, candidate {rank}"))
        scores.append(_score(entry.get("score"), f"{place}, candidate {rank}"))
        more.append(_more_scores(entry.get(MORE, {}), f"{place}, candidate {rank}"))
    gold = record.get("gold")
    if isinstance(gold, dict):
        unread["gold"] |= dict.fromkeys(key for key in gold if key not in _KNOWN)
    gold = None if gold is None else _candidate(gold, f"{place}, the gold one")
    key_of_name = next((key for key in ("id", "name") if record.get(key) is not None), "id")
    unread["groups"] |= dict.fromkeys(key for key in record if key not in ("candidates", "gold", ADDED, key_of_name))
    name = record.get(key_of_name)
    if isinstance(name, bool) or not isinstance(name, str | int | None):
        raise InputError(f'{place}: "{key_of_name}" names the sentence by a text or a whole number, got {name!r:.60}.')
    named = None if name is None else str(name)
    found = group_at(place, candidates, all_or_none(scores, place), gold, named, by_name(more, place))
    try:
        return replace(found, gold_added=record[ADDED]) if ADDED in record else found
    except (TypeError, InputError) as error:
        raise InputError(f"{place}: {error}") from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Read a JSON object, and refuse a repeated key, of which one value would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = first_repeated(key for key, _ in pairs)
        raise InputError(
            f'an object has the key "{twice:.60}" twice, and only one value can be read. Keep one of them.'
        )
    return found


def _score(value: object, place: str, name: str = "score") -> float | None:
    """Read a score, or None if there is none; texts and truth values are not numbers."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise InputError(
            f'{place}: "{name}" is {json.dumps(value)[:60]}; a score is a finite number, written without quotes.'
        )
    return value


def _more_scores(record: object, place: str) -> dict[str, float]:
    if not isinstance(record, dict):
        raise InputError(f'{place}: "{MORE}" must be an object with a number for each name, got {record!r:.60}.')
    found = {name: _score(value, place, name) for name, value in record.items()}
    return {name: math.nan if value is None else value for name, value in found.items()}


def _candidate(record: object, place: str) -> object:
    """Read a candidate from JSON: a text with the brackets of a tree, or an object."""
    if isinstance(record, str):
        return record
    if not isinstance(record, dict):
        raise InputError(f"{place}: expected an object here, got {record!r:.60}.")
    columns = {name: record[name] for name in _COLUMNS if name in record}
    if "tree" in record:
        if columns:
            raise InputError(f'{place}: it has "tree" and {_quoted(columns)}, but a candidate has one or the other.')
        return record["tree"]
    has_arcs = "heads" in columns or "relations" in columns
    missing = [name for name in _COLUMNS[: 4 if has_arcs else 2] if name not in columns]
    if missing:
        without = f"no {_quoted(missing)}" if columns else "neither a tree nor words and tags"
        raise InputError(
            f'{place}: it has {without}. A candidate has "tree", or "words" and "tags", or these with "heads" and '
            '"relations".'
        )
    try:
        return DependencyTree(**columns) if has_arcs else TaggedSequence(columns["words"], columns["tags"])
    except (TypeError, ValueError) as error:
        raise InputError(f"{place}: {error}") from None


def _no_group(place: str, why: str) -> InputError:
    return InputError(f"{place}: expected a group here, {_EXAMPLE}, and {why}.")


def _quoted(names: Iterable[str]) -> str:
    quoted = [f'"{name}"' for name in names]
    if len(quoted) > _N_SHOWN:
        quoted[_N_SHOWN:] = ["others"]
    *first, last = quoted
    return f"{', '.join(first)} and {last}" if first else last
