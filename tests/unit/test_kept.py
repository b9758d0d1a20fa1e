"""Values that are computed once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import espalier
from espalier.kept import kept


class Counted:
    def __init__(self) -> None:
        self.n_computed = 0

    @kept
    def value(self) -> int:
        """How often this was computed."""
        self.n_computed += 1
        return self.n_computed


def test_a_value_is_computed_once_for_each_object_and_again_where_it_was_dropped():
    one, other = Counted(), Counted()
    assert one.value == one.value == 1 and one.n_computed == 1
    assert other.n_computed == 0 and other.value == 1
    del one.__dict__["value"]
    assert one.value == 2
    assert isinstance(Counted.value, kept) and Counted.value.__doc__ == "How often this was computed."


FORK = """
import os, sys, threading, warnings
from espalier.kept import kept
warnings.simplefilter("ignore", DeprecationWarning)  # of forking while there are threads: that is the point
inside, leave = threading.Event(), threading.Event()
class Slow:
    wait = False
    @kept
    def value(self):
        if self.wait:
            inside.set()
            leave.wait()
        return 1
slow = Slow()
slow.wait = True
thread = threading.Thread(target=lambda: slow.value)
thread.start()
assert inside.wait(60)
child = os.fork()
if child == 0:
    os._exit(0 if Slow().value == 1 else 1)
_, status = os.waitpid(child, 0)
leave.set()
thread.join()
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_that_was_forked_while_a_thread_computed_a_value_computes_others():
    run = subprocess.run([sys.executable, "-c", FORK], timeout=60, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_no_value_is_kept_behind_the_lock_of_functools():
    folder = Path(espalier.__file__).parent
    users = [
        path.name for path in folder.rglob("*.py") if path.name != "kept.py" and "cached_property" in path.read_text()
    ]
    assert not users
