"""What all papers share: experiments with a setup, run from where they stopped, and their pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from espalier.errors import InputError
from espalier.jobs import Progress
from espalier_experiments.data import data_folder
from espalier_experiments.page import Page
from espalier_experiments.store import Results, Store, Task, run_tasks

Report = Callable[[Progress], object]


@dataclass(frozen=True)
class Setup:
    """How to run an experiment.

    Parameters
    ----------
    data
        The folder of the data sets.
    seed
        Which trees, folds and starts are drawn.
    quick
        A tiny version that only shows that everything runs.
    n_threads
        Threads of each task; all cores where None.
    """

    data: Path
    seed: int = 0
    quick: bool = False
    n_threads: int | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """What every task needs beside its key."""
        return {"setup": self}


class Experiment(Protocol):
    """A module of a paper's package, as the dispatcher sees it."""

    NAME: str

    def settings(self, *, quick: bool) -> Mapping[str, Any]:
        """What all results of the experiment have in common, beside the seed."""

    def tasks(self, setup: Setup) -> Sequence[Task]:
        """All that is to be computed."""

    def page(self, results: Results) -> Page:
        """What is shown of the results, complete or not."""


@dataclass(frozen=True)
class Paper:
    """A paper whose experiments can be run again.

    Parameters
    ----------
    name
        The name of its package in ``espalier_experiments``, of its command and of its folder of results.
    summary
        Who found what, in a sentence.
    experiments
        The modules of its experiments by name.
    alone
        Experiments that measure time, whose tasks therefore run one at a time.
    """

    name: str
    summary: str
    experiments: Mapping[str, str]
    alone: frozenset[str] = field(default_factory=frozenset)

    def run(
        self,
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
            One of the paper's experiments, or ``"all"``.
        data
            The folder of the data sets; the environment variable ``ESPALIER_DATA`` where None.
        out
            Results and pages go to a folder with the paper's name in this one.
        jobs
            Tasks that run at once, each on one thread, so that their seconds compare. Experiments that measure time
            run one at a time.
        quick
            A tiny version under names of its own, in seconds.
        seed
            Which trees, folds and starts are drawn.
        only
            Compute only tasks whose key has these values, such as ``{"pair": "en-es"}``.
        pages_only
            Compute nothing: write the pages of the results that are there.
        progress
            Called with an :class:`espalier.jobs.Progress` whose ``what`` is the experiment's name.
        """
        names = self.chosen(experiment)
        setup = Setup(Path(), seed, quick) if pages_only else _setup(data, seed, quick, jobs)
        store = Store(Path(out) / self.name)
        pages = []
        for name in names:
            module = cast(Experiment, import_module(f"espalier_experiments.{self.name}.{self.experiments[name]}"))
            settings = {**module.settings(quick=quick), "seed": seed, "quick": quick}
            results = store.open(f"{name}-quick" if quick else name, settings=settings)
            tasks = module.tasks(setup)
            if not pages_only:
                _compute(name, tasks, results, 1 if name in self.alone else jobs, only, progress)
            n_missing = sum(task.key not in results for task in tasks)
            pages.append(self._write(module, results, store.folder, name, settings, n_missing))
        return pages

    def chosen(self, experiment: str) -> list[str]:
        """The experiments that a name stands for."""
        if experiment == "all":
            return list(self.experiments)
        if experiment not in self.experiments:
            raise InputError(f"There is no experiment {experiment!r}; there are {', '.join(self.experiments)} and all.")
        return [experiment]

    def _write(
        self,
        module: Experiment,
        results: Results,
        folder: Path,
        name: str,
        settings: Mapping[str, Any],
        n_missing: int,
    ) -> Path:
        if not len(results):
            raise InputError(f"There are no results in {results.path} to write a page of. Run the experiment first.")
        page = module.page(results)
        numbers = [
            f"{key.replace('_', ' ')} {value:g}" for key, value in settings.items() if type(value) in (int, float)
        ]
        command = f"espalier reproduce {self.name} {name}" + (" --quick" if settings["quick"] else "")
        made = f"Made by `{command}`, with {', '.join(numbers)}."
        if n_missing:
            made += f" **{n_missing:,} of its {n_missing + len(results):,} results are not there yet.**"
        page.parts.insert(0, made)
        if settings["quick"]:
            page.parts.insert(0, "*A tiny version, which only shows that everything runs: the numbers mean nothing.*")
        return page.write(folder)


def _setup(data: str | Path | None, seed: int, quick: bool, jobs: int) -> Setup:
    if jobs < 1:
        raise InputError(f"jobs must be at least 1, got {jobs}.")
    # Tiny problems gain nothing from threads.
    return Setup(data_folder(data).resolve(), seed, quick, n_threads=1)


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
    run_tasks(tasks, results, n_jobs=jobs, what=name, progress=progress)
