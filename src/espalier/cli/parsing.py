"""``espalier grammar``, ``parse``, ``candidates`` and ``evaluate``: from a treebank to lists of parses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from espalier.cli.options import (
    Beam,
    Candidates,
    Coarse,
    Encoding,
    Folds,
    FoldSeed,
    GroupsOutput,
    Least,
    Markov,
    Memory,
    SentenceFile,
    Skip,
    Smoothing,
    SplitTags,
    Threads,
    Treebank,
    Unknown,
    check_output,
    input_file,
    is_json,
    markov_of,
    output_file,
    output_or_standard,
    saved_model,
)
from espalier.cli.reporting import reported, say, write_lines
from espalier.jobs.bar import bar

if TYPE_CHECKING:
    from espalier.cli.proposals import Proposals
    from espalier.structures.tree import Tree

app = typer.Typer()

GRAMMAR = "grammar.safetensors"


@app.command()
@reported
def grammar(
    treebank: Treebank,
    output: Annotated[Path, output_file(GRAMMAR, "Where the grammar goes.")],
    markov: Markov = None,
    split_tags: SplitTags = False,
    least: Least = 0,
    unknown: Unknown = 2,
    smoothing: Smoothing = 1.0,
    skip: Skip = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Learn a grammar from a treebank.

    Counts how often each rule is used, and the tags of each word.

    Traces, function tags and outer labels are left out.
    """
    check_output(output, "A grammar", *treebank)
    options: dict[str, Any] = {"markov": markov_of(markov), "split_tags": split_tags, "least": least}
    from espalier.parsing import PCFG

    trees = _treebank(treebank, encoding, skip=skip)
    parser = PCFG.from_treebank(trees, unknown=unknown, smoothing=smoothing, **options)
    parser.save(output)
    rules = parser.grammar
    typer.echo(
        f"{output}: {len(rules.symbols):,} symbols, {len(rules.binary) + len(rules.unary):,} rules and "
        f"{len(parser.lexicon.word_counts):,} words of {len(trees):,} trees"
    )


@app.command()
@reported
def parse(
    grammar: Annotated[Path, saved_model("GRAMMAR", "espalier grammar")],
    sentences: SentenceFile,
    output: Annotated[Path | None, output_or_standard("Where the parses go")] = None,
    k: Annotated[
        int | None,
        typer.Option("-k", min=1, help="How many parses of each sentence at most; 100 for a name in .jsonl, else 1."),
    ] = None,
    beam: Beam = None,
    coarse: Coarse = None,
    memory: Memory = "1 GiB",
    tagged: Annotated[
        bool, typer.Option("--tagged", help="Words are written word/TAG; of trees, their tags are kept.")
    ] = False,
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="text (the default), or brackets to parse the words of trees."),
    ] = None,
    skip: Annotated[
        bool,
        typer.Option("--skip", help="Leave out trees without words, with --tagged also without tags; say how many."),
    ] = False,
    threads: Threads = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Parse sentences.

    Writes the best tree of each on a line, or with -k a list of candidates.

    Lists are written as JSON Lines to a name in .jsonl, where trees that were given are kept as gold trees; to other
    names as a number, and then a score and a tree on each line. A sentence that the grammar does not cover gets the
    fewest constituents that cover its words, side by side.
    """
    if output is not None:
        check_output(output, "What is parsed", grammar, sentences)
    k = k or (100 if is_json(output) else 1)
    from espalier.cli.proposals import Proposals, read_parsed_sentences
    from espalier.parsing import PCFG
    from espalier.structures.groups import write_groups

    parser = PCFG.load(grammar)
    given = read_parsed_sentences(sentences, form, encoding, tagged=tagged, skip=skip)
    _tell_skipped(given.n_skipped, len(given), "words" + (" or tags" if tagged else ""))
    with bar(f"{len(given):,} sentences") as progress:
        options = {"beam": beam, "coarse": coarse, "chart_memory": memory, "n_threads": threads}
        found = Proposals(parser, given, k, options, progress)
        if output is not None and is_json(output):
            write_groups(found, output)
            lines = None
        else:
            lines = _lines(found)
    if lines is not None:
        write_lines(lines, output)
    for rows, what in (
        (found.uncovered, "are not covered by the grammar"),
        (found.narrowed, _needs_more(memory)),
    ):
        if rows:
            say(f"{len(rows):,} of {len(given):,} sentences {what}; the first is on {given.place(rows[0])}.")
    if output is not None:
        typer.echo(f"{output}: {'parses' if k == 1 else f'up to {k:,} parses'} of {len(given):,} sentences")


def _needs_more(memory: str) -> str:
    return f"need more memory than {memory}, so that their parses are not exactly the best"


def _treebank(files: list[Path], encoding: str, *, skip: bool) -> list[Tree]:
    """Read the trees of a treebank, and report how many were left out."""
    from espalier.cli.proposals import read_treebank

    trees, n_skipped = read_treebank(files, encoding, skip=skip)
    if n_skipped:
        total = len(trees) + n_skipped
        say(f"{n_skipped:,} of {total:,} trees have no words, or a word without a tag: they are left out.")
    return trees


def _tell_skipped(n_skipped: int, n_kept: int, what: str) -> None:
    if n_skipped:
        say(f"{n_skipped:,} of {n_kept + n_skipped:,} trees lack {what}: they are left out.")


def _lines(found: Proposals) -> list[str]:
    """Yield a tree per line; or for several, their number, and then a score and a tree per line."""
    from espalier.structures.group import Group
    from espalier.structures.groups import layout_lines

    if found.k == 1:
        return [group.candidates[0].to_brackets() for group in found]
    return [line for group in found for line in layout_lines(Group(group.candidates, group.scores))]


@app.command()
@reported
def candidates(
    treebank: Treebank,
    output: GroupsOutput,
    k: Candidates = 100,
    folds: Folds = 5,
    markov: Markov = None,
    split_tags: SplitTags = False,
    least: Least = 0,
    unknown: Unknown = 2,
    smoothing: Smoothing = 1.0,
    beam: Beam = None,
    coarse: Coarse = None,
    memory: Memory = "1 GiB",
    skip: Skip = False,
    seed: FoldSeed = 0,
    threads: Threads = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Make candidates to learn from.

    Each sentence is parsed by a grammar that has not seen it.

    The trees are divided into parts, and each part is parsed by a grammar of the others.
    """
    check_output(output, "What is proposed", *treebank, json=True)
    options: dict[str, Any] = {"markov": markov_of(markov), "split_tags": split_tags, "least": least}
    from espalier.cli.proposals import GrammarSearch
    from espalier.cli.ranking import summary
    from espalier.rerank.candidates import check_fold_count, jackknifed
    from espalier.structures.groups import write_groups

    trees = _treebank(treebank, encoding, skip=skip)
    check_fold_count("--folds", folds, trees)
    search = GrammarSearch(coarse, memory)
    options |= {"folds": folds, "beam": beam, "random_state": seed, "unknown": unknown, "smoothing": smoothing}
    options |= {"make": search.grammar}
    with bar(f"{len(trees):,} trees in {folds} parts") as progress:
        groups = jackknifed(trees, k, n_threads=threads, progress=progress, **options)
    write_groups(groups, output)
    if search.n_narrowed:
        say(f"{search.n_narrowed:,} of {len(groups):,} sentences {_needs_more(memory)}.")
    typer.echo(f"{output}: {summary(groups, 'gold tree')}")


@app.command()
@reported
def evaluate(
    gold: Annotated[Path, input_file("GOLD", "A file of bracketed trees")],
    parsed: Annotated[Path, input_file("PARSED", "As many parses, in the same order")],
    all_punctuation: Annotated[
        bool, typer.Option("--all-punctuation", help="Count punctuation like other words.")
    ] = False,
    all_labels: Annotated[
        bool, typer.Option("--all-labels", help="Count outer labels such as ROOT, and distinguish PRT from ADVP.")
    ] = False,
    skip: Annotated[
        bool, typer.Option("--skip", help="Leave out sentences whose parse has other words, and say how many.")
    ] = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Compare parses with gold trees.

    Compares labelled constituents, as evalb counts them with the rules of Collins.

    Traces and function tags are left out of both.
    """
    from rich.console import Console

    from espalier.cli.measures import compared, measures_table
    from espalier.cli.proposals import TreeFile

    files = [TreeFile.read(file, encoding) for file in (gold, parsed)]
    found = compared(*files, all_punctuation=all_punctuation, all_labels=all_labels, skip=skip)
    Console(highlight=False).print(measures_table(found))
