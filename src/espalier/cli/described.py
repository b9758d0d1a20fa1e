"""What a file of trees, of CoNLL-U or of candidates holds, for ``espalier describe``: names and numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from espalier.cli.conllu_files import conllu_text
from espalier.cli.text_lines import holds_groups
from espalier.corpus.forest import Forest
from espalier.errors import InputError
from espalier.parsing.projective import crossing
from espalier.rerank.quality import alike
from espalier.structures.conllu import is_conllu
from espalier.structures.conllu_text import DEPREL, UPOS, XPOS, ConlluText
from espalier.structures.files import read_text
from espalier.structures.group import Group
from espalier.structures.groups import groups_of_text
from espalier.structures.sequence import TaggedSequence

Counts = Mapping[str, int | float | str]

_SCORE = re.compile(r"^#\s*score(\.[^=\n]*)?\s*=", re.MULTILINE)
_NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")


def counts_of(file: Path, encoding: str) -> Counts:
    """Count what a file holds: candidates, CoNLL-U, or otherwise bracketed trees."""
    text = read_text(file, encoding=encoding)
    if holds_groups(text) or (is_conllu(text) and _SCORE.search(text)):
        groups, _ = groups_of_text(text, str(file), "joint")
        return counts_of_groups(groups)
    if is_conllu(text):
        return counts_of_conllu(conllu_text(text, file))
    forest = Forest.from_text(text, source=str(file))
    if not len(forest):
        raise InputError(f"{file} contains no tree.")
    return vars(forest.describe())


def counts_of_conllu(text: ConlluText) -> Counts:
    """Count the sentences of a text of CoNLL-U, their words, tags and arcs; tags and heads may be missing."""
    forms = text.forms()
    words = [word for own in forms for word in own]
    upos, xpos, relations = ([value for own in text.column(column) for value in own] for column in (UPOS, XPOS, DEPREL))
    others = [text.lines[number].split("\t", 1)[0] for own in text.others for number in own]
    trees = [tree for tree in text.trees([TaggedSequence(own, own) for own in forms]) if tree is not None]
    return {
        "sentences": len(text),
        "documents": sum(_NEW_DOCUMENT.match(line) is not None for line in text.lines),
        "words": len(words),
        "distinct_words": len(set(words)),
        "longest_sentence": max(map(len, forms)),
        "multiword_tokens": sum("-" in own for own in others),
        "empty_nodes": sum("." in own for own in others),
        "UPOS_tags": len(set(upos) - {"_"}),
        "words_without_UPOS": upos.count("_"),
        "XPOS_tags": len(set(xpos) - {"_"}),
        "words_without_XPOS": xpos.count("_"),
        "relations": len(set(relations) - {"_"}),
        "sentences_without_all_heads": len(text) - len(trees),
        "trees_with_several_roots": sum(len(tree.roots) > 1 for tree in trees),
        "trees_with_crossing_arcs": sum(bool(crossing(tree.heads)) for tree in trees),
    }


def counts_of_groups(groups: Sequence[Group]) -> Counts:
    """Count the groups of a file, their candidates, their gold trees and their scores."""
    sizes = [len(group) for group in groups]
    golds = [group for group in groups if group.gold is not None]
    found = [group for group in golds if any(alike(own, group.gold) for own in group.candidates)]
    further = sorted({name for group in groups for name in group.more_scores})
    return {
        "groups": len(groups),
        "kind": ", ".join(sorted({group.kind for group in groups})),
        "candidates": sum(sizes),
        "most_candidates_of_a_group": max(sizes),
        "groups_with_one_candidate": sizes.count(1),
        "words": sum(len(group.words) for group in groups),
        "longest_sentence": max(len(group.words) for group in groups),
        "groups_with_gold": len(golds),
        "gold_among_the_candidates": len(found),
        "of_these_added_as_gold": sum(group.gold_added for group in found),
        "groups_without_scores": sum(not any(group.scores or ()) for group in groups),
        "further_scores": ", ".join(further) or "none",
    }
