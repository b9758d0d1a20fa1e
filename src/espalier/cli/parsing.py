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
    from_standard_input,
    is_json,
    markov_of,
    model_file,
    to_standard_output,
)
from espalier.cli.reporting import reported, say
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
    output: Annotated[Path, typer.Option("-o", "--output", metavar=GRAMMAR, help="Where the grammar goes.")],
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
    grammar: Annotated[
        Path, typer.Argument(metavar="GRAMMAR", callback=model_file, help="What espalier grammar wrote.")
    ],
    sentences: SentenceFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            callback=to_standard_output,
            help="Where the parses go; standard output by default.",
        ),
    ] = None,
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
        typer.Option("--format", metavar="FORMAT", help="brackets: parse the words of trees. text, the default."),
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

    parser = PCFG.load(grammar)
    given = read_parsed_sentences(sentences, form, encoding, tagged=tagged, skip=skip)
    _tell_skipped(given.n_skipped, len(given), "words" + (" or tags" if tagged else ""))
    with bar(f"{len(given):,} sentences") as progress:
        options = {"beam": beam, "coarse": coarse, "memory": memory, "n_threads": threads}
        found = Proposals(parser, given, k, options, progress)
        text = _written(found, output)
    if text:
        typer.echo(text, nl=False, color=True)  # without colour, typer would cut characters out of the data
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
    """The trees of a treebank; says how many were left out."""
    from espalier.cli.proposals import read_treebank

    trees, n_skipped = read_treebank(files, encoding, skip=skip)
    if n_skipped:
        total = len(trees) + n_skipped
        say(f"{n_skipped:,} of {total:,} trees have no words, or a word without a tag: they are left out.")
    return trees


def _tell_skipped(n_skipped: int, n_kept: int, what: str) -> None:
    if n_skipped:
        say(f"{n_skipped:,} of {n_kept + n_skipped:,} trees lack {what}: they are left out.")


def _written(found: Proposals, output: Path | None) -> str:
    """Write what is found, or return it as text where it goes to standard output."""
    from espalier.structures.files import write_text
    from espalier.structures.group import Group
    from espalier.structures.groups import layout_lines, write_groups

    if output is not None and is_json(output):
        write_groups(found, output)
        return ""
    if found.k == 1:
        lines = [group.candidates[0].to_brackets() for group in found]
    else:
        lines = [line for group in found for line in layout_lines(Group(group.candidates, group.scores))]
    text = "".join(f"{line}\n" for line in lines)
    if output is None:
        return text
    write_text(output, text)
    return ""


@app.command()
@reported
def candidates(
    treebank: Treebank,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="GROUPS.jsonl", help="Where the candidates go.")],
    k: Candidates = 100,
    folds: Annotated[int, typer.Option(min=2, help="Into how many parts the trees are dealt.")] = 5,
    markov: Markov = None,
    split_tags: SplitTags = False,
    least: Least = 0,
    unknown: Unknown = 2,
    smoothing: Smoothing = 1.0,
    beam: Beam = None,
    coarse: Coarse = None,
    memory: Memory = "1 GiB",
    skip: Skip = False,
    seed: Annotated[int, typer.Option(min=0, help="Which trees are in which part.")] = 0,
    threads: Threads = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Make candidates to learn from.

    Each sentence is parsed by a grammar that has not seen it.

    The trees are dealt into parts, and each part is parsed by a grammar of the others.
    """
    check_output(output, "What is proposed", *treebank, json=True)
    options: dict[str, Any] = {"markov": markov_of(markov), "split_tags": split_tags, "least": least}
    from espalier.cli.proposals import Search
    from espalier.rerank.candidates import check_folds, jackknifed
    from espalier.structures.groups import write_groups

    trees = _treebank(treebank, encoding, skip=skip)
    check_folds("--folds", folds, trees)
    search = Search(coarse, memory)
    options |= {"folds": folds, "beam": beam, "random_state": seed, "unknown": unknown, "smoothing": smoothing}
    options |= {"make": search.grammar}
    with bar(f"{len(trees):,} trees in {folds} parts") as progress:
        groups = jackknifed(trees, k, n_threads=threads, progress=progress, **options)
    write_groups(groups, output)
    if search.n_narrowed:
        say(f"{search.n_narrowed:,} of {len(groups):,} sentences {_needs_more(memory)}.")
    n_found = sum(group.gold in group.candidates for group in groups)
    total = sum(map(len, groups))
    typer.echo(
        f"{output}: {total:,} candidates of {len(groups):,} sentences; {n_found:,} have the gold tree among them"
    )


@app.command()
@reported
def evaluate(
    gold: Annotated[
        Path, typer.Argument(metavar="GOLD", callback=from_standard_input, help="A file of bracketed trees.")
    ],
    parsed: Annotated[
        Path,
        typer.Argument(
            metavar="PARSED",
            callback=from_standard_input,
            help="As many parses, in the same order; - for standard input.",
        ),
    ],
    all_punctuation: Annotated[
        bool, typer.Option("--all-punctuation", help="Let punctuation count as other words do.")
    ] = False,
    all_labels: Annotated[
        bool, typer.Option("--all-labels", help="Let outer labels such as ROOT count, and tell PRT from ADVP.")
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
