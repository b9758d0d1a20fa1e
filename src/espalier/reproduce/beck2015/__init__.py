"""The experiments of Beck, Cohn, Hardmeier and Specia (2015) on learning tree kernels with Gaussian processes.

``run("emotion", data=..., out=...)`` computes what is missing and writes a page beside the results; so does the command
``espalier reproduce beck2015 emotion``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from espalier.errors import InputError
from espalier.reproduce.beck2015.settings import Experiment, Plan
from espalier.reproduce.data import data_folder
from espalier.reproduce.store import Progress, Results, Store, Task, run_tasks

__all__ = ["EXPERIMENTS", "run"]

EXPERIMENTS = {"synthetic": "synthetic", "time": "timing", "emotion": "emotion", "quality": "quality"}
FOLDER = "beck2015"

Report = Callable[[str, Progress], None]


def run(
    experiment: str = "all",
    *,
    data: str | Path | None = None,
    out: str | Path = "docs/results",
    jobs: int = 1,
    quick: bool = False,
    seed: int = 0,
    only: Mapping[str, str] | None = None,
    pages_only: bool = False,
    progress: Report | None = None,
) -> list[Path]:
    """Run an experiment, or all, from where an earlier run stopped; return the pages that were written.

    Parameters
    ----------
    experiment
        ``"synthetic"``, ``"time"``, ``"emotion"``, ``"quality"`` or ``"all"``.
    data
        The folder of the data sets; the environment variable ``ESPALIER_DATA`` where None.
    out
        Results and pages go to the folder ``beck2015`` in this one.
    jobs
        Tasks that run at once, each on one thread, so that their seconds compare. ``"time"`` runs one at a time.
    quick
        A tiny version under names of its own, in seconds.
    seed
        Which trees, folds and starts are drawn.
    only
        Compute only tasks whose key has these values, such as ``{"pair": "en-es"}``.
    pages_only
        Compute nothing: write the pages of the results that are there.
    progress
        Called with the experiment's name and its progress.
    """
    names = chosen(experiment)
    plan = Plan(Path(), seed, quick) if pages_only else _plan(data, seed, quick, jobs)
    store = Store(Path(out) / FOLDER)
    pages = []
    for name in names:
        module = cast(Experiment, import_module(f"espalier.reproduce.beck2015.{EXPERIMENTS[name]}"))
        settings = {**module.settings(quick=quick), "seed": seed, "quick": quick}
        results = store.open(f"{name}-quick" if quick else name, settings=settings)
        if not pages_only:
            _compute(name, module.tasks(plan), results, 1 if name == "time" else jobs, only, progress)
        pages.append(_write(module, results, store.folder, name, settings))
    return pages


def chosen(experiment: str) -> list[str]:
    """The experiments that a name stands for."""
    if experiment == "all":
        return list(EXPERIMENTS)
    if experiment not in EXPERIMENTS:
        raise InputError(f"There is no experiment {experiment!r}; there are {', '.join(EXPERIMENTS)} and all.")
    return [experiment]


def _plan(data: str | Path | None, seed: int, quick: bool, jobs: int) -> Plan:
    if jobs < 1:
        raise InputError(f"jobs must be at least 1, got {jobs}.")
    # Tiny problems gain nothing from threads.
    return Plan(data_folder(data).resolve(), seed, quick, n_threads=1)


def _compute(
    name: str,
    tasks: Sequence[Task],
    results: Results,
    jobs: int,
    only: Mapping[str, str] | None,
    progress: Report | None,
) -> None:
    for entry, value in (only or {}).items():
        tasks = [task for task in tasks if str(task.key.get(entry)) == value]
        if not tasks:
            raise InputError(f"The experiment {name} has no task with {entry}={value}.")
    tell = None if progress is None else lambda state: progress(name, state)
    run_tasks(tasks, results, n_jobs=jobs, progress=tell)


def _write(module: Experiment, results: Results, folder: Path, name: str, settings: Mapping[str, Any]) -> Path:
    if not len(results):
        raise InputError(f"There are no results in {results.path} to write a page of. Run the experiment first.")
    page = module.page(results)
    numbers = [
        f"{key} {value:g}" for key, value in settings.items() if isinstance(value, int | float) and key != "quick"
    ]
    command = f"espalier reproduce beck2015 {name}" + (" --quick" if settings["quick"] else "")
    page.parts.insert(0, f"Made by `{command}`, with {', '.join(numbers)}.")
    if settings["quick"]:
        page.parts.insert(0, "*A tiny version, which only shows that everything runs: the numbers mean nothing.*")
    return page.write(folder)
