"""Results that survive an interruption: tasks with readable keys, one JSON file per experiment.

A task is a function and the key that names its result. What a file holds already is not computed again; each result
is written as it arrives, the whole file beside its place and then renamed, under a lock: two runs on one file keep
the results of both. A file says with which settings it was made and refuses results of others. Results are sorted by
key and hold no path and no date, so that they can be kept under version control.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import espalier as es
from espalier.errors import InputError
from espalier.jobs import Processes, Progress
from espalier.structures import read_text, write_text

Key = Mapping[str, Any]
Result = dict[str, Any]

DIGITS = 8  # significant digits of the numbers that are kept


@dataclass(frozen=True)
class Task:
    """One result to compute: ``function(**key, **arguments)``.

    Parameters
    ----------
    key
        Names the result: JSON values by name, readable, free of paths.
    function
        A function of a module, so that another process can find it. It returns a dict of JSON values.
    arguments
        What the function needs beside its key, such as the folder of the data; not part of the name.
    """

    key: Key
    function: Callable[..., Result]
    arguments: Mapping[str, Any] = field(default_factory=dict)


class Store:
    """A folder of results, one file per experiment.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(tempfile.mkdtemp())
    >>> results = store.open("doubles", settings={"seed": 0})
    >>> run_tasks([Task({"x": x}, lambda x: {"twice": 2 * x}) for x in (1, 2)], results)
    >>> [(record["x"], record["twice"]) for record in store.open("doubles", settings={"seed": 0})]
    [(1, 2), (2, 4)]
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def open(self, experiment: str, *, settings: Mapping[str, Any]) -> Results:
        """The results of an experiment, those of earlier runs included.

        Raises
        ------
        InputError
            If the file was made with other settings, or cannot be read.
        """
        return Results(self.folder / f"{experiment}.json", settings)


class Results:
    """The results of one experiment, in memory and in a file that follows."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path = path
        self.settings = _json_round_trip(settings)
        self._records: dict[str, Result] = {}
        if path.exists():
            self._load()

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Result]:
        """Iterate over the records, sorted by key: each a dict of key and result, ``seconds`` and ``version``."""
        for name in sorted(self._records):
            record = self._records[name]
            yield {**record["key"], **record["result"], "seconds": record["seconds"], "version": record["version"]}

    def __contains__(self, key: Key) -> bool:
        return _name(key) in self._records

    def where(self, **wanted: Any) -> list[Result]:
        """The records whose entries have these values."""
        return [r for r in self if all(name in r and r[name] == value for name, value in wanted.items())]

    def add(self, key: Key, result: Mapping[str, Any], *, seconds: float) -> None:
        """Keep one result and write the file; a key that is there is replaced."""
        clash = set(key) & set(result) | {"seconds", "version"} & (set(key) | set(result))
        if clash:
            raise InputError(f"A result cannot hold {min(clash)!r}: the name is taken by its key or by the store.")
        rounded = float(f"{seconds:.3g}")
        record = {"key": dict(key), "result": compact(result), "seconds": rounded, "version": es.__version__}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(self.path.parent):
            # Another run may have added results since: they stay.
            if self.path.exists():
                self._load()
            self._records[_name(key)] = record
            self._save()

    def _load(self) -> None:
        try:
            content = json.loads(read_text(self.path))
            settings, fingerprint = content["settings"], content["fingerprint"]
            records = {_name(record["key"]): dict(record) for record in content["results"]}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(f"{self.path} is no file of results. Move it away to start again.") from None
        if fingerprint != self.fingerprint or settings != self.settings:
            differing = [
                f"{name} {settings.get(name)!r} there, {self.settings.get(name)!r} here"
                for name in sorted(set(settings) | set(self.settings))
                if settings.get(name) != self.settings.get(name)
            ]
            raise InputError(
                f"{self.path} holds results of other settings ({'; '.join(differing) or 'edited by hand'}). "
                "Write to another folder, or move the file away."
            )
        self._records |= records

    @property
    def fingerprint(self) -> str:
        """A short hash of the settings."""
        return hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()[:12]

    def _save(self) -> None:
        head = {"settings": self.settings, "fingerprint": self.fingerprint}
        opening = json.dumps(head, sort_keys=True, ensure_ascii=False)[:-1]
        rows = ",\n".join(
            json.dumps(self._records[name], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
            for name in sorted(self._records)
        )
        write_text(self.path, f'{opening},\n"results": [\n{rows}\n]}}\n')


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One writer at a time in a folder, among all processes; the lock is on the folder and leaves no file behind."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)  # which gives the lock back


def run_tasks(
    tasks: Sequence[Task],
    results: Results,
    *,
    n_jobs: int = 1,
    what: str = "tasks",
    progress: Callable[[Progress], object] | None = None,
) -> None:
    """Compute what is not there yet and keep each result as it arrives.

    Parameters
    ----------
    tasks
        What to compute; a key must not occur twice.
    results
        Where results go, and where those of earlier runs are found.
    n_jobs
        With 1, tasks run in this process, with all the threads they like; with more, each runs in one of as many
        processes, on one thread.
    what, progress
        ``progress`` is called before the first task and after each, and told that this is being done.

    Raises
    ------
    Exception
        Whatever the first failing task raised, after all others have been tried and kept.
    """
    names = [_name(task.key) for task in tasks]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"Two tasks have the same key {twice}.")
    if n_jobs < 1:
        raise InputError(f"jobs must be at least 1, got {n_jobs}.")
    todo = [task for task in tasks if task.key not in results]
    meter = _Meter(what, len(tasks), len(tasks) - len(todo), progress)
    outcomes = _here(todo) if n_jobs == 1 else _elsewhere(todo, min(n_jobs, max(1, len(todo))))
    failures: list[tuple[Key, Exception]] = []
    for task, outcome in outcomes:
        if isinstance(outcome, Exception):
            failures.append((task.key, outcome))
        else:
            result, seconds = outcome
            results.add(task.key, result, seconds=seconds)
        meter.step()
    if failures:
        key, error = failures[0]
        error.add_note(f"{len(failures)} of {len(todo)} tasks failed; this is the first, {_name(key)}.")
        raise error


Outcome = tuple[Result, float] | Exception


def _here(tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
    for task in tasks:
        yield task, _attempt(task)


def _elsewhere(tasks: Sequence[Task], n_jobs: int) -> Iterator[tuple[Task, Outcome]]:
    with Processes(n_jobs) as pool:
        futures: dict[Future[Outcome], Task] = {pool.submit(_attempt, task): task for task in tasks}
        for future in as_completed(futures):
            yield futures[future], future.result()


def _attempt(task: Task) -> Outcome:
    start = time.perf_counter()
    try:
        result = task.function(**task.key, **task.arguments)
    except Exception as error:  # kept, so that one bad fit does not lose the others
        return error
    return result, time.perf_counter() - start


class _Meter:
    """Counts tasks and estimates the time that is left from those done in this run."""

    def __init__(self, what: str, total: int, done: int, report: Callable[[Progress], object] | None) -> None:
        self._what, self._total, self._done, self._found, self._report = what, total, done, done, report
        self._start = time.perf_counter()
        self._tell()

    def step(self) -> None:
        self._done += 1
        self._tell()

    def _tell(self) -> None:
        if self._report is None:
            return
        elapsed, fresh = time.perf_counter() - self._start, self._done - self._found
        left = elapsed / fresh * (self._total - self._done) if fresh else None
        self._report(Progress(self._what, self._done / self._total if self._total else 1.0, left))


def compact(value: Any) -> Any:
    """The value as JSON keeps it: plain types, floats to eight significant digits, None for NaN and infinities."""
    if isinstance(value, Mapping):
        return {str(key): compact(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [compact(entry) for entry in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    if value is None or isinstance(value, str | int):
        return value
    raise TypeError(f"A result holds JSON values, got {value!r} of type {type(value).__name__}.")


def _name(key: Key) -> str:
    return json.dumps(_json_round_trip(key), sort_keys=True, ensure_ascii=False)


def _json_round_trip(value: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = json.loads(json.dumps(value, sort_keys=True))
    return out
