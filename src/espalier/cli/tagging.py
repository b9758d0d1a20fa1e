"""``espalier tag``: learn a tagger, tag sentences, and make candidates for a reranker of tags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from espalier.cli.options import (
    Encoding,
    SentenceFile,
    Tags,
    Threads,
    check_output,
    from_standard_input,
    is_json,
    model_file,
    to_standard_output,
)
from espalier.cli.reporting import reported
from espalier.jobs.bar import bar

if TYPE_CHECKING:
    from espalier.structures.sequence import TaggedSequence

app = typer.Typer(
    name="tag",
    help="Learn a tagger, and tag.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Treebank = Annotated[
    list[Path],
    typer.Argument(
        metavar="TREEBANK...",
        callback=from_standard_input,
        help="Files of CoNLL-U, plain or .gz; - for standard input.",
    ),
]


@app.callback()
def tag() -> None:
    """Learn a tagger, and tag."""


@app.command()
@reported
def fit(
    treebank: Treebank,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="tagger.safetensors", help="Where the tagger goes.")
    ],
    tags: Tags = "upos",
    encoding: Encoding = "utf-8",
) -> None:
    """Learn a trigram tagger from sentences."""
    check_output(output, "A tagger", *treebank)
    from espalier.parsing import Tagger

    sentences, _ = _sentences(treebank, tags, encoding)
    tagger = Tagger.from_sentences(sentences)
    tagger.save(output)
    known = len(tagger.lexicon.words)
    typer.echo(f"{output}: {len(tagger.tags):,} tags and {known:,} words of {len(sentences):,} sentences")


@app.command()
@reported
def apply(
    tagger: Annotated[Path, typer.Argument(metavar="TAGGER", callback=model_file, help="What espalier tag fit wrote.")],
    sentences: SentenceFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            callback=to_standard_output,
            help="Where tags go; standard output by default.",
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("-k", min=1, help="How many taggings of each sentence; 20 for a name in .jsonl, else 1."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", help="conllu: tag its words and keep its tags as gold. text, the default."
        ),
    ] = None,
    tags: Tags = "upos",
    threads: Threads = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Tag sentences.

    Writes the words with their best tags on a line, word/TAG; or candidates, to a name in .jsonl.
    """
    if output is not None:
        check_output(output, "What is tagged", tagger, sentences)
    k = k or (20 if is_json(output) else 1)
    if k > 1 and not is_json(output):
        raise ValueError("Several taggings of a sentence go to JSON Lines: give -o GROUPS.jsonl.")
    from espalier.cli.proposals import check_format, read_sentences
    from espalier.cli.ranking import lines_of, named
    from espalier.parsing import Tagger
    from espalier.rerank import propose
    from espalier.structures.files import write_text
    from espalier.structures.groups import write_groups

    check_format(form, "conllu")
    model = Tagger.load(tagger)
    names: list[str | None] | None = None
    given: Sequence[Any]
    if form == "conllu":
        given, names = _sentences([sentences], tags, encoding)
    else:
        given = read_sentences(sentences, form, encoding, other="conllu")
    with bar(f"{len(given):,} sentences") as progress:
        groups = propose(model, given, k, n_threads=threads, progress=progress)
    if output is not None and is_json(output):
        write_groups(groups if names is None else named(groups, names), output)
    else:
        text = "".join(f"{line}\n" for line in lines_of(groups))
        if output is None:
            typer.echo(text, nl=False, color=True)  # without colour, typer would cut characters out of the data
            return
        write_text(output, text)
    typer.echo(f"{output}: {'tags' if k == 1 else f'up to {k:,} taggings'} of {len(groups):,} sentences")


@app.command()
@reported
def candidates(
    treebank: Treebank,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="GROUPS.jsonl", help="Where the candidates go.")],
    k: Annotated[int, typer.Option("-k", min=1, help="How many taggings of each sentence at most.")] = 20,
    folds: Annotated[int, typer.Option(min=2, help="Into how many parts the sentences are dealt.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Which sentences are in which part.")] = 0,
    tags: Tags = "upos",
    threads: Threads = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Make candidates to learn from.

    Each sentence is tagged by a tagger that has not seen it.
    """
    check_output(output, "What is proposed", *treebank, json=True)
    from espalier.cli.ranking import named
    from espalier.parsing import Tagger
    from espalier.rerank.candidates import check_folds, jackknifed
    from espalier.structures.groups import write_groups

    sentences, names = _sentences(treebank, tags, encoding)
    check_folds("--folds", folds, sentences)
    options: dict[str, Any] = {"folds": folds, "n_threads": threads, "random_state": seed}
    with bar(f"{len(sentences):,} sentences in {folds} parts") as progress:
        groups = jackknifed(sentences, k, make=Tagger.from_sentences, progress=progress, **options)
    write_groups(named(groups, names), output)
    n_found = sum(group.gold in group.candidates for group in groups)
    total = sum(map(len, groups))
    typer.echo(
        f"{output}: {total:,} candidates of {len(groups):,} sentences; {n_found:,} have the gold tags among them"
    )


def _sentences(
    files: list[Path], tags: Literal["upos", "xpos"], encoding: str
) -> tuple[list[TaggedSequence], list[str | None]]:
    """The sentences of some files, and their names."""
    from espalier.errors import InputError
    from espalier.structures.conllu import conllu_sentences
    from espalier.structures.files import read_text

    found = []
    for file in files:
        own = conllu_sentences(read_text(file, encoding=encoding), str(file), tags)
        if not own:
            raise InputError(f"{file} holds no sentence.")
        found += own
    return [one.tree.tagged() for one in found], [one.metadata.get("sent_id") for one in found]
