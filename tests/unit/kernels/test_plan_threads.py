"""One plan, used from several Python threads at once, or after a fork."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from espalier.kernels.partial_tree import PartialTree
from espalier.kernels.subset_tree import SubsetTree


@pytest.mark.parametrize("kind", [SubsetTree, PartialTree])
def test_a_plan_serves_several_threads(data, kind) -> None:
    trees = (data / "questionbank" / "trees.txt").read_text("utf-8").splitlines()[:200]
    kernels = [kind(decay=0.1 + 0.05 * k) for k in range(8)]
    plan = kernels[0].plan(trees, n_threads=2)
    alone = [plan.matrix(kernel) for kernel in kernels]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(plan.matrix, kernels))
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one, other)


FORK = """
import os, random, sys, threading, warnings
import espalier as es
warnings.simplefilter("ignore", DeprecationWarning)  # of forking while there are threads: that is the point
rng = random.Random(1)
def tree(depth):
    return "(A w%d)" % rng.randrange(9) if depth == 0 else "(A %s %s)" % (tree(depth - 1), tree(depth - 1))
parent, inside, leave = os.getpid(), threading.Event(), threading.Event()
def progress(fraction):
    if os.getpid() == parent:
        inside.set()
        leave.wait()
kernel = es.{kind}(.1)
plan = kernel.plan([tree(6) for _ in range({n})], n_threads=1, progress=progress)
thread = threading.Thread(target=plan.matrix, args=(kernel,))
thread.start()
assert inside.wait(60)
child = os.fork()
if child == 0:
    os._exit(0 if plan.matrix(kernel).shape == ({n}, {n}) else 1)
_, status = os.waitpid(child, 0)
leave.set()
thread.join()
assert plan.matrix(kernel).shape == ({n}, {n})
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize(("kind", "n"), [("SubsetTree", 300), ("PartialTree", 80)])
def test_a_child_that_was_forked_while_a_thread_was_inside_a_plan_can_use_it(kind, n) -> None:
    run = subprocess.run(
        [sys.executable, "-c", FORK.format(kind=kind, n=n)], timeout=120, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
