"""The candidates of a grammar for the sentences of a file, a few at a time, so that long files fit in memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from espalier.cli.reporting import say
from espalier.cli.text_lines import TextLines, check_format, holds_groups, read_sentences
from espalier.errors import InputError, TreeSyntaxError
from espalier.jobs.memory import parse_memory
from espalier.jobs.progress import Tell, part_of, report_to
from espalier.parsing import PCFG, DependencyParse, DependencyParser, KBest
from espalier.parsing.treebank import has_bare_word, plain
from espalier.structures.brackets import locate_tree, trees_of_text
from espalier.structures.conllu import is_conllu
from espalier.structures.dependency import DependencyTree
from espalier.structures.files import read_text
from espalier.structures.group import Group
from espalier.structures.notation import split_words
from espalier.structures.tree import Tree

N_SENTENCES = 128  # that are parsed at once


@dataclass(frozen=True)
class Sentences:
    """Sentences to be parsed: words, or pairs of word and tag; and their trees if the file has them."""

    listed: list[list[Any]]
    gold: list[Tree] | None = None
    file: TreeFile | None = None  # which holds the trees, under these numbers
    rows: list[int] = field(default_factory=list)
    lines: TextLines | None = None  # of a text, where they stand

    def __len__(self) -> int:
        return len(self.listed)

    def place(self, row: int) -> str:
        """Return the place of a sentence in its file."""
        if self.lines is not None:
            return f"line {self.lines.numbers[row]:,}"
        assert self.file is not None
        return self.file.place(self.rows[row])


@dataclass
class Proposals:
    """Groups of candidates, made on demand; records which sentences were not covered or not searched exactly."""

    parser: PCFG
    sentences: Sentences
    k: int
    options: dict[str, Any]
    tell: Tell
    uncovered: list[int] = field(default_factory=list)
    narrowed: list[int] = field(default_factory=list)

    def __iter__(self) -> Iterator[Group]:
        total = len(self.sentences)
        for first in range(0, total, N_SENTENCES):
            some = self.sentences.listed[first : first + N_SENTENCES]
            progress = report_to(part_of(self.tell, first / total, first / total + len(some) / total))
            found = _quietly_parsed(self.parser, some, self.k, progress=progress, **self.options)
            for row, parses in enumerate(found, start=first):
                if not parses.complete:
                    self.uncovered.append(row)
                if parses.narrowed:
                    self.narrowed.append(row)
                gold = None if self.sentences.gold is None else self.sentences.gold[row]
                name = None if self.sentences.lines is None else str(self.sentences.lines.numbers[row])
                yield Group(parses.candidates, parses.scores, gold, name=name)


@dataclass(frozen=True, repr=False)
class Searching:
    """Makes parsers that all search in one way; records of each sentence whether memory did not suffice."""

    kind: type[PCFG | DependencyParser]
    search: dict[str, Any]
    narrowed: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        parse_memory(self.search["chart_memory"])  # a mistake is reported before a parser is learned

    def __repr__(self) -> str:
        # Parts of an interrupted call are used by calls in which this text is the same.
        return f"{self.kind.__name__}({', '.join(f'{name}={value!r}' for name, value in self.search.items())})"

    def __call__(self, trees: Sequence[Any], **options: Any) -> SearchingParser:
        return SearchingParser(self.kind.from_treebank(trees, **options), self)


@dataclass(frozen=True)
class SearchingParser:
    """A parser, and how it searches."""

    parser: PCFG | DependencyParser
    made_by: Searching

    def propose(self, sentences: Iterable[Sequence[Any]], k: int, **options: Any) -> list[KBest[Any]]:
        """The best parses of each sentence."""
        found = _quietly_parsed(self.parser, sentences, k, **self.made_by.search, **options)
        self.made_by.narrowed.extend(parses.narrowed for parses in found)
        return found

    def as_parses(self, trees: Iterable[DependencyTree]) -> list[DependencyParse]:
        """Trees as a dependency parser would have found them."""
        assert isinstance(self.parser, DependencyParser)
        return self.parser.as_parses(trees)

    def label_scores(self, trees: Iterable[DependencyTree]) -> list[float]:
        """How sure a dependency parser is of the relations of trees."""
        assert isinstance(self.parser, DependencyParser)
        return self.parser.label_scores(trees)


def _quietly_parsed(
    parser: PCFG | DependencyParser, sentences: Iterable[Sequence[Any]], k: int, **options: Any
) -> list[KBest[Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of memory that did not suffice: told once, at the end
        found: list[KBest[Any]] = list(parser.propose(sentences, k, **options))
        return found


@dataclass(frozen=True)
class TreeFile:
    """The trees of a file, and its text, from which errors quote them."""

    name: str
    text: str
    trees: list[Tree]

    @staticmethod
    def read(file: Path, encoding: str) -> TreeFile:
        """Read a file, which has one tree at least."""
        return TreeFile.of(file, read_text(file, encoding=encoding))  # once: it may be a pipe

    @staticmethod
    def of(file: Path, text: str) -> TreeFile:
        """The trees in the text of a file, one at least."""
        try:
            trees = trees_of_text(text, str(file))
        except TreeSyntaxError as error:
            for what, is_it in (("groups of candidates", holds_groups), ("CoNLL-U", is_conllu)):
                if is_it(text):
                    raise InputError(f"{file} looks like {what}, but trees in brackets are needed.") from None
            raise error from None
        if not trees:
            raise InputError(f"{file} contains no tree.")
        return TreeFile(str(file), text, trees)

    def plain_trees(self, fault: Callable[[Tree | None], str | None], *, skip: bool) -> dict[int, Tree]:
        """Return the trees without traces and function tags, by row; those with a fault are an error, or left out."""
        kept = {}
        for row, tree in enumerate(self.trees):
            found = plain(tree)
            what = fault(found)
            if what is None and found is not None:
                kept[row] = found
            elif not skip:
                raise self.error(row, f"it has {what}. Pass --skip to leave out such trees.")
        return kept

    def place(self, row: int) -> str:
        """Return the place of a tree: its line, and its number counted from 1."""
        return f"line {locate_tree(self.text, row)[0]:,}, tree {row + 1:,}"

    def error(self, row: int, what: str) -> InputError:
        """Make the error for a tree, which is shown as the file spells it."""
        spelled = " ".join(split_words(locate_tree(self.text, row)[1]))
        return InputError(f"{self.name}, {self.place(row)}: {what} {spelled[:80]}")


Texts = Sequence[tuple[Path, str]]  # files and what they contain


def texts_of(files: Sequence[Path], encoding: str) -> Texts:
    """Read the texts of files, each once: it may be a pipe."""
    return [(file, read_text(file, encoding=encoding)) for file in files]


def trees_to_learn(texts: Texts, *, skip: bool) -> list[Tree]:
    """Return the trees in the texts of files that a grammar can learn from, and report how many were left out."""
    given = [TreeFile.of(file, text) for file, text in texts]
    kept = [tree for file in given for tree in file.plain_trees(_unlearnable, skip=skip).values()]
    if not kept:
        raise InputError(f"There is no tree with words and tags in {', '.join(str(file) for file, _ in texts)}.")
    _tell_skipped(len(kept), sum(len(file.trees) for file in given), "have no words, or a word without a tag")
    return kept


def read_parsed_sentences(
    file: Path, form: str | None, encoding: str, *, tagged: bool, skip: bool = False
) -> Sentences:
    """Read the sentences of a file to be parsed: one per line, or the words of its trees."""
    check_format(form, "brackets")
    if form == "brackets":
        return _of_trees(TreeFile.read(file, encoding), tagged=tagged, skip=skip)
    if skip:
        raise InputError("--skip leaves out trees: it belongs to --format brackets.")
    lines = read_sentences(file, form, encoding, other="brackets", tagged=tagged)
    return Sentences(lines.listed, lines=lines)


def _of_trees(given: TreeFile, *, tagged: bool, skip: bool) -> Sentences:
    """Return the words of trees, and with ``tagged`` their tags; ``skip`` leaves out trees that have none."""
    kept = given.plain_trees(partial(_unparsable, tagged=tagged), skip=skip)
    gold = list(kept.values())
    if not gold:
        raise InputError(f"There is no tree with words{' and tags' if tagged else ''} in {given.name}.")
    listed: list[list[Any]] = [tree.words() for tree in gold]
    if tagged:
        listed = [[(node.children[0].label, node.label) for node in tree if node.is_preterminal] for tree in gold]
    _tell_skipped(len(gold), len(given.trees), f"lack words{' or tags' if tagged else ''}")
    return Sentences(listed, gold, given, list(kept))


def _tell_skipped(n_kept: int, n_trees: int, what: str) -> None:
    if n_kept < n_trees:
        say(f"{n_trees - n_kept:,} of {n_trees:,} trees {what}: they are left out.")


def _unlearnable(tree: Tree | None) -> str | None:
    """Say why a grammar cannot learn from a tree."""
    if tree is None:
        return "no words beside traces"
    return "a word without a tag above it" if has_bare_word(tree) else None


def _unparsable(tree: Tree | None, *, tagged: bool) -> str | None:
    """Say why a tree cannot be parsed as a sentence."""
    if tree is None or not tree.children:
        return "no words"
    if "" in tree.words():
        return "an empty word, written ()"
    return _unlearnable(tree) if tagged else None
