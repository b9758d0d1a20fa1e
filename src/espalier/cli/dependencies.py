"""Dependency parsers on the command line: learned from CoNLL-U, applied to CoNLL-U or to text."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import typer

from espalier.cli.conllu_files import check_tags_of, conllu_text, load_tagger, tag_column, wider
from espalier.cli.conllu_lists import conllu_lists
from espalier.cli.options import TagColumn, is_conllu_name, is_json
from espalier.cli.proposals import Searching, Texts
from espalier.cli.ranking import candidates_found, lines_of, named
from espalier.cli.reporting import say, write_lines, write_whole
from espalier.cli.text_lines import NAMED, TextLines, read_sentences
from espalier.errors import InputError
from espalier.jobs.bar import bar
from espalier.parsing import DependencyParse, DependencyParser, KBest, Tagged, Tagger, jackknifed_taggings
from espalier.rerank.candidates import check_fold_count, jackknifed
from espalier.structures.conllu import conllu_sentences, documents_of, is_conllu, tag_columns
from espalier.structures.conllu_text import DEPREL, DEPS, HEAD, ConlluText, columns_of_tags
from espalier.structures.dependency import DependencyTree
from espalier.structures.files import read_text
from espalier.structures.group import Group
from espalier.structures.groups import write_groups
from espalier.structures.notation import BLANKS
from espalier.structures.sequence import TaggedSequence

Taggings = Sequence[Sequence[tuple[TaggedSequence, float]]]  # the best of each sentence

N_CANDIDATES = 10  # that .jsonl gets by default
N_TAGGINGS = 4  # of a sentence that a tagger tags
TRIGRAM_WEIGHT = 4.0  # of its scores: logarithms of probabilities differ less than the scores of a perceptron
_NEEDS_MORE = "need more memory than {}, so that fewer heads were tried"


def are_conllu(texts: Texts) -> bool:
    """Say whether files are CoNLL-U; it is an error if only some are."""
    found = {file: is_conllu(text) or is_conllu_name(file) for file, text in texts}
    if len(set(found.values())) > 1:
        yes, no = (next(file for file, own in found.items() if own is wanted) for wanted in (True, False))
        raise InputError(f"{yes} is CoNLL-U and {no} is not. Give files of one kind.")
    return all(found.values())


def refuse(owner: str, options: Mapping[str, object], but: str) -> None:
    """Refuse options that are given and belong to something else; ``but`` says what there is instead."""
    for name, value in options.items():
        if value is not None and value is not False:
            raise InputError(f"{name} belongs to {owner}, and {but}.")


@dataclass(frozen=True)
class Treebank:
    """The trees of files, their names, and which of them must stay in one part; None if only the same words must."""

    trees: list[DependencyTree]
    names: list[str | None]
    documents: list[Hashable] | None

    @staticmethod
    def of(texts: Texts, tags: TagColumn) -> Treebank:
        """Read the trees in the texts of files."""
        read = [conllu_sentences(text, str(file), tags) for file, text in texts]
        documents: list[Hashable] = []
        marked = False
        for number, own in enumerate(map(documents_of, read)):
            if any(len(document) > 1 for document in own):
                marked = True
                documents += [(number, row) for row, document in enumerate(own) for _ in document]
            else:  # there are no documents, and the same sentence may be there twice
                documents += [tree.words for document in own for tree in document]
        sentences = [sentence for own in read for sentence in own]
        for (file, _), found in zip(texts, read, strict=True):
            if not found:
                raise InputError(f"{file} contains no sentence.")
            check_tags_of([sentence.tree for sentence in found], file)
        names = [sentence.metadata.get("sent_id") for sentence in sentences]
        return Treebank([sentence.tree for sentence in sentences], names, documents if marked else None)

    def taggings(self, folds: int | None, option: str, n: int = 1, threads: int | None = None) -> Taggings | None:
        """The best taggings of taggers that have not seen a tree, if an option asks for so many parts."""
        if folds is None:
            return None
        check_fold_count(option, folds, self.trees, self.documents)
        parts: dict[str, Any] = {"folds": folds, "documents": self.documents, "n_threads": threads}
        with bar(f"Tags in {folds} parts") as progress:
            return jackknifed_taggings(self.trees, n, progress=progress, **parts)


def learn(texts: Texts, output: Path, *, tags: TagColumn, folds: int | None, options: dict[str, Any]) -> None:
    """Learn a dependency parser, and save it."""
    treebank = Treebank.of(texts, tags)
    trees, found = treebank.trees, treebank.taggings(folds, "--folds")
    if found is not None:
        trees = [replace(tree, tags=own[0][0].tags) for tree, own in zip(trees, found, strict=True)]
    with bar(f"{len(trees):,} trees") as progress:
        parser = DependencyParser.from_treebank(trees, progress=progress, **options)
    parser.save(output)
    n_unnamed = sum("_" in tree.relations for tree in trees)
    if n_unnamed:
        say(f"Warning: {n_unnamed:,} of {len(trees):,} trees lack relations, so that parses have the relation _.")
    n_several = sum(len(tree.roots) > 1 for tree in trees)
    if n_several:
        say(f"{n_several:,} of {len(trees):,} trees have several roots, so that parses may have several, too.")
    typer.echo(
        f"{output}: a dependency parser of order {parser.order} with {len(parser.relations):,} relations, of "
        f"{len(trees):,} trees"
    )


def propose_unseen(
    texts: Texts,
    output: Path,
    k: int | None,
    *,
    tags: TagColumn,
    tag_folds: int | None,
    taggings: int,
    memory: str,
    options: dict[str, Any],
) -> None:
    """Write lists of trees, each of a parser that has not seen the sentence; the options are those of jackknifed."""
    make = Searching(DependencyParser, {"chart_memory": memory})
    treebank = Treebank.of(texts, tags)
    check_fold_count("--folds", options["folds"], treebank.trees, treebank.documents)
    trees, found = treebank.trees, treebank.taggings(tag_folds, "--tag-folds", taggings, options["n_threads"])
    with bar(f"{len(trees):,} trees in {options['folds']} parts") as progress:
        groups = jackknifed(
            trees,
            k or N_CANDIDATES,
            taggings=found,
            make=make,
            documents=treebank.documents,
            progress=progress,
            **options,
        )
    write_groups(named(groups, treebank.names), output)
    if any(make.narrowed):
        say(f"{sum(make.narrowed):,} of {len(make.narrowed):,} sentences {_NEEDS_MORE.format(memory)}.")
    typer.echo(f"{output}: {candidates_found(groups, 'gold tree')}")


@dataclass(frozen=True)
class _Given:
    """Sentences to be parsed: their words, their text if they are CoNLL-U, or their lines, and tags if given there."""

    words: list[list[str]]
    text: ConlluText | None = None
    lines: TextLines | None = None
    pairs: list[list[tuple[str, str]]] | None = None

    def place(self, row: int) -> str:
        if self.text is not None:
            return f"line {self.text.words[row][0] + 1:,}"
        assert self.lines is not None
        return f"line {self.lines.numbers[row]:,}"

    @property
    def names(self) -> Sequence[str | None]:
        """The names of sentences in CoNLL-U; of lines, their numbers."""
        if self.text is not None:
            return self.text.names
        assert self.lines is not None
        return self.lines.names


@dataclass
class Parsing:
    """What is asked of a dependency parser."""

    parser: DependencyParser
    sentences: Path
    output: Path | None
    k: int | None
    form: str | None
    tagged: bool
    tagger: Path | None
    taggings: int
    tag_weight: float | None
    tags: TagColumn | None
    memory: str
    threads: int | None
    encoding: str
    column: TagColumn | None = field(init=False, default=None)  # of the text, into which new tags go
    weight: dict[str, float] = field(init=False, default_factory=dict)  # of the tagger's scores

    def run(self) -> None:
        """Parse the sentences, and write the parses."""
        k = self.k or (N_CANDIDATES if is_json(self.output) else 1)
        if k > 1 and not (is_json(self.output) or is_conllu_name(self.output)):
            raise InputError(
                "Several trees of a sentence go to JSON Lines or CoNLL-U: give -o GROUPS.jsonl or -o GROUPS.conllu."
            )
        given = self._read()
        taggings = self._taggings(given)
        tagged = [own[0][0] for own in taggings]
        self._warn_of_tags(tagged)
        golds: list[DependencyTree | None] = [None] * len(tagged)
        if given.text is not None and is_json(self.output):
            golds = given.text.trees(tagged)  # before anything is computed: heads may be wrong
        options: dict[str, Any] = {"n_threads": self.threads, "chart_memory": self.memory, **self.weight}
        with bar(f"{len(tagged):,} sentences") as progress:
            found = self.parser.parse_all(tagged if self.tagger is None else taggings, k, progress=progress, **options)
        if is_json(self.output) or k > 1:
            self._write_lists(given, golds, found)
        elif given.text is not None:
            self._write_conllu(given.text, [own[0].tree for own in found])
        else:
            write_lines(lines_of(named([Group(own.candidates) for own in found], given.names)), self.output)
        if given.lines is not None:
            given.lines.tell_empty(NAMED)
        narrowed = [row for row, own in enumerate(found) if own.narrowed]
        if narrowed:
            say(
                f"{len(narrowed):,} of {len(found):,} sentences {_NEEDS_MORE.format(self.memory)}; the first is on "
                f"{given.place(narrowed[0])}."
            )
        if self.output is not None:
            what = "parses" if k == 1 else f"up to {k:,} parses"
            typer.echo(f"{self.output}: {what} of {len(found):,} sentences")

    def _read(self) -> _Given:
        if self.form not in (None, "text", "conllu"):
            raise InputError(f"--format must be one of text, conllu for a dependency parser, got {self.form!r}.")
        content = read_text(self.sentences, encoding=self.encoding)
        named = self.form is None and is_conllu_name(self.sentences)
        if self.form == "conllu" or named or (self.form is None and is_conllu(content)):
            if self.tagged:
                raise InputError("--tagged belongs to text: CoNLL-U has columns of tags.")
            text = conllu_text(content, self.sentences)
            return _Given(text.forms(), text)
        if self.tags is not None:
            raise InputError("--tags names a column of CoNLL-U: it belongs to --format conllu.")
        if content.strip(BLANKS) and not self.tagged and self.tagger is None:
            raise InputError(
                "A dependency parser needs tags: give a tagger by --tagger FILE, or pass --tagged if words are written "
                "word/TAG."
            )
        lines = read_sentences(
            self.sentences, self.form, self.encoding, other="conllu", tagged=self.tagged, text=content
        )
        if not self.tagged:
            return _Given(lines.listed, lines=lines)
        return _Given([[word for word, _ in own] for own in lines.listed], lines=lines, pairs=lines.listed)

    def _taggings(self, given: _Given) -> Taggings:
        """The best taggings of each sentence by a tagger, or its own tags."""
        if self.tagger is not None:
            if self.tagged:
                raise InputError("--tagged keeps the tags of the text, and --tagger gives others: pass one of them.")
            tagger = wider(load_tagger(self.tagger), self.taggings)
            weight = TRIGRAM_WEIGHT if self.tag_weight is None and isinstance(tagger, Tagger) else self.tag_weight
            self.weight = {} if weight is None else {"tag_weight": weight}
            if given.text is not None:
                self.column = tag_column(given.text, tagger.tags, self.tags)
            with bar(f"Tags of {len(given.words):,} sentences") as progress:
                return tagger.tag_all(given.words, self.taggings, n_threads=self.threads, progress=progress)
        return [[Tagged(own, 0.0)] for own in self._own_tags(given)]

    def _own_tags(self, given: _Given) -> list[TaggedSequence]:
        """The sentences with the tags that they have."""
        if given.pairs is not None:
            return [TaggedSequence([word for word, _ in own], [tag for _, tag in own]) for own in given.pairs]
        assert given.text is not None
        tokens = self.parser.tokens
        two = set(tokens.tags) != set(tokens.coarse)
        column = self.tags or ("joint" if two else tag_column(given.text, tokens.tags, None))
        try:
            return given.text.tagged(column)
        except InputError as error:
            raise InputError(f"{error} A dependency parser needs tags: give a tagger by --tagger FILE.") from None

    def _warn_of_tags(self, tagged: Sequence[TaggedSequence]) -> None:
        """Warn if the parser has not learned most of the tags; refuse if it has learned none."""
        known = set(self.parser.tokens.tags)
        fine = {tag: _fine(tag) for own in tagged for tag in own.tags}
        used = [tag for own in tagged for tag in own.tags]
        unknown = [tag for tag in used if fine[tag] not in known]
        if used and len(unknown) == len(used):
            raise InputError(
                f"The parser knows none of these tags, such as {unknown[0]!r}; its own are such as {min(known)!r}. "
                "Give tags of the column that it has learned: --tags, or a tagger that espalier tag fit learned with "
                "the --tags of espalier grammar."
            )
        if 2 * len(unknown) > len(used):
            say(
                f"Warning: the parser has not learned {len(unknown):,} of these {len(used):,} tags, such as "
                f"{unknown[0]!r}. Its own are such as {min(known, default='')!r}: give those by --tags or --tagger."
            )

    def _write_lists(
        self, given: _Given, golds: Sequence[DependencyTree | None], found: Sequence[KBest[DependencyParse]]
    ) -> None:
        assert self.output is not None
        listed = zip(found, golds, given.names, strict=True)
        groups = [
            Group(own.candidates, own.scores, gold, name=name, more_scores=own.more_scores)
            for own, gold, name in listed
        ]
        if given.text is not None and not is_json(self.output):
            write_lines(conllu_lists(given.text, groups, self._columns), self.output)
            self._tell_enhanced(given.text)
            return
        write_groups(groups, self.output)
        n_without = sum(gold is None for gold in golds)
        if given.text is not None and n_without:
            say(f"{n_without:,} of {len(golds):,} sentences lack heads, so that their lists have no gold tree.")

    def _write_conllu(self, text: ConlluText, trees: Sequence[DependencyTree]) -> None:
        write_whole(text.replaced(list(map(self._columns, trees)), other={DEPS: "_"}), self.output)
        self._tell_enhanced(text)

    def _tell_enhanced(self, text: ConlluText) -> None:
        aside = [[text.lines[number].split("\t")[DEPS] for number in own] for own in text.others]
        n_enhanced = sum({*own, *other} != {"_"} for own, other in zip(text.column(DEPS), aside, strict=True))
        if n_enhanced:
            many = f"{n_enhanced:,} of {len(text):,} sentences"
            say(f"DEPS of {many} became _: the old arcs there would contradict the new ones.")

    def _columns(self, tree: DependencyTree) -> dict[int, Sequence[str]]:
        own = {HEAD: [str(head) for head in tree.heads], DEPREL: tree.relations, DEPS: ["_"] * len(tree)}
        return own if self.column is None else own | columns_of_tags(tree.tags, self.column)


def _fine(tag: str) -> str:
    upos, xpos = tag_columns(tag)
    return upos if xpos == "_" else xpos
