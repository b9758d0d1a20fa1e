"""``espalier reproduce``: published experiments, run again from where they stopped.

The experiments are a package of their own, beside the library in its repository.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from espalier.cli.reporting import reported

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from espalier.jobs.progress import Progress, Report

PACKAGE = "espalier_experiments"
HERE = Path("docs/results")

Paper = Annotated[str | None, typer.Argument(help="Such as beck2015; without it, the papers are listed.")]
Experiment = Annotated[str, typer.Argument(help="One of the paper's experiments, or all.")]
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


@reported
def reproduce(
    paper: Paper = None,
    experiment: Experiment = "all",
    data: Data = None,
    out: Out = HERE,
    jobs: Jobs = 1,
    quick: Quick = False,
    seed: Seed = 0,
    only: Only = None,
    pages_only: PagesOnly = False,
) -> None:
    """Run published experiments again.

    Results that an earlier run computed are kept.
    """
    from rich.console import Console

    experiments = _installed()
    if paper is None:
        for each in map(experiments.paper, experiments.PAPERS):
            typer.echo(f"{each.name}  {each.summary} Experiments: {', '.join(each.experiments)}.")
        return
    found = experiments.paper(paper)
    found.chosen(experiment)
    chosen = dict(map(_pair, only or ()))
    options = {"data": data, "out": out, "jobs": jobs, "quick": quick, "seed": seed, "pages_only": pages_only}
    with _bars(Console(stderr=True, highlight=False)) as bars:
        pages = found.run(experiment, only=chosen, progress=_meter(bars), **options)
    for page in pages:
        typer.echo(f"Written to {page}")


def _installed() -> ModuleType:
    """Import the package of the experiments, or say how to install it."""
    if find_spec(PACKAGE) is None:
        raise ImportError(
            "The experiments are a package of their own, which is not installed. "
            "In a checkout of Espalier's repository, run: pip install ./experiments"
        )
    return import_module(PACKAGE)


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (name and sign and value):
        raise ValueError(f"--only takes NAME=VALUE, such as pair=en-es, got {text!r}.")
    return name, value


def _bars(console: object) -> Bars:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = [TextColumn("{task.description:<10}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()]
    return Progress(*columns, TextColumn("{task.fields[rest]}"), console=console)  # type: ignore[arg-type]


def _meter(bars: Bars) -> Report:
    """Return a function that draws one bar per experiment."""
    tasks: dict[str, TaskID] = {}

    def draw(progress: Progress) -> None:
        if progress.what not in tasks:
            tasks[progress.what] = bars.add_task(progress.what, total=1.0, rest="")
        rest = "" if progress.seconds_left is None else f"about {_spoken(progress.seconds_left)} left"
        bars.update(tasks[progress.what], completed=progress.fraction, rest=rest)

    return draw


def _spoken(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{seconds:.0f} s" if seconds < 100 else f"{minutes} min" if minutes < 100 else f"{minutes / 60:.1f} h"
