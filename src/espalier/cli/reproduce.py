"""``espalier reproduce``: published experiments, run again from where they stopped."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from espalier.cli.reporting import reported

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from espalier.reproduce.store import Progress

app = typer.Typer(
    name="reproduce",
    help="Run published experiments again.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def reproduce() -> None:
    """Run published experiments again; what was computed before is kept."""


Data = Annotated[
    Path | None, typer.Option(metavar="DIR", help="The folder of the data sets; $ESPALIER_DATA by default.")
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Where results and pages go.")]
Jobs = Annotated[int, typer.Option(min=1, help="Tasks at once, each on one thread.")]
Quick = Annotated[bool, typer.Option("--quick", help="A tiny version that only shows that all runs.")]
Seed = Annotated[int, typer.Option(help="Which trees, folds and starts are drawn.")]
Only = Annotated[
    list[str] | None, typer.Option(metavar="NAME=VALUE", help="Only tasks such as pair=en-es; may be repeated.")
]
PagesOnly = Annotated[bool, typer.Option("--pages-only", help="Write pages of results that are there.")]
HERE = Path("docs/results")


PAPERS = {
    "beck2014": "Beck (2014): kernels, combined. They compare strings and trees; Gaussian processes learn them. "
    "Experiments: questions, sentiment, emotion.",
    "beck2015": "Beck and others (2015): learned kernels. Gaussian processes learn them from trees. "
    "Experiments: synthetic, time, emotion, quality.",
    "collins2001": "Collins and Duffy (2001): reranking. Kernels choose among the parses of a grammar. "
    "Experiments: questions, beyond, treebanks, tagging, cost.",
    "pighin2009": "Pighin and Moschitti (2009): fragments. They are mined from kernels for linear machines. "
    "Experiments: questions, boundary, roles, fragments.",
}


def _add_command(name: str, summary: str) -> None:
    """Add the command of one paper; its module is read only when the command runs."""

    @app.command(name, help=summary)
    @reported
    def command(
        experiment: Annotated[str, typer.Argument(help="One of the experiments, or all.")] = "all",
        data: Data = None,
        out: Out = HERE,
        jobs: Jobs = 1,
        quick: Quick = False,
        seed: Seed = 0,
        only: Only = None,
        pages_only: PagesOnly = False,
    ) -> None:
        paper = import_module(f"espalier.reproduce.{name}")
        options = {"data": data, "out": out, "jobs": jobs, "quick": quick, "seed": seed, "pages_only": pages_only}
        _run(paper, experiment, only, options)


for _name, _summary in PAPERS.items():
    _add_command(_name, _summary)


def _run(paper: Any, experiment: str, only: list[str] | None, options: dict[str, Any]) -> None:
    from rich.console import Console

    paper.chosen(experiment)
    chosen = dict(_pair(text) for text in only or ())
    with _bars(Console(stderr=True, highlight=False)) as bars:
        pages = paper.run(experiment, only=chosen, progress=_Meter(bars), **options)
    for page in pages:
        typer.echo(f"Written to {page}")


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (name and sign and value):
        raise ValueError(f"--only takes NAME=VALUE, such as pair=en-es, got {text!r}.")
    return name, value


def _bars(console: object) -> Bars:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = [TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    return Progress(*columns, TextColumn("{task.fields[rest]}"), console=console)  # type: ignore[arg-type]


class _Meter:
    """Draws one bar per experiment."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._tasks: dict[str, int] = {}

    def __call__(self, name: str, state: Progress) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=state.total, rest="")
        rest = "" if state.remaining is None else f"about {_spoken(state.remaining)} left"
        self._bars.update(self._tasks[name], completed=state.done, rest=rest)  # type: ignore[arg-type]


def _spoken(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{seconds:.0f} s" if seconds < 100 else f"{minutes} min" if minutes < 100 else f"{minutes / 60:.1f} h"
