"""The demo told in a terminal: what the corpus is, what is near what and why, and who answers best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from espalier.demo.answers import DECAYS, NEIGHBOURS, AnsweredQuestion, Answers, Score, tree_score_name
from espalier.jobs.memory import show_bytes
from espalier.structures.drawing import side_by_side_text
from espalier.structures.fragment import Position
from espalier.structures.tree import Tree

_MARKED = r"\[[^\[\]\s]+\]|[┃┫┣╋┻┳┏┓┗┛━]+"
_DEPTHS = (6, 5, 4, 3, 2)


def tell(answers: Answers, console: Console) -> None:
    """Print the whole story."""
    _heading(console, "1  Questions in which words mislead")
    console.print(
        "A grammar in the package generated these questions. Each has who, where and when, five noun phrases "
        "and three verbs; what is asked for (agent, patient, place or time) depends on the structure alone. "
        "One label in twenty is wrong on purpose, so the best possible score is known: 95 %.\n"
    )
    samples = RichTable.grid(padding=(0, 2))
    for label, question in answers.samples[:6]:
        samples.add_row(f"  [bold]{label}[/]", escape(question))
    console.print(samples)
    console.print()
    console.print(describe_table(vars(answers.description)))
    _heading(console, "2  The nearest tree, and what it shares")
    console.print(
        "For the first held-out question of each of three classes: the nearest of "
        f"{answers.n_train:,} questions under Normalized(SubsetTree(decay={answers.decay})), with the "
        "heaviest fragment both share marked, and the nearest question by words (cosine of counts)."
    )
    for example in answers.examples:
        _tell_example(example, console)
    _heading(console, "3  Who answers best")
    console.print(
        f"Each of {answers.n_held_out:,} held-out questions takes the label that most of its {NEIGHBOURS} "
        f"nearest questions carry. Decay {answers.decay} was chosen on the training questions, each left out "
        "in turn.\n"
    )
    console.print(_score_table(answers.scores, console.width))
    console.print(f"\n{conclusion(answers)}")


def conclusion(answers: Answers) -> str:
    """What the scores say, and no more: differences that chance makes often are called so."""
    scores = {score.name: score.share for score in answers.scores}
    guessing, words, best = scores["guessing"], scores["words"], scores["best possible"]
    trees = {decay: scores[tree_score_name(decay)] for decay in DECAYS}
    chosen = trees[answers.decay]
    luckiest = max(trees, key=trees.__getitem__)

    if answers.by_chance(words, guessing):
        said = [f"Words answer {_percent(words)}, no more than guessing does by chance."]
    else:
        said = [f"Words answer {_percent(words)}, and guessing {_percent(guessing)}."]
    if answers.by_chance(chosen, best):
        said.append(f"Structure answers {_percent(chosen)} with the decay that was chosen: all that can be answered.")
    else:
        below = f"{100 * (best - chosen):.0f} points below the best possible"
        said.append(f"Structure answers {_percent(chosen)} with the decay that was chosen, {below}.")
    if trees[luckiest] > chosen:
        said.append(
            f"Decay {luckiest} would have answered {_percent(trees[luckiest])} here; "
            f"{answers.n_train:,} training questions did not show that."
        )
    said.append("The decay says how quickly large fragments lose weight.")
    if chosen < best and not answers.by_chance(chosen, best):
        said.append("More questions to learn from (--n) bring structure nearer to the best possible.")
    return " ".join(said)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def describe_table(counts: Mapping[str, int | float | str]) -> RichTable:
    """The counts of a file or of a forest as a table of names and numbers."""
    table = RichTable(box=None, show_header=False, padding=(0, 2))
    table.add_column()
    table.add_column(justify="right", style="bold")
    for name, value in counts.items():
        if isinstance(value, str):
            shown = escape(value)
        elif name.endswith("_bytes"):
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


def _tell_example(example: AnsweredQuestion, console: Console) -> None:
    rows = RichTable.grid(padding=(0, 2))
    rows.add_row("question", f"[bold]{example.asked['label']}[/]", "", f"[bold]{escape(example.asked['question'])}[/]")
    similarity = f"{example.similarity:.2f}"
    rows.add_row("nearest tree", example.nearest["label"], similarity, escape(example.nearest["question"]))
    rows.add_row("nearest words", example.nearest_by_words["label"], "", escape(example.nearest_by_words["question"]))
    console.print()
    console.print(rows)
    verdict = "right" if example.answer == example.asked["label"] else "wrong"
    console.print(f"Most of its {NEIGHBOURS} nearest trees say {example.answer}, which is {verdict}.\n")
    drawing = Text(_drawing(example, console.width))
    drawing.highlight_regex(_MARKED, "bold dark_orange3")
    console.print(drawing, no_wrap=True, overflow="ignore", crop=False)
    console.print("\n  what they share, by weight:")
    for shared in example.shared:
        line = Text(f"  {shared.weight:8.2f}  {shared}")
        line.truncate(max(40, console.width), overflow="ellipsis")
        console.print(line, no_wrap=True)


def _drawing(example: AnsweredQuestion, width: int) -> str:
    """Both trees side by side, folded below the depth at which they still fit the terminal."""
    for depth in _DEPTHS:
        trees, highlights = [], []
        for tree, marks in zip((example.asked["tree"], example.nearest["tree"]), example.marks(), strict=True):
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


# How many cells each column takes with the blanks around it, in the order in which a narrow terminal does without them.
_DROPPED_FIRST = (("pairs/µs", 10), ("seconds", 9), ("", 18), ("training", 10))


def _score_table(scores: Iterable[Score], width: int) -> RichTable:
    """Names and percentages at any width; the other columns where there is room."""
    rows = [_score_cells(score) for score in scores]
    kept = dict(_DROPPED_FIRST)
    needed = max(len(row["answered by"]) for row in rows) + 2 + 9
    for name, _ in _DROPPED_FIRST:
        if needed + sum(kept.values()) > width:
            del kept[name]
    table = RichTable(box=None, padding=(0, 1))
    names = [name for name in rows[0] if name in ("answered by", "right") or name in kept]
    for name in names:
        side: Literal["left", "right"] = "left" if name in ("answered by", "") else "right"
        table.add_column(name, justify=side, style="bold" if name == "right" else "", no_wrap=True)
    for row in rows:
        table.add_row(*(row[name] for name in names))
    return table


def _score_cells(score: Score) -> dict[str, str]:
    return {
        "answered by": score.name,
        "right": _percent(score.share),
        "": "█" * round(16 * score.share),
        "training": "" if score.training is None else _percent(score.training),
        "seconds": "" if score.seconds is None else f"{score.seconds:.2f}",
        "pairs/µs": f"{score.count / score.seconds / 1e6:.1f}" if score.count and score.seconds else "",
    }
