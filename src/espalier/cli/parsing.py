"""``espalier grammar``, ``parse``, ``candidates`` and ``evaluate``: from a treebank to lists of parses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from espalier.cli import options
from espalier.cli.reporting import SortedHelp, console, reported, say, write_json, write_lines
from espalier.jobs.bar import bar

if TYPE_CHECKING:
    from espalier.cli.proposals import Proposals

app = typer.Typer()

_NEEDS_MORE = "need more memory than {}, so that their parses are not exactly the best"


@app.command(cls=SortedHelp)
@reported
def grammar(
    treebank: options.AnyTreebank,
    output: Annotated[Path, options.output_file("grammar.safetensors", "Where the grammar or the parser goes.")],
    markov: options.Markov = None,
    split_tags: options.SplitTags = False,
    least: options.Least = None,
    unknown: options.Unknown = None,
    smoothing: options.Smoothing = None,
    skip: options.Skip = False,
    order: options.Order = None,
    epochs: options.Epochs = None,
    tags: options.TagsToLearn = None,
    folds: options.TagFolds = None,
    seed: options.OrderSeed = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Learn a parser from a treebank.

    Of bracketed trees, counts how often each rule is used, and the tags of each word. Traces, function tags and outer
    labels are left out.

    Of CoNLL-U, learns a dependency parser.
    """
    options.check_output(output, "A grammar", *treebank)
    rules = _rules(markov, split_tags=split_tags, least=least, unknown=unknown, smoothing=smoothing)
    own: dict[str, object] = {"--markov": markov, "--split-tags": split_tags, "--skip": skip}
    own |= {"--least": least, "--unknown": unknown, "--smoothing": smoothing}
    from espalier.cli.dependencies import are_conllu, learn, refuse
    from espalier.cli.proposals import texts_of, trees_to_learn
    from espalier.parsing import PCFG

    texts = texts_of(treebank, encoding)
    arcs: dict[str, Any] = {"order": order, "epochs": epochs, "random_state": seed}
    if are_conllu(texts):
        refuse("treebanks of bracketed trees", own, f"{treebank[0]} is CoNLL-U")
        given = {name: value for name, value in arcs.items() if value is not None}
        learn(texts, output, tags=tags or "joint", folds=folds, options=given)
        return
    own = {"--order": order, "--epochs": epochs, "--seed": seed, "--tags": tags, "--folds": folds}
    refuse("treebanks of CoNLL-U", own, f"{treebank[0]} is not CoNLL-U")
    trees = trees_to_learn(texts, skip=skip)
    parser = PCFG.from_treebank(trees, **rules)
    parser.save(output)
    learned = parser.grammar
    typer.echo(
        f"{output}: {len(learned.symbols):,} symbols, {len(learned.binary) + len(learned.unary):,} rules and "
        f"{len(parser.lexicon.word_counts):,} words of {len(trees):,} trees"
    )


@app.command(cls=SortedHelp)
@reported
def parse(
    grammar: Annotated[Path, options.saved_model("GRAMMAR", "espalier grammar")],
    sentences: options.SentencesOrConllu,
    output: Annotated[Path | None, options.output_or_standard("Where the parses go")] = None,
    k: options.Several = None,
    beam: options.Beam = None,
    coarse: options.Coarse = None,
    memory: options.Memory = "1 GiB",
    tagged: Annotated[
        bool, typer.Option("--tagged", help="Words are written word/TAG; of trees, their tags are kept.")
    ] = False,
    form: Annotated[
        str | None,
        options.file_format("text (the default), or brackets to parse the words of trees; conllu for arcs."),
    ] = None,
    tagger: options.TaggerToParse = None,
    taggings: options.Taggings = None,
    tag_weight: options.TagWeight = None,
    tags: options.TagsToParse = None,
    skip: options.SkipParsed = False,
    threads: options.Threads = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Parse sentences.

    Writes the best tree of each on a line, or with -k a list of candidates.

    Lists are written as JSON Lines to a name in .jsonl, where trees that were given are kept as gold trees; to other
    names as a number, and then a score and a tree on each line. A sentence that the grammar does not cover gets the
    fewest constituents that cover its words, side by side.

    An empty line of a text stays empty, so that trees stand on the lines of their sentences. Lists and CoNLL-U leave it
    out, and name each sentence by the number of its line where they have names.

    A dependency parser reads CoNLL-U, in which it replaces heads, relations and, with --tagger, tags; nothing else is
    changed but DEPS, which becomes _. Of a text, it needs --tagger or --tagged. Its lists go to names in .jsonl, with
    heads of the file as gold trees, or in .conllu without these.
    """
    options.check_output(output, "What is parsed", grammar, sentences, tagger)
    from espalier.cli.dependencies import N_TAGGINGS, Parsing, refuse
    from espalier.cli.proposals import Proposals, read_parsed_sentences
    from espalier.cli.text_lines import NAMED, STAY
    from espalier.errors import InputError
    from espalier.parsing import PCFG, DependencyParser
    from espalier.storage import load
    from espalier.structures.groups import write_groups

    parser = load(grammar)
    if isinstance(parser, DependencyParser):
        own: dict[str, object] = {"--beam": beam, "--coarse": coarse, "--skip": skip}
        refuse("grammars of bracketed trees", own, f"{grammar} is a dependency parser")
        if tagger is None:
            refuse("--tagger", {"--taggings": taggings, "--tag-weight": tag_weight}, "no tagger is given")
        Parsing(
            parser,
            sentences,
            output,
            k,
            form,
            tagged,
            tagger,
            taggings or N_TAGGINGS,
            tag_weight,
            tags,
            memory,
            threads=threads,
            encoding=encoding,
        ).run()
        return
    if not isinstance(parser, PCFG):
        what = f"{grammar} holds a {type(parser).__name__}"
        raise InputError(f"{what}, and a grammar or a dependency parser is needed: espalier grammar writes both.")
    own = {"--tagger": tagger, "--taggings": taggings, "--tag-weight": tag_weight, "--tags": tags}
    refuse("dependency parsers", own, f"{grammar} is a grammar of bracketed trees")
    if form == "conllu" or options.is_conllu_name(output):
        what = "-o with a name in .conllu" if form != "conllu" else "--format conllu"
        refuse("dependency parsers", {what: True}, f"{grammar} is a grammar of bracketed trees")
    k = k or (100 if options.is_json(output) else 1)
    given = read_parsed_sentences(sentences, form, encoding, tagged=tagged, skip=skip)
    with bar(f"{len(given):,} sentences") as progress:
        search = {"beam": beam, "coarse": coarse, "chart_memory": memory, "n_threads": threads}
        found = Proposals(parser, given, k, search, progress)
        if output is not None and options.is_json(output):
            write_groups(found, output)
            lines = None
        else:
            lines = _lines(found)
    if lines is not None:
        write_lines(lines, output)
    if given.lines is not None:
        given.lines.tell_empty(NAMED if lines is None else STAY if k == 1 else "are left out")
    needs_more = _NEEDS_MORE.format(memory)
    for rows, what in ((found.uncovered, "are not covered by the grammar"), (found.narrowed, needs_more)):
        if rows:
            say(f"{len(rows):,} of {len(given):,} sentences {what}; the first is on {given.place(rows[0])}.")
    if output is not None:
        typer.echo(f"{output}: {'parses' if k == 1 else f'up to {k:,} parses'} of {len(given):,} sentences")


def _rules(
    markov: str | None, *, split_tags: bool, least: int | None, unknown: int | None, smoothing: float | None
) -> dict[str, Any]:
    """How a grammar is made of a treebank; options that are None have their defaults."""
    words = {"unknown": 2 if unknown is None else unknown, "smoothing": 1.0 if smoothing is None else smoothing}
    return {"markov": options.markov_of(markov), "split_tags": split_tags, "least": least or 0, **words}


def _lines(found: Proposals) -> list[str]:
    """Yield a tree per line; or for several, their number, and then a score and a tree per line."""
    from espalier.structures.group import Group
    from espalier.structures.groups import layout_lines

    if found.k == 1:
        trees = (group.candidates[0].to_brackets() for group in found)
        return list(trees if found.sentences.lines is None else found.sentences.lines.spread(trees))
    return [line for group in found for line in layout_lines(Group(group.candidates, group.scores))]


@app.command(cls=SortedHelp)
@reported
def candidates(
    treebank: options.AnyTreebank,
    output: options.GroupsOutput,
    k: options.Candidates = None,
    folds: options.Folds = 5,
    markov: options.Markov = None,
    split_tags: options.SplitTags = False,
    least: options.Least = None,
    unknown: options.Unknown = None,
    smoothing: options.Smoothing = None,
    beam: options.Beam = None,
    coarse: options.Coarse = None,
    memory: options.Memory = "1 GiB",
    skip: options.Skip = False,
    order: options.Order = None,
    epochs: options.Epochs = None,
    tags: options.TagsToLearn = None,
    tag_folds: options.TagFolds = None,
    taggings: options.Taggings = None,
    tag_weight: options.TagWeight = None,
    add_gold: options.AddGold = False,
    folder: options.PartsFolder = None,
    seed: options.FoldSeed = 0,
    threads: options.Threads = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Make candidates to learn from.

    Each sentence is parsed by a parser that has not seen it.

    The trees are divided into parts, and each part is parsed by a parser of the others. With --folder, a command that
    was interrupted can be given again: it only computes what is missing.

    Of CoNLL-U, a document stays in one part.
    """
    options.check_output(output, "What is proposed", *treebank, json=True)
    rules = _rules(markov, split_tags=split_tags, least=least, unknown=unknown, smoothing=smoothing)
    own: dict[str, object] = {"--markov": markov, "--split-tags": split_tags, "--skip": skip, "--beam": beam}
    own |= {"--least": least, "--unknown": unknown, "--smoothing": smoothing, "--coarse": coarse}
    from espalier.cli.dependencies import N_TAGGINGS, are_conllu, propose_unseen, refuse
    from espalier.cli.proposals import Searching, texts_of, trees_to_learn
    from espalier.cli.ranking import candidates_found
    from espalier.parsing import PCFG
    from espalier.rerank.candidates import check_fold_count, jackknifed
    from espalier.structures.groups import write_groups

    texts = texts_of(treebank, encoding)
    parts: dict[str, Any] = {"folds": folds, "random_state": seed, "n_threads": threads, "folder": folder}
    if are_conllu(texts):
        refuse("treebanks of bracketed trees", own, f"{treebank[0]} is CoNLL-U")
        parts |= {name: own for name, own in (("order", order), ("epochs", epochs)) if own is not None}
        if tag_folds is None:
            refuse("--tag-folds", {"--taggings": taggings, "--tag-weight": tag_weight}, "it is not given")
        parts |= {"tag_weight": tag_weight, "add_gold": add_gold}
        tagging: dict[str, Any] = {"tag_folds": tag_folds, "taggings": taggings or N_TAGGINGS}
        propose_unseen(texts, output, k, tags=tags or "joint", memory=memory, options=parts, **tagging)
        return
    own = {"--order": order, "--epochs": epochs, "--tags": tags, "--tag-folds": tag_folds}
    own |= {"--taggings": taggings, "--tag-weight": tag_weight, "--add-gold": add_gold}
    refuse("treebanks of CoNLL-U", own, f"{treebank[0]} is not CoNLL-U")
    trees = trees_to_learn(texts, skip=skip)
    check_fold_count("--folds", folds, trees)
    make = Searching(PCFG, {"coarse": coarse, "chart_memory": memory})
    rules |= {"beam": beam}
    with bar(f"{len(trees):,} trees in {folds} parts") as progress:
        groups = jackknifed(trees, k or 100, make=make, progress=progress, **parts, **rules)
    write_groups(groups, output)
    if any(make.narrowed):
        say(f"{sum(make.narrowed):,} of {len(make.narrowed):,} sentences {_NEEDS_MORE.format(memory)}.")
    typer.echo(f"{output}: {candidates_found(groups, 'gold tree')}")


@app.command(cls=SortedHelp)
@reported
def evaluate(
    gold: Annotated[Path, options.input_file("GOLD", "A file of bracketed trees or of CoNLL-U")],
    parsed: Annotated[Path, options.input_file("PARSED", "As many parses, in the same order")],
    all_punctuation: Annotated[
        bool,
        typer.Option("--all-punctuation", help="Count punctuation like other words.", rich_help_panel=options.TREES),
    ] = False,
    all_labels: Annotated[
        bool,
        typer.Option(
            "--all-labels",
            help="Count outer labels such as ROOT, and distinguish PRT from ADVP.",
            rich_help_panel=options.TREES,
        ),
    ] = False,
    skip: Annotated[
        bool, typer.Option("--skip", help="Leave out sentences whose parse has other words, and say how many.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write all measures as JSON, by the names that they have in Python.")
    ] = False,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Compare parses with gold trees.

    Compares labelled constituents, as evalb counts them with the rules of Collins.

    Traces and function tags are left out of both.

    Of CoNLL-U, compares the heads (UAS) and the heads with their relations (LAS), as the scorers of CoNLL count them;
    universal relations are those before a colon. All heads right, and all arcs right, which have their relations, are
    shares of sentences. Tags are not compared.

    Beside gold CoNLL-U, PARSED may have lists of candidates, in JSON Lines or CoNLL-U: the first and the best of each
    are measured.
    """
    from espalier.cli.arc_measures import arc_measures, of_arcs
    from espalier.cli.dependencies import are_conllu, refuse
    from espalier.cli.measures import compared, measures_record, measures_table
    from espalier.cli.proposals import TreeFile, texts_of

    texts = texts_of([gold, parsed], encoding)
    if of_arcs(texts) or are_conllu(texts):
        options: dict[str, object] = {"--all-punctuation": all_punctuation, "--all-labels": all_labels}
        refuse("bracketed trees", options, f"{gold} is CoNLL-U")
        measured = arc_measures(texts, skip=skip)
        if as_json:
            records = {own.name: own.record() for own in measured}
            write_json(records.get("", records))
        else:
            for own in measured:
                console().print(own.table())
        return
    files = [TreeFile.of(file, text) for file, text in texts]
    found = compared(*files, all_punctuation=all_punctuation, all_labels=all_labels, skip=skip)
    if as_json:
        write_json(measures_record(found))
    else:
        console().print(measures_table(found))
