"""What a grammar proposes for the sentences of a file, a few at a time, so that long files fit in memory."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from espalier.errors import InputError, TreeSyntaxError
from espalier.parsing import PCFG, Parses
from espalier.parsing.treebank import plain
from espalier.structures.brackets import read_brackets
from espalier.structures.files import read_text
from espalier.structures.group import Group
from espalier.structures.tree import Tree

FORMATS = ("text", "brackets")
N_SENTENCES = 128  # that are parsed at once

Progress = Callable[[float], object]


@dataclass(frozen=True)
class Sentences:
    """Sentences to be parsed: words, or pairs of word and tag; and their trees where the file has them."""

    listed: list[list[Any]]
    gold: list[Tree] | None = None

    def __len__(self) -> int:
        return len(self.listed)


@dataclass
class Proposals:
    """Groups of candidates, made while they are asked for; tells which were not covered, or not exactly searched."""

    parser: PCFG
    sentences: Sentences
    k: int
    options: dict[str, Any]
    progress: Progress
    uncovered: list[int] = field(default_factory=list)
    narrowed: list[int] = field(default_factory=list)

    def __iter__(self) -> Iterator[Group]:
        total = len(self.sentences)
        for first in range(0, total, N_SENTENCES):
            some = self.sentences.listed[first : first + N_SENTENCES]
            for row, parses in enumerate(self._parsed(some, first / total, len(some) / total), start=first):
                if not parses.complete:
                    self.uncovered.append(row)
                if parses.narrowed:
                    self.narrowed.append(row)
                gold = None if self.sentences.gold is None else self.sentences.gold[row]
                yield Group(parses.trees, [parse.score for parse in parses], gold)

    def _parsed(self, some: Sequence[list[Any]], start: float, share: float) -> list[Parses]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of memory that did not suffice: told once, at the end
            return self.parser.parse_all(
                some, self.k, progress=lambda fraction: self.progress(start + share * fraction), **self.options
            )


def read_trees(files: Sequence[Path], encoding: str) -> list[Tree]:
    """All trees of some files, each of which has one at least."""
    trees: list[Tree] = []
    for file in files:
        try:
            found = read_brackets(file, encoding=encoding)
        except TreeSyntaxError as error:
            if _holds_groups(read_text(file, encoding=encoding)):
                raise InputError(
                    f"{file} holds groups of candidates, as it seems, and trees in brackets are needed."
                ) from None
            raise error from None
        if not found:
            raise InputError(f"{file} holds no tree.")
        trees += found
    return trees


def read_treebank(files: Sequence[Path], encoding: str, *, skip: bool) -> tuple[list[Tree], int]:
    """Trees that a grammar can be read off, and how many others were left out."""
    kept: list[Tree] = []
    n_skipped = 0
    for file in files:
        for row, tree in enumerate(read_trees([file], encoding)):
            found = plain(tree)
            what = "no words beside traces" if found is None else "a word without a tag above it"
            if found is not None and not _has_bare_word(found):
                kept.append(found)
            elif skip:
                n_skipped += 1
            else:
                raise InputError(f"{file}, tree {row}: it has {what}. Leave such trees out by --skip. {str(tree)[:80]}")
    if not kept:
        raise InputError(f"There is no tree with words and tags in {', '.join(map(str, files))}.")
    return kept, n_skipped


def read_sentences(file: Path, form: str | None, encoding: str, *, tagged: bool) -> Sentences:
    """The sentences of a file: one a line, or the words of its trees."""
    if form is not None and form not in FORMATS:
        raise InputError(f"--format must be one of {', '.join(FORMATS)}, got {form!r}.")
    if form == "brackets":
        return _of_trees(file, read_trees([file], encoding), tagged=tagged)
    text = read_text(file, encoding=encoding).replace("\r\n", "\n")
    if form is None and _holds_trees(text):
        raise InputError(
            f"{file} holds trees, as it seems: pass --format brackets, or --format text if these are words."
        )
    if form is None and _holds_groups(text):
        raise InputError(f"{file} holds groups of candidates, as it seems; pass --format text if these are words.")
    lines = text.removesuffix("\n").split("\n") if text.strip() else []
    if not lines:
        raise InputError(f"{file} holds no sentence.")
    return Sentences([_words(file, number, line, tagged=tagged) for number, line in enumerate(lines, start=1)])


def _words(file: Path, number: int, line: str, *, tagged: bool) -> list[Any]:
    words = line.split()
    if not words:
        raise InputError(
            f"{file}, line {number}: there is no word here. A line holds one sentence; take empty ones out."
        )
    if not tagged:
        return list(words)
    pairs = [(word.rpartition("/")[0], word.rpartition("/")[2]) for word in words]
    for given, pair in zip(words, pairs, strict=True):
        if not all(pair):
            raise InputError(f"{file}, line {number}: with --tagged each word is written word/TAG, got {given!r}.")
    return list(pairs)


def _of_trees(file: Path, trees: Sequence[Tree], *, tagged: bool) -> Sentences:
    gold = []
    for row, tree in enumerate(trees):
        kept = plain(tree)
        if kept is None or not kept.children:
            raise InputError(f"{file}, tree {row}: it has no words: {str(tree)[:60]}")
        if "" in kept.words():
            raise InputError(f"{file}, tree {row}: it has an empty word, written (): {kept}")
        gold.append(kept)
    if not tagged:
        return Sentences([tree.words() for tree in gold], gold)
    for row, tree in enumerate(gold):
        if _has_bare_word(tree):
            raise InputError(f"{file}, tree {row}: it has a word without a tag above it: {str(tree)[:60]}")
    pairs = [[(node.children[0].label, node.label) for node in tree if node.is_preterminal] for tree in gold]
    return Sentences([list(own) for own in pairs], gold)


def _has_bare_word(tree: Tree) -> bool:
    return tree.is_leaf or any(c.is_leaf for node in tree if not node.is_preterminal for c in node.children)


def _holds_trees(text: str) -> bool:
    return re.match(r"\s*\(\S*\s+\(", text) is not None


def _holds_groups(text: str) -> bool:
    """Whether a text begins like JSON Lines of groups, or like a count, a score and a tree."""
    return re.match(r"\s*(\{\s*\"candidates\"|\d+[^\n]*\n\s*[-+]?\d[\d.eE+-]*\s+\()", text) is not None
