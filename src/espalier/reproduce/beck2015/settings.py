"""What the experiments of one paper share: their plan, and what a small version of each is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from espalier.reproduce.page import Page
from espalier.reproduce.store import Results, Task

PAPER = (
    "Beck, Cohn, Hardmeier and Specia, "
    "[Learning Structural Kernels for Natural Language Processing](https://aclanthology.org/Q15-1033), TACL 2015"
)


@dataclass(frozen=True)
class Plan:
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
        return {"plan": self}


class Experiment(Protocol):
    """A module of this package, as the dispatcher sees it."""

    NAME: str

    def settings(self, *, quick: bool) -> Mapping[str, Any]:
        """What all results of the experiment have in common, beside the seed."""

    def tasks(self, plan: Plan) -> Sequence[Task]:
        """All that is to be computed."""

    def page(self, results: Results) -> Page:
        """What is shown of the results, complete or not."""
