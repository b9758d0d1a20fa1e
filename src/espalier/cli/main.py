"""The command ``espalier``.

Commands read, compute through the library and print; a mistake of the user is one message on standard
error and exit code 2, an interruption exit code 130. Imports are inside the commands, so that help and
mistyped arguments are answered at once and an interruption while libraries load is handled too.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from espalier.cli import options
from espalier.cli.parsing import app as parsing
from espalier.cli.reporting import INTERRUPTED, console, reported, say, visible
from espalier.cli.reproduce import reproduce
from espalier.cli.rerank import app as rerank
from espalier.cli.tagging import app as tagging

if TYPE_CHECKING:
    from espalier.corpus.forest import Forest

app = typer.Typer(
    name="espalier",
    help="Learn from trees with structural kernels.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(parsing)
app.add_typer(tagging)
app.add_typer(rerank)
app.command()(reproduce)

BracketFile = Annotated[Path, options.input_file("FILE", "A file of bracketed trees, plain or .gz")]
KernelOption = Annotated[str, typer.Option("--kernel", help="A kernel, as the library prints it.")]

DEFAULT_KERNEL = "Normalized(SubsetTree(decay=0.4))"


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("espalier")
        except PackageNotFoundError:
            number = "of a source tree that is not installed"
        typer.echo(f"espalier {number}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Learn from trees with structural kernels."""


@app.command()
@reported
def demo(
    n: Annotated[
        int, typer.Option(help="How many questions to draw; a quarter, rounded down to a multiple of 20, is held out.")
    ] = 1600,
    seed: Annotated[int, typer.Option(help="The seed of the questions: the same seed gives the same questions.")] = 0,
    svg: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also write the drawings and a page here."),
    ] = None,
    threads: options.Threads = None,
) -> None:
    """Show that words mislead and trees do not."""
    if svg is not None and svg.exists() and not svg.is_dir():
        raise NotADirectoryError(20, "--svg names a folder, and this is a file", svg)
    from espalier.cli.demo_story import tell
    from espalier.demo.answers import answer_questions

    answers = answer_questions(n, seed, n_threads=threads)
    tell(answers, console())
    if svg is not None:
        from espalier.cli.demo_page import write_page

        typer.echo(f"\nThe drawings are in {write_page(answers, svg)}")


@app.command()
@reported
def describe(
    file: Annotated[
        Path,
        options.input_file(
            "FILE", "Bracketed trees, CoNLL-U or candidates, plain or .gz; or a saved model, corpus or kernel"
        ),
    ],
    encoding: options.Encoding = "utf-8",
) -> None:
    """Say what a tree file or a saved file holds.

    A tree file has brackets, CoNLL-U or lists of candidates. For bracketed trees, also shows
    the memory that kernels would need. For a saved file, shows its kind, its versions, what it was trained on, its
    settings, what it learned and its arrays.
    """
    from espalier.cli.saved import is_saved, saved_lines

    if is_saved(file):
        typer.echo("\n".join(saved_lines(file)))
        return
    from espalier.cli.demo_story import describe_table
    from espalier.cli.described import counts_of

    console().print(describe_table(counts_of(file, encoding)))


@app.command()
@reported
def nearest(
    file: BracketFile,
    query: Annotated[str, typer.Option(help="A bracketed tree.")],
    k: Annotated[int, typer.Option("-k", min=1, help="How many trees to show.")] = 5,
    kernel: KernelOption = DEFAULT_KERNEL,
    encoding: options.Encoding = "utf-8",
    threads: options.Threads = None,
) -> None:
    """Show the trees most similar to a query."""
    from espalier.gram import nearest as find_nearest
    from espalier.kernels.expressions import parse_kernel
    from espalier.structures.tree import Tree

    chosen, tree = parse_kernel(kernel), Tree.from_brackets(query)
    forest = _forest(file, encoding)
    if k > len(forest):
        say(f"Warning: -k asks for {k:,} trees, and {file} holds {len(forest):,}: all are shown.")
        k = len(forest)
    indices, values = find_nearest(chosen, forest, [tree], k, n_threads=threads)
    for row, value in zip(indices[0].tolist(), values[0].tolist(), strict=True):
        typer.echo(f"{value:.6g}\t{row + 1}\t{visible(forest[row].to_brackets())}")


@app.command()
@reported
def gram(
    file: Annotated[Path, options.input_file("FILE", "The items to compare: trees, lines of text or CoNLL-U; .gz too")],
    output: Annotated[
        Path,
        options.output_file(
            "OUT",
            "Where the matrix goes: a name in .npy or .npz (numpy), .csv or .tsv; - for CSV on standard output.",
        ),
    ],
    kernel: KernelOption = DEFAULT_KERNEL,
    encoding: options.Encoding = "utf-8",
    threads: options.Threads = None,
    memory: Annotated[str | None, typer.Option(help="For intermediate results, such as '2 GiB'.")] = None,
    form: Annotated[str | None, options.file_format("text, brackets or conllu; by default by kernel.")] = None,
) -> None:
    """Write the kernel matrix of a file.

    It contains the values of all pairs of items.

    Tree kernels read trees in brackets; kernels over sequences a text in each line; Tagging, DependencySubtree,
    WeisfeilerLehman and kernels over tags CoNLL-U.
    """
    from espalier.cli.items import read_items
    from espalier.cli.matrix import check_matrix_format, write_gram
    from espalier.kernels.expressions import parse_kernel

    chosen = parse_kernel(kernel)
    if output != options.STANDARD_OUTPUT:
        options.check_output(output, "The matrix", file, any_ending=True)
    check_matrix_format(output)
    items, item = read_items(chosen, file, encoding, form)
    write_gram(chosen, items, output, item=item, n_threads=threads, memory=memory)
    if output != options.STANDARD_OUTPUT:
        typer.echo(f"{output}: {len(items):,} x {len(items):,} values of {chosen!r}")


def _forest(file: Path, encoding: str) -> Forest:
    from espalier.corpus.forest import Forest
    from espalier.errors import InputError

    forest = Forest.from_file(file, encoding=encoding)
    if not len(forest):
        raise InputError(f"{file} contains no tree.")
    return forest


def run(arguments: list[str] | None = None) -> None:
    """Run the command line; the entry point of the installed command."""
    try:
        app(args=arguments, prog_name="espalier")
    except KeyboardInterrupt:
        say("Interrupted.")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    run()
