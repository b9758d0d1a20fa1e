"""What the commands of ``espalier rerank`` read, make and write."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from espalier.cli.options import TagColumn
from espalier.cli.proposals import TreeFile
from espalier.errors import InputError
from espalier.parsing.evaluation import ROOTS
from espalier.rerank import FeatureReranker, Reranker
from espalier.rerank.quality import alike
from espalier.storage import load
from espalier.structures.conllu import JOINT, conllu_lines, conllu_sentences, tag_columns
from espalier.structures.dependency import DependencyTree
from espalier.structures.files import read_text
from espalier.structures.group import Candidate, Group
from espalier.structures.groups import is_score, name_on_a_line, read_with_texts, with_gold
from espalier.structures.sequence import TaggedSequence
from espalier.structures.transforms import drop_outer, strip_function_tags, strip_traces
from espalier.structures.tree import Tree


def groups_of(
    file: Path, gold: Path | None, tags: TagColumn | None, encoding: str, *, needs: str | None = None
) -> tuple[list[Group], list[list[str]] | None]:
    """Read the groups of a file once, with the gold trees of another file if one is given.

    Where gold trees are needed, ``needs`` is the option that gives them. If no column of tags is named, groups get
    joint tags, and gold trees those of the column that has the tags of the groups. Of CoNLL-U the text of every
    candidate is returned, too.
    """
    groups, texts = read_with_texts(file, tags=tags or "joint", encoding=encoding)
    if not groups:
        raise InputError(f"{file} holds no group.")
    if gold is not None:
        groups = with_gold(groups, _gold(gold, groups, tags=tags, encoding=encoding), str(file))
    for row, group in enumerate(groups, start=1):
        if group.kind != groups[0].kind:
            raise InputError(f"{file}, group {row}: it holds {group.kind}, and group 1 {groups[0].kind}.")
        if needs is not None and group.gold is None:
            raise InputError(f"{file}, group {row}: it has no gold tree. Give those of all groups by {needs} FILE.")
    return groups, texts


def loaded(file: Path, groups: Sequence[Group], of: Path) -> Reranker:
    """Load a reranker for candidates of the kind in the groups of a file."""
    found = load(file)
    reranker = Reranker.around(found) if isinstance(found, FeatureReranker) else Reranker.load(file)
    chooser: Any = reranker.chooser_
    support = getattr(chooser, "support_", [])
    learned = Group(support[:1]).kind if support else getattr(chooser, "kind_", None)
    if learned not in (None, groups[0].kind):
        raise InputError(f"{file} chooses among {learned}, and {of} holds {groups[0].kind}.")
    return reranker


def candidate_number(option: str, text: str | None, n_candidates: int) -> int | Literal["gold"] | None:
    """A candidate of a group of this size, given by its number from 1 on, as the library counts; or the gold one."""
    if text is None or text == "gold":
        return None if text is None else "gold"
    if not text.isdecimal() or not 1 <= int(text) <= n_candidates:
        raise InputError(f"{option} takes the number of a candidate, 1 to {n_candidates} here, or gold, got {text!r}.")
    return int(text) - 1


def lines_of(groups: Sequence[Group]) -> Iterator[str]:
    """First candidates as text: a tree in brackets or the tagged words on one line, or the lines of CoNLL-U."""
    for row, group in enumerate(groups):
        candidate = group.candidates[0]
        if isinstance(candidate, Tree):
            yield candidate.to_brackets()
        elif isinstance(candidate, TaggedSequence):
            yield " ".join(f"{word}/{tag}" for word, tag in zip(candidate.words, candidate.tags, strict=True))
        else:
            name = str(row + 1) if group.name is None else name_on_a_line(group.name)
            yield from (f"# sent_id = {name}", *conllu_lines(candidate), "")


def conllu_like(texts: Sequence[Sequence[str]], values: Sequence[Any], *, whole: bool) -> Iterator[str]:
    """Return the chosen candidates of a CoNLL-U file as the file spells them, without their scores.

    Comments that only the first candidate has, such as where a document begins, are kept. With ``whole``, all
    candidates, the best first, with the values that decide for scores.
    """
    for own, listed in zip(values, texts, strict=True):
        if whole:
            for k in best_first(own):
                yield from (*_rescored(listed[k], float(own[k])), "")
            continue
        chosen = listed[best_first(own)[0]]
        known = {comment_key(line) for line in chosen.split("\n") if line.startswith("#")}
        yield from (line for line in listed[0].split("\n") if line.startswith("#") and comment_key(line) not in known)
        yield from (*_rescored(chosen, None), "")


def comment_key(comment: str) -> str:
    """What stands before the equals sign of a comment in CoNLL-U."""
    return comment.partition("=")[0].lstrip("#").strip()


def _rescored(text: str, score: float | None) -> Iterator[str]:
    """Return the lines of a sentence of CoNLL-U with another score after its name, or without any score."""
    for line in text.split("\n"):
        key = comment_key(line) if line.startswith("#") else ""
        if key != "score" and not (score is None and is_score(key)):
            yield line
        if key == "sent_id" and score is not None:
            yield f"# score = {score!r}"


def ordered(groups: Sequence[Group], values: Sequence[Any], n: int | None = None) -> list[Group]:
    """Return groups with new scores, the best first, at most ``n`` candidates of each; equals keep their order."""
    out = []
    for group, own in zip(groups, values, strict=True):
        order = best_first(own)[:n]
        listed = [group.candidates[k] for k in order]
        out.append(Group(listed, own[order].tolist(), group.gold, name=group.name))
    return out


def named(groups: Sequence[Group], names: Sequence[str | None]) -> list[Group]:
    """Return groups with the names of their sentences, if there are any."""
    return [replace(group, name=name) for group, name in zip(groups, names, strict=True)]


def candidates_found(groups: Sequence[Group], gold: str) -> str:
    """Say how many candidates there are, and how often the gold one is among them."""
    n_found = sum(any(alike(own, group.gold) for own in group.candidates) for group in groups)
    total = sum(map(len, groups))
    return f"{total:,} candidates of {len(groups):,} sentences; {n_found:,} have the {gold} among them"


def best_first(values: Any) -> list[int]:
    """Return the numbers of candidates in the order of their values; equals keep their order."""
    order: list[int] = np.argsort(-values, kind="stable").tolist()
    return order


def _gold(file: Path, groups: Sequence[Group], *, tags: TagColumn | None, encoding: str) -> list[Candidate]:
    firsts = [group.candidates[0] for group in groups]
    likes = itertools.chain(firsts, itertools.repeat(firsts[0]))  # another number of trees is reported later
    if isinstance(firsts[0], Tree):
        # A parser that writes function tags has learned them; any other is compared without.
        keeps_functions = any(strip_function_tags(own) is not own for own in firsts)
        trees = TreeFile.read(file, encoding).trees
        return [gold_like(tree, like, keeps_functions) for tree, like in zip(trees, likes, strict=False)]
    text = read_text(file, encoding=encoding)
    found = [sentence.tree for sentence in conllu_sentences(text, str(file), tags or "joint")]
    if tags is None:
        column = _column_of({tag for own in firsts for tag in own.tags}, found)
        found = [sentence.tree for sentence in conllu_sentences(text, str(file), column)]
    if isinstance(firsts[0], TaggedSequence):
        return [own.tagged() for own in found]
    return [arcs_like(tree, like) for tree, like in zip(found, likes, strict=False)]


def _column_of(known: Collection[str], trees: Sequence[DependencyTree]) -> TagColumn:
    """The column of trees with joint tags in which most are known; joint if tags that are known are."""
    if any(JOINT in tag for tag in known):
        return "joint"
    columns = [tag_columns(tag) for tree in trees for tag in tree.tags]
    upos, xpos = (sum(own[place] in known for own in columns) for place in (0, 1))
    return "xpos" if xpos > upos else "upos"


def gold_like(tree: Tree, candidate: Tree, keeps_functions: bool = False) -> Tree:
    """Return a gold tree in the form of a candidate: without traces and function tags, and with its outer labels.

    Were the form another, it would tell gold trees from candidates, and nothing else would be learned.
    """
    kept = strip_traces(drop_outer(tree, ROOTS)) or tree
    kept = kept if keeps_functions else strip_function_tags(kept)
    outer = []
    while candidate.label in ROOTS and len(candidate.children) == 1 and candidate.children[0].children:
        outer.append(candidate.label)
        candidate = candidate.children[0]
    for label in reversed(outer):
        kept = Tree(label, [kept])
    return kept


def arcs_like(tree: DependencyTree, candidate: DependencyTree) -> DependencyTree:
    """Return a gold dependency tree with a candidate's lemmas and features, which the comparison ignores."""
    if tree.words != candidate.words:  # reported where the two meet
        return tree
    return replace(tree, lemmas=candidate.lemmas, features=candidate.features)
