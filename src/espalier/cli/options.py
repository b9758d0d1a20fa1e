"""Options that several commands share, and checks of them that need no library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

STANDARD_INPUT, STANDARD_OUTPUT = Path("/dev/stdin"), Path("-")
TagColumn = Literal["upos", "xpos", "joint"]
_READ_ONCE = "espalier.standard_input"

# The parts of a help text that say which options only one kind of treebank or parser has.
TREES = "Only for constituents, in brackets"
ARCS = "Only for dependency trees, in CoNLL-U"


def from_standard_input(context: typer.Context, value: object) -> object:
    """Let ``-`` mean standard input, which only one argument can read."""
    if isinstance(value, tuple | list):
        return [from_standard_input(context, own) for own in value]
    if value != STANDARD_OUTPUT:
        return value
    if context.meta.setdefault(_READ_ONCE, False):
        raise typer.BadParameter("- is standard input, which can be read only once: give a file for the other.")
    context.meta[_READ_ONCE] = True
    return STANDARD_INPUT


def model_file(value: Path | None) -> Path | None:
    """Refuse ``-`` for a model, whose file is read in parts."""
    if value == STANDARD_OUTPUT:
        raise typer.BadParameter("a model must be a file; - is standard input, for trees, text and tables.")
    return value


def to_standard_output(value: Path | None) -> Path | None:
    """Let ``-`` mean standard output if that is the default."""
    return None if value == STANDARD_OUTPUT else value


def input_file(metavar: str, words: str) -> object:
    """An argument that is a file to read, or several; its help says that ``-`` is standard input."""
    return typer.Argument(metavar=metavar, callback=from_standard_input, help=f"{words}; - for standard input.")


def another_file(metavar: str, words: str) -> object:
    """The option of one more file to read."""
    return typer.Option(metavar=metavar, callback=from_standard_input, help=words)


def file_format(words: str) -> object:
    """The option of the format of the file that is read."""
    return typer.Option("--format", metavar="FORMAT", help=words)


def saved_model(metavar: str, command: str) -> object:
    """An argument that is the file of a model, and which command wrote it."""
    return typer.Argument(metavar=metavar, callback=model_file, help=f"What {command} wrote.")


def output_file(metavar: str, words: str) -> object:
    """The option of the file that is written."""
    return typer.Option("-o", "--output", metavar=metavar, help=words)


def output_or_standard(words: str) -> object:
    """The option of a file that is written, where standard output is the default."""
    words = f"{words}; standard output by default."
    return typer.Option("-o", "--output", metavar="OUT", callback=to_standard_output, help=words)


Threads = Annotated[int | None, typer.Option("--threads", min=1, help="Threads; all cores by default.")]
Encoding = Annotated[str, typer.Option(help="How the files are encoded.")]
Markov = Annotated[
    str | None,
    typer.Option(
        metavar="ANCESTORS,SIBLINGS",
        help="How many ancestors a constituent remembers, itself included, and how many siblings a long rule does, "
        "such as 2,1; plain rules by default.",
        rich_help_panel=TREES,
    ),
]
Unknown = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Words seen at most this many times also train their class; 2 by default.",
        rich_help_panel=TREES,
    ),
]
SplitTags = Annotated[
    bool,
    typer.Option(
        "--split-tags",
        help="Let tags remember their parents; with --markov 2,2 and --least 10.",
        rich_help_panel=TREES,
    ),
]
Least = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Remember only what was seen together at least this many times; 0 by default.",
        rich_help_panel=TREES,
    ),
]
Candidates = Annotated[
    int | None,
    typer.Option(
        "-k", min=1, help="How many parses of each sentence at most; 100 trees or 10 dependency trees by default."
    ),
]


def positive(value: float | None) -> float | None:
    """Refuse numbers that are not larger than 0."""
    if value is not None and not value > 0.0:
        raise typer.BadParameter(f"{value:g} is not larger than 0.")
    return value


Beam = Annotated[
    float | None,
    typer.Option(
        callback=positive,
        help="Leave out constituents whose log probability is below the best over the same words by more than this; "
        "12 is fast. Exact by default.",
        rich_help_panel=TREES,
    ),
]
Coarse = Annotated[
    float | None,
    typer.Option(
        callback=positive,
        help="First parse with plain labels, and keep what is within this distance of the best.",
        rich_help_panel=TREES,
    ),
]
Memory = Annotated[str, typer.Option(help="Memory for one sentence; if it needs more, less is tried.")]
Smoothing = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="How many observations a word's class is worth beside its own; 1 by default.",
        rich_help_panel=TREES,
    ),
]
Tags = Annotated[
    TagColumn,
    typer.Option(help="Which column of CoNLL-U gives the tags; joint is both, UPOS|XPOS, or UPOS alone without XPOS."),
]
TagsOfModel = Annotated[
    TagColumn | None,
    typer.Option(help="Which column of CoNLL-U has the tags; by default the one whose tags the model knows."),
]
TagsOfGroups = Annotated[
    TagColumn | None,
    typer.Option(help="Which column of CoNLL-U has the tags; joint by default, of gold files that of the candidates."),
]
SentencesOrConllu = Annotated[
    Path, input_file("SENTENCES", "One sentence on each line, its words separated by blanks, or CoNLL-U; .gz too")
]
AnyTreebank = Annotated[list[Path], input_file("TREEBANK...", "Files of bracketed trees or of CoNLL-U, plain or .gz")]
Order = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=3,
        help="The parts of a dependency tree that are scored: 1, 2 (the default) or 3 arcs.",
        rich_help_panel=ARCS,
    ),
]
Epochs = Annotated[
    int | None,
    typer.Option(min=1, help="How often to go through the dependency trees; 6 by default.", rich_help_panel=ARCS),
]
TagsToLearn = Annotated[
    TagColumn | None,
    typer.Option(
        help="Which column of CoNLL-U gives the tags; joint by default: both, or UPOS alone without XPOS.",
        rich_help_panel=ARCS,
    ),
]
TagsToParse = Annotated[
    TagColumn | None,
    typer.Option(
        help="Which column of CoNLL-U has the tags; by default the one whose tags the model knows.",
        rich_help_panel=ARCS,
    ),
]
TaggerToParse = Annotated[
    Path | None,
    typer.Option(
        "--tagger",
        metavar="TAGGER",
        callback=model_file,
        help="Tag the words first, with what espalier tag fit wrote.",
        rich_help_panel=ARCS,
    ),
]
Taggings = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Parse the N best taggings of each sentence, if a tagger tags it first; 4 by default.",
        rich_help_panel=ARCS,
    ),
]
TagWeight = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        metavar="NUMBER",
        help="What the scores of taggings weigh beside those of trees: 0.5 by default, for a trigram tagger 4.",
        rich_help_panel=ARCS,
    ),
]
AddGold = Annotated[
    bool,
    typer.Option(
        "--add-gold",
        help="Add the gold dependency tree to lists that lack it, with its own score.",
        rich_help_panel=ARCS,
    ),
]
TagFolds = Annotated[
    int | None,
    typer.Option(
        min=2,
        help="Learn from tags of taggers that have not seen the sentence, in so many parts.",
        rich_help_panel=ARCS,
    ),
]
OrderSeed = Annotated[
    int | None,
    typer.Option(min=0, help="The order in which dependency trees are learned from.", rich_help_panel=ARCS),
]
ConlluTreebank = Annotated[list[Path], input_file("TREEBANK...", "Files of CoNLL-U, plain or .gz")]
GroupsOutput = Annotated[Path, output_file("GROUPS.jsonl", "Where the candidates go.")]
Several = Annotated[
    int | None,
    typer.Option(
        "-k",
        min=1,
        help="How many for each sentence at most; in .jsonl 100 trees, 10 dependency trees or 20 taggings, else 1.",
    ),
]
Folds = Annotated[int, typer.Option(min=2, help="The number of parts into which sentences are divided.")]
PartsFolder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Keep finished parts in this folder, and use those that are there."),
]
FoldSeed = Annotated[int, typer.Option(min=0, help="Which sentences are in which part.")]
Skip = Annotated[
    bool,
    typer.Option(
        "--skip",
        help="Leave out trees without words, or with a word that has no tag, and say how many.",
        rich_help_panel=TREES,
    ),
]
SkipParsed = Annotated[
    bool,
    typer.Option(
        "--skip",
        help="Leave out trees without words, with --tagged also without tags; say how many.",
        rich_help_panel=TREES,
    ),
]


_OTHER_FORMATS = (".csv", ".tsv", ".parquet", ".npy", ".npz", ".json")


def check_output(
    output: Path | None, what: str, *inputs: Path | None, json: bool = False, any_ending: bool = False
) -> None:
    """Refuse an output that cannot be written or that is also an input, before anything is computed.

    Output without tables or arrays cannot have the name of such a format, unless ``any_ending``. None is standard
    output.
    """
    if output is None:
        return
    if output == STANDARD_OUTPUT:
        raise ValueError(f"{what} goes to a file, not to standard output: give -o a name.")
    for own in inputs:
        if own is not None and own.exists() and output.exists() and own.samefile(output):
            raise ValueError(f"{output} is read: what is written there would replace it. Give -o another name.")
    ending = Path(output.name.removesuffix(".gz")).suffix.lower()
    if not any_ending and ending in _OTHER_FORMATS:
        raise ValueError(
            f"{what} cannot be written as {ending}, got {output}. Names that end in .jsonl get JSON Lines, where there "
            "are such; give -o a name without the ending of another format."
        )
    if json and not is_json(output):
        raise ValueError(
            f"What is learned from has gold trees or tags, and only .jsonl files hold these; got {output}."
        )
    if output.is_dir():
        raise IsADirectoryError(21, f"{what} goes to a file, and this is a folder", output)
    if not output.parent.is_dir():
        raise FileNotFoundError(2, "There is no such folder to write to", output.parent)


def is_json(output: Path | None) -> bool:
    """Say whether a name is that of JSON Lines."""
    return output is not None and output.name.removesuffix(".gz").lower().endswith(".jsonl")


def is_conllu_name(output: Path | None) -> bool:
    """Say whether a name is that of CoNLL-U."""
    return output is not None and output.name.removesuffix(".gz").lower().endswith(".conllu")


def markov_of(text: str | None) -> tuple[int, int | None] | None:
    """Read ``--markov 2,1``; with a single number, rules remember all siblings."""
    if text is None:
        return None
    parts = text.split(",")
    if len(parts) > 2 or not all(part.strip().isdecimal() for part in parts):
        raise ValueError(f"--markov takes ancestors and siblings, such as 2,1, got {text!r}.")
    numbers = [int(part) for part in parts]
    return numbers[0], numbers[1] if len(numbers) > 1 else None
