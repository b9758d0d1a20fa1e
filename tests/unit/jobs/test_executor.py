"""Jobs run here or elsewhere, and results come in the order of the jobs."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from espalier.jobs import Processes, run_jobs


@dataclass(frozen=True)
class Square:
    number: int
    cost: float = 1.0

    def __call__(self):
        return self.number**2, os.getpid()


@dataclass(frozen=True)
class Slow:
    seconds: float
    cost: float = 1.0

    def __call__(self):
        time.sleep(self.seconds)
        return self.seconds


@dataclass(frozen=True)
class Wrong:
    cost: float = 1.0

    def __call__(self):
        raise ValueError("no result")


@pytest.fixture(scope="module")
def processes():
    with Processes(2) as found:
        yield found


def test_jobs_run_here_without_an_executor():
    assert list(run_jobs([Square(k) for k in range(4)])) == [(k**2, os.getpid()) for k in range(4)]


def test_jobs_run_in_other_processes(processes):
    found = list(run_jobs([Square(k) for k in range(6)], processes))
    assert [result for result, _ in found] == [k**2 for k in range(6)]
    assert os.getpid() not in {process for _, process in found}


def test_results_come_in_the_order_of_the_jobs():
    with ThreadPoolExecutor(4) as pool:
        assert list(run_jobs([Slow(0.2), Slow(0.1), Slow(0.0)], pool)) == [0.2, 0.1, 0.0]


def test_the_fraction_follows_the_cost():
    told = []
    list(run_jobs([Square(1, 3.0), Square(2, 1.0)], tell=told.append))
    assert told == [0.75, 1.0]


def test_no_jobs_have_no_results(processes):
    assert list(run_jobs([], processes)) == []


def test_an_error_of_a_job_reaches_the_caller_and_no_further_job_starts(processes):
    with pytest.raises(ValueError, match="no result"):
        list(run_jobs([Wrong(), *[Square(k) for k in range(50)]], processes))
    with pytest.raises(ValueError, match="no result"):
        list(run_jobs([Wrong()]))


INTERRUPTED = """
import os, sys, threading
sys.path.insert(0, {folder!r})
from test_executor import Slow
from espalier.jobs import Processes, run_jobs

if __name__ == "__main__":
    with Processes(2) as processes:
        list(run_jobs([Slow(0.0), Slow(0.0)], processes))
        print(*processes._processes, flush=True)
        list(run_jobs([Slow(60.0), Slow(60.0)], processes))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_an_interruption(tmp_path, how):
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED.format(folder=os.path.dirname(__file__)), "utf-8")
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as run:
        workers = [int(number) for number in run.stdout.readline().split()]
        run.send_signal(how)
        run.wait(30)
    assert len(workers) >= 1
    deadline = time.monotonic() + 20
    while any(_is_alive(worker) for worker in workers):
        assert time.monotonic() < deadline, "a worker outlived its parent"
        time.sleep(0.1)


def _is_alive(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
