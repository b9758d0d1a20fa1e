"""``espalier tag``: learn a tagger, tag sentences, and make candidates for a reranker of tags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from espalier.cli.options import (
    ConlluTreebank,
    Encoding,
    Folds,
    FoldSeed,
    GroupsOutput,
    SentenceFile,
    Tags,
    Threads,
    check_output,
    is_json,
    output_file,
    output_or_standard,
    saved_model,
)
from espalier.cli.reporting import command_group, reported, write_lines
from espalier.jobs.bar import bar

if TYPE_CHECKING:
    from espalier.structures.sequence import TaggedSequence

app = command_group("tag", "Learn a tagger, and tag.")


@app.command()
@reported
def fit(
    treebank: ConlluTreebank,
    output: Annotated[Path, output_file("tagger.safetensors", "Where the tagger goes.")],
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
    tagger: Annotated[Path, saved_model("TAGGER", "espalier tag fit")],
    sentences: SentenceFile,
    output: Annotated[Path | None, output_or_standard("Where tags go")] = None,
    k: Annotated[
        int | None,
        typer.Option("-k", min=1, help="How many taggings of each sentence; 20 for a name in .jsonl, else 1."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", help="text (default), or conllu: tag its words, keep its tags as gold."
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
        write_lines(lines_of(groups), output)
    if output is not None:
        typer.echo(f"{output}: {'tags' if k == 1 else f'up to {k:,} taggings'} of {len(groups):,} sentences")


@app.command()
@reported
def candidates(
    treebank: ConlluTreebank,
    output: GroupsOutput,
    k: Annotated[int, typer.Option("-k", min=1, help="How many taggings of each sentence at most.")] = 20,
    folds: Folds = 5,
    seed: FoldSeed = 0,
    tags: Tags = "upos",
    threads: Threads = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Make candidates to learn from.

    Each sentence is tagged by a tagger that has not seen it.
    """
    check_output(output, "What is proposed", *treebank, json=True)
    from espalier.cli.ranking import named, summary
    from espalier.parsing import Tagger
    from espalier.rerank.candidates import check_fold_count, jackknifed
    from espalier.structures.groups import write_groups

    sentences, names = _sentences(treebank, tags, encoding)
    check_fold_count("--folds", folds, sentences)
    options: dict[str, Any] = {"folds": folds, "n_threads": threads, "random_state": seed}
    with bar(f"{len(sentences):,} sentences in {folds} parts") as progress:
        groups = jackknifed(sentences, k, make=Tagger.from_sentences, progress=progress, **options)
    write_groups(named(groups, names), output)
    typer.echo(f"{output}: {summary(groups, 'gold tags')}")


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
            raise InputError(f"{file} contains no sentence.")
        found += own
    return [one.tree.tagged() for one in found], [one.metadata.get("sent_id") for one in found]
