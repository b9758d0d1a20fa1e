"""``espalier tag``: learn a tagger, tag sentences, and make candidates for a reranker of tags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from espalier.cli import options
from espalier.cli.reporting import command_group, reported, write_lines
from espalier.jobs.bar import bar

if TYPE_CHECKING:
    from espalier.structures.sequence import TaggedSequence

app = command_group("tag", "Learn a tagger, and tag.")


@app.command()
@reported
def fit(
    treebank: options.ConlluTreebank,
    output: Annotated[Path, options.output_file("tagger.safetensors", "Where the tagger goes.")],
    tags: options.Tags = "upos",
    encoding: options.Encoding = "utf-8",
) -> None:
    """Learn a trigram tagger from sentences."""
    options.check_output(output, "A tagger", *treebank)
    from espalier.parsing import Tagger

    sentences, _ = _sentences(treebank, tags, encoding)
    tagger = Tagger.from_sentences(sentences)
    tagger.save(output)
    known = len(tagger.lexicon.words)
    typer.echo(f"{output}: {len(tagger.tags):,} tags and {known:,} words of {len(sentences):,} sentences")


@app.command()
@reported
def apply(
    tagger: Annotated[Path, options.saved_model("TAGGER", "espalier tag fit")],
    sentences: options.SentenceFile,
    output: Annotated[Path | None, options.output_or_standard("Where tags go")] = None,
    k: options.Several = None,
    form: Annotated[
        str | None, options.file_format("text (default), or conllu: tag its words, keep its tags as gold.")
    ] = None,
    tags: options.Tags = "upos",
    threads: options.Threads = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Tag sentences.

    Writes the words with their best tags on a line, word/TAG; or candidates, to a name in .jsonl.
    """
    options.check_output(output, "What is tagged", tagger, sentences)
    k = k or (20 if options.is_json(output) else 1)
    if k > 1 and not options.is_json(output):
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
    if output is not None and options.is_json(output):
        write_groups(groups if names is None else named(groups, names), output)
    else:
        write_lines(lines_of(groups), output)
    if output is not None:
        typer.echo(f"{output}: {'tags' if k == 1 else f'up to {k:,} taggings'} of {len(groups):,} sentences")


@app.command()
@reported
def candidates(
    treebank: options.ConlluTreebank,
    output: options.GroupsOutput,
    k: Annotated[int, typer.Option("-k", min=1, help="How many taggings of each sentence at most.")] = 20,
    folds: options.Folds = 5,
    seed: options.FoldSeed = 0,
    tags: options.Tags = "upos",
    threads: options.Threads = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Make candidates to learn from.

    Each sentence is tagged by a tagger that has not seen it.
    """
    options.check_output(output, "What is proposed", *treebank, json=True)
    from espalier.cli.ranking import candidates_found, named
    from espalier.parsing import Tagger
    from espalier.rerank.candidates import check_fold_count, jackknifed
    from espalier.structures.groups import write_groups

    sentences, names = _sentences(treebank, tags, encoding)
    check_fold_count("--folds", folds, sentences)
    parts: dict[str, Any] = {"folds": folds, "n_threads": threads, "random_state": seed}
    with bar(f"{len(sentences):,} sentences in {folds} parts") as progress:
        groups = jackknifed(sentences, k, make=Tagger.from_sentences, progress=progress, **parts)
    write_groups(named(groups, names), output)
    typer.echo(f"{output}: {candidates_found(groups, 'gold tags')}")


def _sentences(
    files: list[Path], tags: options.TagColumn, encoding: str
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
