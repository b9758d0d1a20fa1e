"""Groups of candidates in files: the layouts of k-best parsers, k-best CoNLL-U and JSON Lines."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from espalier.errors import InputError
from espalier.structures.conllu import ConlluSentence, TagColumn, check_tags, conllu_lines, conllu_sentences
from espalier.structures.dependency import DependencyTree
from espalier.structures.files import Readable, read_text, source_name, write_text
from espalier.structures.group import Group, group_at
from espalier.structures.group_records import all_or_none, by_name, group_record, groups_of_json
from espalier.structures.limits import DEFAULT_LIMITS, ReadLimits
from espalier.structures.notation import BLANKS, split_words
from espalier.structures.numbers import number_in_text
from espalier.structures.tree import Tree

_MOST_DIGITS = 18  # of a number of candidates
_MORE = "score."  # the names of further scores in CoNLL-U begin so


def read_groups(
    path: Readable,
    gold: Iterable[object] | None = None,
    *,
    tags: TagColumn = "upos",
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> list[Group]:
    """Read the candidates of a k-best parser.

    Parameters
    ----------
    path
        One of three layouts, told apart by how the file begins.
        JSON Lines, one group a line: ``{"candidates": [{"tree": "(S ...)", "score": -1.5}, ...], "gold": "(S ...)"}``;
        a candidate may also have ``words`` and ``tags``, and then ``heads`` and ``relations``, and ``more_scores``, an
        object with a number for each name; and a group an ``id`` or a ``name``. One warning lists other keys.
        Or, for each sentence, a line with the number of candidates (and its name behind it), then each candidate's
        score and its tree, on one line or on two.
        Or CoNLL-U, in which the candidates of a sentence follow each other and have the same ``# sent_id``, each with a
        line ``# score = -1.5``, and lines such as ``# score.tags = -2.5`` for further scores.
        Either all candidates of a group have scores, or none has.
    gold
        The right ones in the order of the groups, if the file does not contain them.
    tags, encoding, limits
        As for :func:`read_conllu`.
    """
    groups, _ = read_with_texts(path, tags=tags, encoding=encoding, limits=limits)
    return groups if gold is None else with_gold(groups, gold, source_name(path))


def read_with_texts(
    path: Readable,
    *,
    tags: TagColumn = "upos",
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> tuple[list[Group], list[list[str]] | None]:
    """Return the groups of a file and, for CoNLL-U, the original text of every candidate.

    The file is read once, so that it may be a pipe.
    """
    check_tags(tags)
    return groups_of_text(read_text(path, encoding=encoding, limits=limits), source_name(path), tags)


def groups_of_text(text: str, name: str, tags: str) -> tuple[list[Group], list[list[str]] | None]:
    """Return the groups in the text of a file like :func:`read_with_texts`; errors name the file."""
    first = text.lstrip(BLANKS).split("\n", 1)[0]
    if first.startswith("{"):
        return groups_of_json(text, name), None
    if first.startswith("["):
        raise InputError(
            f"{name} begins with '[', like a JSON array, but JSON Lines have one group per line. Write each group on "
            "a line of its own, without brackets around all lines and commas between them."
        )
    if not first.startswith("#") and first.count("\t") <= 6:
        return list(_from_layout(text, name)), None
    listed = list(_by_sentence(conllu_sentences(text, name, tags), name))
    groups = [_of_sentences(label, found, name) for label, found in listed]
    return groups, [[sentence.text for sentence in found] for _, found in listed]


def with_gold(groups: Sequence[Group], gold: Iterable[object], name: str) -> list[Group]:
    """Groups of a file with the gold trees of another; errors name the first."""
    if isinstance(gold, str | Tree):
        raise TypeError(f"gold must be the trees themselves, got {str(gold)[:60]!r}. Read a file by read_brackets.")
    golds = list(gold)
    if len(golds) != len(groups):
        raise InputError(f"{name} has {len(groups):,} groups, but there are {len(golds):,} gold trees.")
    pairs = enumerate(zip(groups, golds, strict=True), start=1)
    return [
        group_at(f"{name}, group {row}", group.candidates, group.scores, right, group.name, group.more_scores)
        for row, (group, right) in pairs
    ]


def write_groups(groups: Iterable[Group], path: str | os.PathLike[str]) -> None:
    """Write groups as JSON Lines (``.jsonl``), CoNLL-U (``.conllu``), or else as counts, scores and trees.

    Only JSON Lines can contain gold candidates and candidates of every kind; it is an error to lose
    them. In CoNLL-U tags stand in the fourth column, and joint ones in the fourth and the fifth; of what a file had
    beside words, tags, lemmas, features and arcs a dependency tree knows nothing. Names stand in ``id``, behind the
    count and in ``sent_id``; CoNLL-U counts groups that have none.
    """
    suffix = Path(os.fspath(path).removesuffix(".gz")).suffix
    lines: list[str] = []
    rows: dict[str, int] = {}  # by what CoNLL-U calls them
    if isinstance(groups, Group):
        raise TypeError("write_groups needs a list of groups, got a single group. Write [group].")
    for row, group in enumerate(groups):
        if not isinstance(group, Group):
            raise TypeError(f"write_groups needs groups, got {type(group).__name__} at {row}. Write Group(candidates).")
        if suffix == ".jsonl":
            lines.append(json.dumps(group_record(group), ensure_ascii=False))
            continue
        if group.gold is not None:
            raise InputError(f"Group {row} has a gold tree, which this layout cannot contain. Write to a .jsonl file.")
        wanted = DependencyTree if suffix == ".conllu" else Tree
        if not isinstance(group.candidates[0], wanted):
            kind = type(group.candidates[0]).__name__
            raise InputError(
                f"Group {row} has candidates of the kind {kind}, which cannot be written here. Write to a .jsonl file."
            )
        if suffix == ".conllu":
            label = conllu_label(group, row, rows)
            for rank, tree in enumerate(group.candidates):
                lines += [*conllu_comments(group, rank, label), *conllu_lines(tree), ""]
        else:
            lines += layout_lines(group)
    write_text(path, "".join(f"{line}\n" for line in lines))


def layout_lines(group: Group) -> list[str]:
    """Return a group of trees in the layout of k-best parsers: number and name, then a score and a tree per line."""
    if group.more_scores:
        raise InputError("A group has further scores, which this layout cannot contain. Write to a .jsonl file.")
    scored = zip(group.candidates, group.scores or (), strict=True)
    header = str(len(group))
    if group.name is not None:
        # A bracket would be a score and a tree to those who read it.
        header = f"{header} {name_on_a_line(group.name, bracket=False)}"
    lines = [header, *(f"{score!r} {tree.to_brackets()}" for tree, score in scored), ""]
    if any("\n" in line for line in lines):
        raise InputError("A label has a line break, which this layout cannot contain. Write to a .jsonl file.")
    return lines


def conllu_label(group: Group, row: int, rows: dict[str, int]) -> str:
    """Return what CoNLL-U calls a group; it must be new among the names whose rows are known, and is added to them."""
    label = str(row + 1) if group.name is None else name_on_a_line(group.name)
    if rows.setdefault(label, row) != row:
        raise InputError(
            f"Groups {rows[label]} and {row} would both have the sent_id {label!r}, which separates groups in CoNLL-U. "
            "Give them other names, or write to a .jsonl file."
        )
    return label


def conllu_comments(group: Group, rank: int, label: str) -> list[str]:
    """Return the lines that stand above a candidate in CoNLL-U: the name of its sentence, and its scores."""
    more = [f"# {_MORE}{_score_name(name)} = {own[rank]!r}" for name, own in group.more_scores.items()]
    return [f"# sent_id = {label}", f"# score = {(group.scores or ())[rank]!r}", *more]


def is_score(key: str) -> bool:
    """Say whether a comment of CoNLL-U with this key gives a score of a candidate."""
    return key == "score" or key.startswith(_MORE)


def name_on_a_line(name: str, *, bracket: bool = True) -> str:
    """Return a name that can be read back from a line, or raise an error; if asked, also for a bracket before it."""
    if not name or name != name.strip() or len(name.splitlines()) > 1 or (name.startswith("(") and not bracket):
        raise InputError(f"The name {name!r} cannot be read back from this layout. Write to a .jsonl file.")
    return name


def _score_name(name: str) -> str:
    """Return the name of a further score if it can be read back from a comment, or raise an error."""
    if "=" in name:
        raise InputError(f"The name {name!r} of a score has a '=', which CoNLL-U cannot keep. Write to a .jsonl file.")
    return name_on_a_line(name)


def _of_sentences(label: str, found: list[ConlluSentence], name: str) -> Group:
    place = f"{name}, sent_id {label}"
    facts = [sentence.metadata for sentence in found]
    try:
        scores = [number_in_text(str(own["score"])) if "score" in own else None for own in facts]
        more = [
            {name.removeprefix(_MORE): number_in_text(str(own[name])) for name in own if name.startswith(_MORE)}
            for own in facts
        ]
    except ValueError:
        raise InputError(
            f"{place}: '# score = ...' must be a number, and so must others such as '# score.tags'."
        ) from None
    trees = [sentence.tree for sentence in found]
    return group_at(place, trees, all_or_none(scores, place), None, label, by_name(more, place))


def _by_sentence(sentences: list[ConlluSentence], name: str) -> Iterator[tuple[str, list[ConlluSentence]]]:
    """Yield the consecutive candidates of each sentence, by its name."""
    for number, sentence in enumerate(sentences, 1):
        if "sent_id" not in sentence.metadata:
            raise InputError(
                f"{name}, sentence {number}: it has no line '# sent_id = ...'. The candidates of one sentence must "
                "be consecutive and have the same sent_id."
            )
    seen: set[str] = set()
    for label, listed in itertools.groupby(sentences, key=lambda sentence: sentence.metadata["sent_id"]):
        if label in seen:
            raise InputError(
                f"{name}, sent_id {label}: it occurs again after other sentences. The candidates of one sentence "
                "must be consecutive."
            )
        seen.add(label)
        yield label, list(listed)


def _from_layout(text: str, name: str) -> Iterator[Group]:
    lines = [(number, own) for number, line in enumerate(text.split("\n"), start=1) if (own := line.strip(BLANKS))]
    at = above = 0
    while at < len(lines):
        number, line = lines[at]
        count, label = _parted(line)
        if count.isdecimal() and len(count) > _MOST_DIGITS:
            raise InputError(f"{name}, line {number}: no sentence has {count[:20]}... candidates.")
        if count.isdecimal() and int(count) == 0:
            raise InputError(
                f"{name}, line {number}: this sentence has no candidates, but a group needs at least one. Remove it, "
                "and its gold tree."
            )
        if not count.isdecimal() or label.startswith("("):
            hint = f", or line {above} promises too few" if at else ""
            raise InputError(f"{name}, line {number}: expected the number of candidates here{hint}, got {line[:60]!r}.")
        above = number
        trees, scores = [], []
        for rank in range(1, int(count) + 1):
            at += 1
            which = f"candidate {rank} of the {count} that line {number} promises"
            here, line = lines[at] if at < len(lines) else (lines[-1][0] + 1, "")
            score, tree = _parted(line)
            try:
                scores.append(number_in_text(score))
            except ValueError:
                raise InputError(
                    f"{name}, line {here}: expected the score of {which} here, got {line[:60]!r}."
                ) from None
            if not tree:  # the tree stands on the next line
                at += 1
                here, tree = lines[at] if at < len(lines) else (here + 1, "")
            if not tree.startswith("("):
                raise InputError(f"{name}, line {here}: expected the tree of {which} here, got {tree[:60]!r}.")
            trees.append(tree)
        at += 1
        yield group_at(f"{name}, line {number}", trees, scores, None, label or None)


def _parted(line: str) -> tuple[str, str]:
    """Split a line into its first word and the rest."""
    first = next(iter(split_words(line)), "")
    return first, line.removeprefix(first).strip(BLANKS)
