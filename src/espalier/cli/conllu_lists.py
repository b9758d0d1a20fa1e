"""Lists of dependency trees as CoNLL-U: the sentences as a file has them, once for each candidate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from espalier.cli.ranking import comment_key
from espalier.structures.conllu_text import DEPS, ConlluText
from espalier.structures.dependency import DependencyTree
from espalier.structures.group import Group
from espalier.structures.groups import conllu_comments, conllu_label, is_score

Columns = Callable[[DependencyTree], Mapping[int, Sequence[str]]]


def conllu_lists(text: ConlluText, groups: Sequence[Group], columns: Columns) -> Iterator[str]:
    """Yield the lines of all candidates, which have other columns than the sentences of the text.

    Each candidate has its scores in comments. Other comments, such as where a document begins, stay with the first.
    """
    rows: dict[str, int] = {}
    for row, group in enumerate(groups):
        label, sentence = conllu_label(group, row, rows), text.sentence(row)
        for rank, tree in enumerate(group.candidates):
            lines = sentence.replaced([columns(tree)], other={DEPS: "_"}).replace("\r\n", "\n").rstrip("\n").split("\n")
            comments = [line for line in lines if line.startswith("#")]
            keys = [comment_key(line) for line in comments]
            at = keys.index("sent_id") if "sent_id" in keys else len(keys)
            others = [line for line, key in zip(comments, keys, strict=True) if key != "sent_id" and not is_score(key)]
            before = [line for line in comments[:at] if line in others] if rank == 0 else []
            yield from before
            yield from conllu_comments(group, rank, label)
            yield from others[len(before) :] if rank == 0 else ()
            yield from (line for line in lines if not line.startswith("#"))
            yield ""
