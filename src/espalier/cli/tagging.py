"""``espalier tag``: learn a tagger, tag sentences, and make candidates for a reranker of tags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from espalier.cli import options
from espalier.cli.reporting import command_group, reported, write_lines, write_whole
from espalier.jobs.bar import bar

if TYPE_CHECKING:
    from espalier.structures.sequence import TaggedSequence

app = command_group("tag", "Learn a tagger, and tag.")

Model = Annotated[
    Literal["perceptron", "trigram"],
    typer.Option(help="An averaged perceptron, or a hidden Markov model, which learns faster and makes more mistakes."),
]


@app.command()
@reported
def fit(
    treebank: options.ConlluTreebank,
    output: Annotated[Path, options.output_file("tagger.safetensors", "Where the tagger goes.")],
    model: Model = "perceptron",
    tags: options.Tags = "joint",
    encoding: options.Encoding = "utf-8",
) -> None:
    """Learn a tagger from sentences.

    Only words and tags are read; heads may be missing.
    """
    options.check_output(output, "A tagger", *treebank)
    from espalier.parsing import PerceptronTagger, Tagger

    sentences, _ = _sentences(treebank, tags, encoding)
    tagger: PerceptronTagger | Tagger
    if model == "trigram":
        tagger = Tagger.from_sentences(sentences)
        known = f"{len(tagger.lexicon.words):,} words"
    else:
        with bar(f"{len(sentences):,} sentences") as progress:
            tagger = PerceptronTagger.from_sentences(sentences, progress=progress)
        known = f"{len(tagger.weights.key):,} features"
    tagger.save(output)
    typer.echo(f"{output}: {len(tagger.tags):,} tags and {known} of {len(sentences):,} sentences")


@app.command()
@reported
def apply(
    tagger: Annotated[Path, options.saved_model("TAGGER", "espalier tag fit")],
    sentences: options.SentencesOrConllu,
    output: Annotated[Path | None, options.output_or_standard("Where tags go")] = None,
    k: options.Several = None,
    form: Annotated[
        str | None,
        options.file_format("text, or conllu: replace its tags; .jsonl keeps these as gold. By default by name."),
    ] = None,
    tags: options.TagsOfModel = None,
    threads: options.Threads = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Tag sentences.

    Writes the words of a text with their best tags on a line, word/TAG; or candidates, to a name in .jsonl. An empty
    line stays empty; candidates are named by the numbers of their lines.

    CoNLL-U becomes CoNLL-U, in which nothing but the tags is changed; heads may be missing. A text becomes CoNLL-U,
    without lemmas and heads, if -o has a name in .conllu.
    """
    options.check_output(output, "What is tagged", tagger, sentences)
    k = k or (20 if options.is_json(output) else 1)
    if k > 1 and not options.is_json(output):
        raise ValueError("Several taggings of a sentence go to JSON Lines: give -o GROUPS.jsonl.")
    from espalier.cli.conllu_files import conllu_of_lines, conllu_text, load_tagger, tag_column, wider
    from espalier.cli.ranking import lines_of, named
    from espalier.cli.text_lines import NAMED, STAY, check_format, read_sentences
    from espalier.rerank import propose
    from espalier.structures.conllu import is_conllu
    from espalier.structures.conllu_text import columns_of_tags
    from espalier.structures.files import read_text
    from espalier.structures.groups import write_groups

    check_format(form, "conllu")
    if form is None and options.is_conllu_name(sentences):
        form = "conllu"
    becomes_conllu = options.is_conllu_name(output)
    if tags is not None and form != "conllu" and not becomes_conllu:
        raise ValueError("--tags names a column of CoNLL-U: it belongs to --format conllu.")
    model = wider(load_tagger(tagger), k)
    content = read_text(sentences, encoding=encoding)
    if form is None and becomes_conllu and is_conllu(content):
        form = "conllu"
    given: Sequence[Any]
    text = lines = None
    if form == "conllu":
        text = conllu_text(content, sentences)
        tags = tag_column(text, model.tags, tags)
        given = text.tagged(tags) if options.is_json(output) else text.forms()
    else:
        lines = read_sentences(sentences, form, encoding, other="conllu", text=content)
        given = lines.listed
        if becomes_conllu:
            text = conllu_of_lines(lines, sentences)
            tags = tag_column(text, model.tags, tags)
    with bar(f"{len(given):,} sentences") as progress:
        groups = propose(model, given, k, n_threads=threads, progress=progress)
    what = "tags"
    if output is not None and options.is_json(output):
        names = lines.names if lines is not None else text.names if text is not None else []
        write_groups(named(groups, names), output)
    elif text is not None and tags is not None:
        write_whole(text.replaced([columns_of_tags(group.candidates[0].tags, tags) for group in groups]), output)
        what = {"upos": "UPOS tags", "xpos": "XPOS tags", "joint": "UPOS and XPOS tags"}[tags]
    elif lines is not None:
        write_lines(lines.spread(lines_of(groups)), output)
    if lines is not None:
        lines.tell_empty(NAMED if becomes_conllu or options.is_json(output) else STAY)
    if output is not None:
        typer.echo(f"{output}: {what if k == 1 else f'up to {k:,} taggings'} of {len(groups):,} sentences")


@app.command()
@reported
def candidates(
    treebank: options.ConlluTreebank,
    output: options.GroupsOutput,
    k: Annotated[int, typer.Option("-k", min=1, help="How many taggings of each sentence at most.")] = 20,
    folds: options.Folds = 5,
    seed: options.FoldSeed = 0,
    model: Model = "perceptron",
    tags: options.Tags = "joint",
    threads: options.Threads = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Make candidates to learn from.

    Each sentence is tagged by a tagger that has not seen it.

    Learn from candidates of the same kind of tagger that you later apply: its scores are learned from, too.
    """
    options.check_output(output, "What is proposed", *treebank, json=True)
    from espalier.cli.conllu_files import wider
    from espalier.cli.ranking import candidates_found, named
    from espalier.parsing import PerceptronTagger, Tagger
    from espalier.rerank.candidates import check_fold_count, jackknifed
    from espalier.structures.groups import write_groups

    sentences, names = _sentences(treebank, tags, encoding)
    check_fold_count("--folds", folds, sentences)
    learn = Tagger.from_sentences if model == "trigram" else PerceptronTagger.from_sentences
    parts: dict[str, Any] = {"folds": folds, "n_threads": threads, "random_state": seed}
    with bar(f"{len(sentences):,} sentences in {folds} parts") as progress:
        groups = jackknifed(sentences, k, make=lambda known: wider(learn(known), k), progress=progress, **parts)
    write_groups(named(groups, names), output)
    typer.echo(f"{output}: {candidates_found(groups, 'gold tags')}")


def _sentences(
    files: list[Path], tags: options.TagColumn, encoding: str
) -> tuple[list[TaggedSequence], list[str | None]]:
    """The sentences of some files, and their names."""
    from espalier.cli.conllu_files import check_tags_of, read_conllu_text
    from espalier.errors import InputError

    found: list[TaggedSequence] = []
    names: list[str | None] = []
    for file in files:
        text = read_conllu_text(file, encoding)  # heads play no part, and may be missing
        try:
            own = text.tagged(tags)
        except InputError as error:
            raise InputError(
                f"{error} A tagger learns from words that all have tags: --tags names their column."
            ) from None
        check_tags_of(own, file)
        found += own
        names += text.names
    return found, names
