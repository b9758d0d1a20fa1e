"""``espalier rerank``: learn to choose among the candidates of any parser, choose, and measure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from espalier.cli import options
from espalier.cli.reporting import SortedHelp, command_group, console, reported, visible, write_lines
from espalier.jobs.bar import bar

FEATURES = "Only for --learner features"

app = command_group("rerank", "Learn to choose among candidates.")

Groups = Annotated[
    Path, options.input_file("GROUPS", "Candidates: JSON Lines, the layout of k-best parsers or CoNLL-U; .gz too")
]
Model = Annotated[Path, options.saved_model("RERANKER", "espalier rerank fit")]
GoldTrees = Annotated[
    Path | None,
    options.another_file("FILE", "The gold trees, in the order of the groups, if GROUPS does not contain them."),
]


@app.command(cls=SortedHelp)
@reported
def fit(
    groups: Groups,
    output: Annotated[Path, options.output_file("reranker.safetensors", "Where the reranker goes.")],
    gold: GoldTrees = None,
    learner: Annotated[
        Literal["perceptron", "svm", "gp", "features"],
        typer.Option(help="The learner; gp also learns the kernel, and features selects features of the kernel."),
    ] = "perceptron",
    kernel: Annotated[
        str | None,
        typer.Option(help="A kernel, as the library prints it; SubsetTree(decay=0.3) by default for trees."),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="For the perceptron and for features: the number of passes over all groups; for features at most.",
        ),
    ] = None,
    updates: Annotated[
        Literal["all", "best"] | None,
        typer.Option(
            help="For the perceptron: subtract every rival that wins in its turn, or only the best; best by default."
        ),
    ] = None,
    c: Annotated[
        float | None,
        typer.Option(
            "--C",
            help="SVM: the cost of a rival that comes too near. For features: more than so many candidates must have a "
            "feature; 3 by default.",
        ),
    ] = None,
    passes: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="For the SVM and for the selection of features: the largest number of passes over all groups; 100 by "
            "default.",
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Learn from at most this many candidates of each group; 20 by default, for gp 2. Features are learned "
            "from all.",
        ),
    ] = None,
    max_candidates: Annotated[
        int | None,
        typer.Option(min=2, help="For gp: learn from at most this many candidates in all; 2,000 by default."),
    ] = None,
    target: Annotated[
        Literal["gold", "best"], typer.Option(help="What is to win: the gold tree, or the candidate most like it.")
    ] = "gold",
    score_weight: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="What the parser's score weighs; by default chosen on development groups, or learned by gp.",
        ),
    ] = None,
    development: Annotated[
        Path | None, options.another_file("GROUPS", "Groups to choose that weight on; a fifth of GROUPS by default.")
    ] = None,
    development_gold: Annotated[Path | None, options.another_file("FILE", "Their gold trees.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Which candidates are drawn, and the order of groups.")] = 0,
    max_order: Annotated[
        int | None,
        typer.Option(
            min=1, help="How many arcs, tags or productions a feature may have; 2 by default.", rich_help_panel=FEATURES
        ),
    ] = None,
    loss: Annotated[
        Literal["risk", "softmax", "perceptron"] | None,
        typer.Option(help="What learning reduces; risk, the expected errors, by default.", rich_help_panel=FEATURES),
    ] = None,
    decay: Annotated[
        float | None,
        typer.Option(
            help="How much a feature counts beside one that is smaller by one; 1 by default.", rich_help_panel=FEATURES
        ),
    ] = None,
    learning_score_weight: Annotated[
        float | None,
        typer.Option(help="What the parser's score weighs while learning; 1 by default.", rich_help_panel=FEATURES),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(help="Memory for features, such as '4 GiB'; the rest is on disk.", rich_help_panel=FEATURES),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads; all cores by default.", rich_help_panel=FEATURES)
    ] = None,
    tags: options.TagsOfGroups = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Learn from groups with gold trees.

    Gold trees given by --gold are first brought into the form of the candidates: without traces and function tags, and
    with their outer label.
    """
    options.check_output(output, "A reranker", groups, gold, development, development_gold)
    from espalier.cli.learners import check_options, chooser_of, score_weight_of, told_of
    from espalier.cli.ranking import groups_of
    from espalier.rerank import Reranker

    own: dict[str, Any] = {"epochs": epochs, "updates": updates, "C": c, "passes": passes, "sample": sample}
    own |= {"max_candidates": max_candidates, "target": target, "random_state": seed, "max_order": max_order}
    own |= {"loss": loss, "decay": decay, "learning_score_weight": learning_score_weight, "memory": memory}
    own |= {"n_threads": threads, "score_weight": score_weight_of(score_weight)}
    # A mistyped option is reported before a long file is read.
    check_options(learner, kernel, own)
    data, _ = groups_of(groups, gold, tags, encoding, needs="--gold")
    held = None
    chooses = (score_weight or ("learned" if learner == "gp" else "chosen")) == "chosen"
    if development is not None and not chooses and learner != "features":  # which choose the epoch, too
        raise ValueError("--development is there to choose the weight of the score: give --score-weight chosen.")
    if development is not None:
        held, _ = groups_of(development, development_gold, tags, encoding, needs="--development-gold")
    elif development_gold is not None:
        raise ValueError("--development-gold needs --development.")
    with bar(f"{len(data):,} groups") as progress:
        chooser = chooser_of(learner, kernel, data[0].candidates[0], progress, own)
        reranker = Reranker(chooser).fit(data, development=held)
    reranker.save(output)
    typer.echo(f"{output}: {told_of(reranker.chooser_)}")


@app.command()
@reported
def apply(
    reranker: Model,
    groups: Groups,
    output: Annotated[Path | None, options.output_or_standard("Where the choices go")] = None,
    whole: Annotated[
        bool, typer.Option("--all", help="Write all candidates, the best first, with the values that decide.")
    ] = False,
    tags: options.TagsOfGroups = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Choose the best candidate of each group.

    Writes a tree a line, tagged words a line, or CoNLL-U as it was read.

    A file in .jsonl has the chosen candidates as groups of one, with the values that decided. Names of sentences are
    kept wherever they have a place.
    """
    options.check_output(output, "What is chosen", reranker, groups)
    if whole and output is None:
        raise ValueError("--all needs a file to write to: give -o GROUPS.jsonl.")
    from espalier.cli.ranking import conllu_like, groups_of, lines_of, loaded, ordered
    from espalier.structures.groups import write_groups

    data, texts = groups_of(groups, None, tags, encoding)
    values = loaded(reranker, data, groups).decision_function(data)
    best = ordered(data, values, None if whole else 1)
    if output is not None and (options.is_json(output) or (whole and texts is None)):
        write_groups(best, output)
    else:
        write_lines(lines_of(best) if texts is None else conllu_like(texts, values, whole=whole), output)
    if output is not None:
        typer.echo(f"{output}: {len(data):,} groups")


@app.command()
@reported
def score(
    reranker: Model,
    groups: Groups,
    gold: GoldTrees = None,
    tags: options.TagsOfGroups = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Compare the choices with gold trees.

    Shows the parser's own choice and the best of each list beside it.

    Constituents are counted as espalier evaluate does; of other candidates, tags, or heads without their relations.
    Sentences in which all are right are exact, or all heads or tags right.

    The score is the mean of precision and recall of each sentence, weighed by the size of its tree (Collins and Duffy,
    2001); less error is how much of what it misses to 100 is gone.
    """
    from espalier.cli.measures import choices_table
    from espalier.cli.ranking import groups_of, loaded

    data, _ = groups_of(groups, gold, tags, encoding, needs="--gold")
    model = loaded(reranker, data, groups)
    console().print(choices_table(data, model.chosen(data).tolist()))


@app.command()
@reported
def explain(
    reranker: Model,
    groups: Groups,
    row: Annotated[int, typer.Option(min=1, help="Which group, counted from 1.")],
    output: Annotated[
        Path | None, options.output_file("PAGE.html", "Also write a page, or the drawing alone to a .svg.")
    ] = None,
    n: Annotated[int, typer.Option("-n", min=1, help="How many fragments, arcs or words to show.")] = 10,
    winner: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="A candidate, counted from 1, or gold; the chosen one by default."),
    ] = None,
    loser: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="Likewise; the parser's own choice by default, or the next best."),
    ] = None,
    gold: GoldTrees = None,
    tags: options.TagsOfGroups = None,
    encoding: options.Encoding = "utf-8",
) -> None:
    """Say why one candidate beats another.

    Lists the fragments or arcs that made it win, and draws both side by side.
    """
    options.check_output(output, "The page", reranker, groups, gold)
    if output is not None and output.suffix.lower() not in ("", ".html", ".htm", ".svg"):
        raise ValueError(f"A page has a name in .html, and a drawing one in .svg; got {output}.")
    from espalier.cli.ranking import candidate_number, groups_of, loaded
    from espalier.explanations import Comparison
    from espalier.explanations import explain as compare
    from espalier.explanations.together import told_reason
    from espalier.structures.files import write_text

    data, _ = groups_of(groups, gold, tags, encoding)
    if row > len(data):
        raise ValueError(f"--row must be a group of {groups}, 1 to {len(data):,}, got {row:,}.")
    group = data[row - 1]
    best = candidate_number("--winner", winner, len(group))
    other = candidate_number("--loser", loser, len(group))
    found = compare(loaded(reranker, data, groups), group, n=n, winner=best, loser=other)
    assert isinstance(found, Comparison)
    typer.echo(visible(" ".join(group.words)))
    typer.echo(f"{found.names[0]}; against {found.names[1]}: {found.summary}")
    for reason in found.shown:
        typer.echo(f"{reason.contribution:+.4g}\t{visible(told_reason(reason))}")
    for word, share in sorted(found.by_word(), key=lambda own: -abs(own[1]))[:n]:
        typer.echo(f"{share:+.4g}\t{visible(word)}")
    if output is not None:
        write_text(output, found.to_svg() if output.suffix.lower() == ".svg" else found.to_html())
        typer.echo(f"Drawn in {output}")
