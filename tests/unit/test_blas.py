"""One thread for each BLAS while the package computes, and as before when it is done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import scipy.linalg  # noqa: F401  # so that scipy's BLAS is there too
from threadpoolctl import ThreadpoolController, threadpool_limits

from espalier.blas import blas_threads, workers

HERE = Path(__file__).resolve().parent


def counts() -> list[int]:
    """The threads of each BLAS of the process."""
    return [library.num_threads for library in ThreadpoolController().select(user_api="blas").lib_controllers]


@pytest.fixture
def three() -> object:
    """Every BLAS has three threads."""
    with threadpool_limits(3, user_api="blas"):
        if set(counts()) != {3}:
            pytest.skip("the BLAS of this system has a number of threads that cannot be set")
        yield


@pytest.mark.usefixtures("three")
class TestLimit:
    def test_one_thread_inside_and_the_old_number_after(self) -> None:
        with blas_threads():
            assert set(counts()) == {1}
            with blas_threads(2):
                assert set(counts()) == {1}
            assert set(counts()) == {1}
        assert set(counts()) == {3}

    def test_the_old_number_after_an_error(self) -> None:
        with pytest.raises(ZeroDivisionError), blas_threads():
            1 / 0
        assert set(counts()) == {3}

    def test_a_decorated_function_is_limited_every_time(self) -> None:
        limited = blas_threads()(counts)
        assert [set(limited()) for _ in range(2)] == [{1}, {1}]
        assert set(counts()) == {3}

    def test_two_threads_that_overlap_restore_the_old_number(self) -> None:
        """The second enters while the first is inside and leaves after it."""
        first_inside, second_inside, first_left = threading.Event(), threading.Event(), threading.Event()
        seen: dict[str, list[int]] = {}

        def first() -> None:
            with blas_threads(2):
                first_inside.set()
                assert second_inside.wait(10)
            first_left.set()

        def second() -> None:
            assert first_inside.wait(10)
            with blas_threads(1):
                second_inside.set()
                assert first_left.wait(10)
                seen["after the first left"] = counts()
            seen["after both left"] = counts()

        threads = [threading.Thread(target=run) for run in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(seen["after the first left"]) == {1}
        assert set(seen["after both left"]) == {3}

    def test_many_threads_that_come_and_go(self) -> None:
        wrong: list[list[int]] = []

        def run() -> None:
            for k in range(40):
                try:
                    with blas_threads(k % 3 + 1):
                        if set(counts()) != {1}:
                            wrong.append(counts())
                        if k % 7 == 0:
                            raise ValueError
                except ValueError:
                    pass

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert set(counts()) == {3}

    def test_a_lower_limit_of_the_user_stays(self) -> None:
        with threadpool_limits(1, user_api="blas"):
            with blas_threads(4):
                assert workers(8) == 1
                assert set(counts()) == {1}
            assert set(counts()) == {1}

    def test_pieces_have_as_many_threads_as_were_asked_for_but_no_more_than_a_blas_may_have(self) -> None:
        assert workers(2) == 2
        assert workers(8) == 3
        with blas_threads(2):
            assert workers(8) == 2
            with blas_threads():
                assert workers(8) == 2
            with blas_threads(16):
                assert workers(8) == 3
        assert workers(8) == 3

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
    def test_a_forked_child_has_the_old_number(self) -> None:
        entered, done = threading.Event(), threading.Event()

        def fit() -> None:
            with blas_threads():
                entered.set()
                done.wait(10)

        thread = threading.Thread(target=fit)
        thread.start()
        assert entered.wait(10)
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads, which is what is tested
            child = os.fork()
        if child == 0:
            with blas_threads():
                inside = set(counts())
            os._exit(0 if inside == {1} and set(counts()) == {3} else 1)
        done.set()
        thread.join()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="this system does not tell what each thread did")
def test_no_thread_of_a_blas_works_in_any_learner() -> None:
    """Each learner runs in a process whose BLAS have two threads; the time that their helpers worked is 0."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    program = [sys.executable, "-W", "ignore", str(HERE / "blas_at_work.py")]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
    worked = json.loads(done.stdout)
    if worked.pop("a product outside of the package") == 0:
        pytest.skip("the BLAS of this system has no threads of its own")
    assert len(worked) > 10
    assert {name: time for name, time in worked.items() if time > 0} == {}
