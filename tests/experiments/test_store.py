"""Results are kept as they arrive, are not computed twice, and are never mixed or half-written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from espalier.errors import InputError
from espalier_experiments.store import Progress, Results, Store, Task, compact, run_tasks

SETTINGS = {"seed": 0}


def square(x: int, calls: list[int] | None = None) -> dict[str, float]:
    if calls is not None:
        calls.append(x)
    return {"square": float(x * x)}


def failing(x: int) -> dict[str, float]:
    if x == 1:
        raise ValueError("no square of 1")
    return square(x)


def pid(x: int) -> dict[str, int]:
    return {"pid": os.getpid()}


def tasks(*numbers: int, function=square, **arguments) -> list[Task]:
    return [Task({"x": x}, function, arguments) for x in numbers]


def opened(folder: Path, settings=SETTINGS) -> Results:
    return Store(folder).open("squares", settings=settings)


def test_what_is_there_is_not_computed_again(tmp_path):
    calls: list[int] = []
    run_tasks(tasks(1, 2, calls=calls), opened(tmp_path))
    run_tasks(tasks(1, 2, 3, calls=calls), opened(tmp_path))
    assert calls == [1, 2, 3]
    assert [(r["x"], r["square"]) for r in opened(tmp_path)] == [(1, 1.0), (2, 4.0), (3, 9.0)]


def test_records_carry_time_and_version_and_can_be_chosen(tmp_path):
    run_tasks(tasks(2, 3), opened(tmp_path))
    (record,) = opened(tmp_path).where(x=3)
    assert record["seconds"] >= 0 and record["version"]


def test_the_file_does_not_depend_on_the_order_of_tasks(tmp_path):
    texts = []
    for folder, numbers in (("a", (3, 1, 2)), ("b", (1, 2, 3))):
        results = opened(tmp_path / folder)
        for x in numbers:
            results.add({"x": x}, square(x), seconds=0.5)
        texts.append(results.path.read_bytes())
    assert texts[0] == texts[1]
    assert str(tmp_path).encode() not in texts[0]


def test_results_of_other_settings_are_not_mixed(tmp_path):
    run_tasks(tasks(1), opened(tmp_path))
    with pytest.raises(InputError, match=r"other settings .seed 0 there, 1 here"):
        opened(tmp_path, {"seed": 1})


@pytest.mark.parametrize("text", ["", "[]", '{"results": []}', '{"settings": 1, "fingerprint": 2, "results": [3]}'])
def test_a_damaged_file_is_one_error(tmp_path, text):
    (tmp_path / "squares.json").write_text(text)
    with pytest.raises(InputError, match="is no file of results"):
        opened(tmp_path)


def test_an_interruption_keeps_what_is_finished(tmp_path):
    def interrupted(x: int) -> dict[str, float]:
        if x == 2:
            raise KeyboardInterrupt
        return square(x)

    with pytest.raises(KeyboardInterrupt):
        run_tasks(tasks(1, 2, 3, function=interrupted), opened(tmp_path))
    assert [r["x"] for r in opened(tmp_path)] == [1]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    results = opened(tmp_path)
    results.add({"x": 1}, square(1), seconds=0)
    before = results.path.read_bytes()

    def refused(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("espalier.structures.files.os.replace", refused)
    with pytest.raises(OSError, match="disk is full"):
        results.add({"x": 2}, square(2), seconds=0)
    assert results.path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["squares.json"]


def test_a_failing_task_does_not_lose_the_others(tmp_path):
    with pytest.raises(ValueError, match="no square of 1") as caught:
        run_tasks(tasks(0, 1, 2, function=failing), opened(tmp_path))
    assert caught.value.__notes__ == ['1 of 3 tasks failed; this is the first, {"x": 1}.']
    assert [r["x"] for r in opened(tmp_path)] == [0, 2]


def test_progress_counts_what_was_there(tmp_path):
    run_tasks(tasks(1), opened(tmp_path))
    seen: list[Progress] = []
    run_tasks(tasks(1, 2, 3), opened(tmp_path), what="doubles", progress=seen.append)
    assert [(p.what, p.fraction) for p in seen] == [("doubles", 1 / 3), ("doubles", 2 / 3), ("doubles", 1.0)]
    assert seen[0].seconds_left is None and seen[1].seconds_left is not None and seen[-1].seconds_left == 0


def test_keys_are_used_once(tmp_path):
    with pytest.raises(InputError, match=r"the same key .*x.*1"):
        run_tasks(tasks(1, 1), opened(tmp_path))
    with pytest.raises(InputError, match="cannot hold 'x'"):
        opened(tmp_path).add({"x": 1}, {"x": 2}, seconds=0)


def test_numbers_are_kept_short_and_plain():
    value = {"a": np.float64(1 / 3), "b": np.arange(2), "c": float("nan"), "d": (True, None, "x")}
    assert compact(value) == {"a": 0.33333333, "b": [0, 1], "c": None, "d": [True, None, "x"]}
    assert json.dumps(compact(value))
    with pytest.raises(TypeError, match="JSON values"):
        compact({"a": object()})


PROGRAM = """
import sys, time
from pathlib import Path
from espalier_experiments.store import Store, Task, run_tasks

def work(x, folder):
    if x:
        Path(folder, "started").touch()
        time.sleep(60)
    return {"pid": __import__("os").getpid()}

if __name__ == "__main__":
    folder = sys.argv[1]
    results = Store(folder).open("squares", settings={"seed": 0})
    try:
        run_tasks([Task({"x": x}, work, {"folder": folder}) for x in (0, 1)], results, n_jobs=2)
    except KeyboardInterrupt:
        sys.exit(130)
"""


def test_an_interrupted_pool_ends_its_processes_and_keeps_results(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    job = subprocess.Popen([sys.executable, program, tmp_path], start_new_session=True)
    deadline = time.monotonic() + 60
    while not ((tmp_path / "started").exists() and (tmp_path / "squares.json").exists()):
        assert time.monotonic() < deadline and job.poll() is None
        time.sleep(0.05)
    job.send_signal(signal.SIGINT)
    assert job.wait(timeout=30) == 130
    (record,) = opened(tmp_path)
    assert record["pid"] != job.pid
    assert not list(tmp_path.glob("*.part"))


def tell_and_wait(folder, number):
    """A task that says which process it runs in, and then takes longer than anybody waits."""
    Path(folder, f"{number}.pid").write_text(str(os.getpid()))
    time.sleep(300)
    return {}


def test_workers_end_with_a_parent_that_was_killed(tmp_path):
    script = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_store import tell_and_wait\n"
        "from espalier_experiments.store import Store, Task, run_tasks\n"
        "if __name__ == '__main__':\n"
        f"    tasks = [Task({{'number': k}}, tell_and_wait, {{'folder': {str(tmp_path)!r}}}) for k in range(2)]\n"
        f"    run_tasks(tasks, Store({str(tmp_path)!r}).open('wait', settings={{}}), n_jobs=2)\n"
    )
    place = tmp_path / "parent.py"
    place.write_text(script)
    parent = subprocess.Popen([sys.executable, str(place)])
    try:
        told = wait_for(
            lambda: [path.read_text() for path in tmp_path.glob("*.pid")], lambda found: sum(map(bool, found)) == 2
        )
    finally:
        parent.kill()
        parent.wait()
    assert wait_for(lambda: [pid for pid in told if alive(pid)], lambda found: not found) == []


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_for(look, enough, seconds=20):
    end = time.monotonic() + seconds
    while not enough(found := look()) and time.monotonic() < end:
        time.sleep(0.2)
    return found


def test_two_runs_on_one_file_keep_the_results_of_both(tmp_path):
    runs = [Store(tmp_path).open("squares", settings=SETTINGS) for _ in range(2)]
    own = [threading.Thread(target=run_tasks, args=(tasks(*range(k, 60, 2)), run)) for k, run in enumerate(runs)]
    for thread in own:
        thread.start()
    for thread in own:
        thread.join(60)
    kept = Store(tmp_path).open("squares", settings=SETTINGS)
    assert sorted(record["x"] for record in kept) == list(range(60))
    assert [path.name for path in tmp_path.iterdir()] == ["squares.json"]


def test_a_result_of_another_run_is_not_overwritten_by_an_older_one(tmp_path):
    first, second = (Store(tmp_path).open("squares", settings=SETTINGS) for _ in range(2))
    first.add({"x": 1}, {"square": 1.0}, seconds=1.0)
    second.add({"x": 1}, {"square": 2.0}, seconds=1.0)
    first.add({"x": 3}, {"square": 9.0}, seconds=1.0)
    assert [record["square"] for record in Store(tmp_path).open("squares", settings=SETTINGS)] == [2.0, 9.0]
