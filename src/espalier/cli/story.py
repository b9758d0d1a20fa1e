"""The demo told in a terminal: what the corpus is, what is near what and why, and who answers best."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from espalier.cli.experiment import NEIGHBOURS, Example, Experiment, Score
from espalier.corpus.describe import ForestDescription
from espalier.kernels.schedule import show_bytes
from espalier.structures.drawing import side_by_side_text
from espalier.structures.tree import Tree

Position = tuple[int, ...]

_MARKED = r"\[[^\[\]\s]+\]|[┃┫┣╋┻┳┏┓┗┛━]+"
_DEPTHS = (6, 5, 4, 3, 2)


def tell(experiment: Experiment, console: Console) -> None:
    """Print the whole story."""
    _heading(console, "1  Questions in which words mislead")
    console.print(
        "A grammar in the package wrote these questions. Each holds who, where and when, five noun phrases "
        "and three verbs; what is asked for (agent, patient, place or time) depends on the structure alone. "
        "One label in twenty is wrong on purpose, so the best possible score is known: 95 %.\n"
    )
    samples = RichTable.grid(padding=(0, 2))
    for label, question in experiment.samples[:6]:
        samples.add_row(f"  [bold]{label}[/]", escape(question))
    console.print(samples)
    console.print()
    console.print(describe_table(experiment.description))
    _heading(console, "2  The nearest tree, and what it shares")
    console.print(
        "For the first held-out question of each of three classes: the nearest of "
        f"{experiment.n_train:,} questions under Normalized(SubsetTree(decay={experiment.decay})), with the "
        "heaviest fragment both share marked, and the nearest question by words (cosine of counts)."
    )
    for example in experiment.examples:
        _tell_example(example, console)
    _heading(console, "3  Who answers best")
    console.print(
        f"Each of {experiment.n_held_out:,} held-out questions takes the label that most of its {NEIGHBOURS} "
        f"nearest questions carry. Decay {experiment.decay} was chosen on the training questions, each left out "
        "in turn.\n"
    )
    console.print(_score_table(experiment.scores))
    console.print(
        "\nWords say nothing here, and structure nearly everything. How much depends on the decay, which "
        "says how quickly large fragments lose weight."
    )


def describe_table(description: ForestDescription) -> RichTable:
    """The counts of a forest as a table of names and numbers."""
    table = RichTable(box=None, show_header=False, padding=(0, 2))
    table.add_column()
    table.add_column(justify="right", style="bold")
    for name, value in vars(description).items():
        if name.endswith("_bytes"):
            shown = show_bytes(value)
        elif isinstance(value, float):
            shown = f"{value:,.2f}"
        else:
            shown = f"{value:,}"
        table.add_row(name.replace("_bytes", "_memory").replace("_", " "), shown)
    return table


def _heading(console: Console, text: str) -> None:
    console.print()
    console.rule(f"[bold]{text}", align="left")
    console.print()


def _tell_example(example: Example, console: Console) -> None:
    rows = RichTable.grid(padding=(0, 2))
    rows.add_row("question", f"[bold]{example.label}[/]", "", f"[bold]{escape(example.question)}[/]")
    similarity = f"{example.similarity:.2f}"
    rows.add_row("nearest tree", example.neighbour_label, similarity, escape(example.neighbour))
    rows.add_row("nearest words", example.by_words_label, "", escape(example.by_words))
    console.print()
    console.print(rows)
    verdict = "right" if example.answer == example.label else "wrong"
    console.print(f"Most of its {NEIGHBOURS} nearest trees say {example.answer}, which is {verdict}.\n")
    drawing = Text(_drawing(example, console.width))
    drawing.highlight_regex(_MARKED, "bold dark_orange3")
    console.print(drawing, no_wrap=True, overflow="ignore", crop=False)
    console.print("\n  what they share, by weight:")
    for shared in example.shared:
        line = Text(f"  {shared.weight:8.2f}  {shared}")
        line.truncate(max(40, console.width), overflow="ellipsis")
        console.print(line, no_wrap=True)


def _drawing(example: Example, width: int) -> str:
    """Both trees side by side, folded below the depth at which they still fit the terminal."""
    for depth in _DEPTHS:
        trees, highlights = [], []
        for tree, marks in zip((example.tree, example.neighbour_tree), example.marks(), strict=True):
            trees.append(folded(tree, depth))
            highlights.append(still_there(marks, tree, depth))
        text = side_by_side_text(trees, highlights=highlights, width=width)
        if "\n\n" not in text:
            return text
    return text


def folded(tree: Tree, depth: int) -> Tree:
    """The upper levels of a tree; what is below a node at ``depth`` becomes one leaf: ``the …``."""
    levels: list[list[Tree]] = [[tree]]
    for _ in range(depth):
        levels.append([child for node in levels[-1] for child in node.children])
    built = [node if node.is_leaf or node.is_preterminal else _fold(node) for node in levels.pop()]
    while levels:
        below = iter(built)
        built = [Tree(node.label, [next(below) for _ in node.children]) for node in levels.pop()]
    return built[0]


def _fold(node: Tree) -> Tree:
    words = node.words()
    return Tree(node.label, [f"{words[0]} …" if len(words) > 2 else " ".join(words)])


def still_there(marks: Iterable[Position], tree: Tree, depth: int) -> list[Position]:
    """The positions that a folded tree still has."""
    return [p for p in marks if len(p) <= depth or (len(p) == depth + 1 and tree[p[:-1]].is_preterminal)]


def _score_table(scores: Iterable[Score]) -> RichTable:
    table = RichTable(box=None, padding=(0, 1))
    table.add_column("answered by", no_wrap=True)
    table.add_column("right", justify="right", style="bold")
    table.add_column("", no_wrap=True)
    table.add_column("training", justify="right", no_wrap=True)
    table.add_column("seconds", justify="right", no_wrap=True)
    table.add_column("pairs/µs", justify="right", no_wrap=True)
    for score in scores:
        bar = "█" * round(16 * score.share)
        seconds = "" if score.seconds is None else f"{score.seconds:.2f}"
        speed = f"{score.count / score.seconds / 1e6:.1f}" if score.count and score.seconds else ""
        training = "" if score.training is None else f"{100 * score.training:.1f} %"
        table.add_row(score.name, f"{100 * score.share:.1f} %", bar, training, seconds, speed)
    return table
