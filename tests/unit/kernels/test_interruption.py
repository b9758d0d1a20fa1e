"""Long calls of the compiled core answer Ctrl-C, also in the middle of one pair, one tree or one text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.interruptions import Interruptible

IMPORTS = "import numpy as np; import espalier as es; from espalier import _core\n"
SEQUENCES = """
items = [" ".join(f"w{(k * k) % 17 + i}" for k in range(3_000)) for i in range(120)]
kernel = es.Subsequence(4, match_decay=.01)
"""
SOFT = """
words = [f"w{k}" for k in range(20)]
similarity = es.kernels.SimilarityTable(words, .5 * np.eye(20) + .5)
items = [" ".join(f"w{(k * k + i) % 20}" for k in range(3_000)) for i in range(120)]
kernel = es.Subsequence(4, match_decay=.01, similarity=similarity)
"""
ARCS = """
n = 4_000
tree = es.DependencyTree([f"w{k % 5}" for k in range(n)], ["T"] * n, [0, *range(1, n)], ["root", *["r"] * (n - 1)])
items = [tree] * 120
kernel = es.DependencySubtree(decay=.01)
"""
TAGS = """
kernel = es.Tagging(1e-9)
items = [es.TaggedSequence(["w"] * {0}, ["X"] * {0})] * {1}
"""
GAPS = "kernel = es.Tagging(1e-9, gap_decay=.5)\n"
PULL_BACK = """
plan = kernel.plan(items, n_threads=1)
cotangent = np.ones(plan.shape)
"""
# Many subtrees of one production, all different.
BUSH = """
import random
rng = random.Random(1)
def bush(depth):
    return "(A w%d)" % rng.randrange(99) if depth == 0 else "(A %s %s)" % (bush(depth - 1), bush(depth - 1))
forest = es.Forest.from_trees([bush({0}) for _ in range({1})])
"""
COMPRESSED = """
from espalier.rerank.compressed import CompressedModel
model = CompressedModel(es.SubsetTree(.01), forest)
for row in range(len(forest)):
    model.add(forest, row, 1.)
"""
TEXT = """text = "(S " + " ".join(f"(X (Y a{k}))" for k in range(400_000)) + ")"\n"""

# What is made ready, and a call that takes minutes.
CALLS = {
    "one pair of tagged sequences": (TAGS.format(300_000, 1), "kernel(items)"),
    "gradients of tagged sequences": (TAGS.format(3_000, 300) + PULL_BACK, "plan._pull_back(kernel, cotangent)"),
    "one pair of tagged sequences with gaps": (TAGS.format(300_000, 1) + GAPS, "kernel(items)"),
    "gradients of tagged sequences with gaps": (
        TAGS.format(3_000, 300) + GAPS + PULL_BACK,
        "plan._pull_back(kernel, cotangent)",
    ),
    "pairs of long sequences": (SEQUENCES, "kernel(items, n_threads=1)"),
    "gradients of long sequences": (SEQUENCES + PULL_BACK, "plan._pull_back(kernel, cotangent)"),
    "pairs of long sequences with soft matching": (SOFT, "kernel(items, n_threads=1)"),
    "gradients of sequences with soft matching": (SOFT + PULL_BACK, "plan._pull_back(kernel, cotangent)"),
    "pairs of long dependency trees": (ARCS, "kernel(items, n_threads=1)"),
    "gradients of long dependency trees": (ARCS + PULL_BACK, "plan._pull_back(kernel, cotangent)"),
    "trees with themselves": (
        BUSH.format(9, 200),
        "[es.SubsetTree(.01).diagonal(forest, n_threads=1) for _ in range(100)]",
    ),
    "scores of a compressed model": (
        BUSH.format(6, 1_000) + COMPRESSED,
        "model(forest)",
    ),
    "one long text interned": (TEXT, "_core.Interner(_core.Vocabulary()).add_text(text * 40)"),
    "one long text read": (TEXT, "_core.parse_brackets(text * 40)"),
}


@pytest.fixture(scope="module")
def child() -> Iterator[Interruptible]:
    child = Interruptible()
    yield child
    child.close()


@pytest.mark.parametrize("name", CALLS)
def test_a_long_call_answers_an_interruption(name: str, child: Interruptible) -> None:
    setup, call = CALLS[name]
    assert child.interrupt(IMPORTS + setup, call) == "interrupted"


def test_other_threads_run_while_a_compressed_model_scores(child: Interruptible) -> None:
    threads = """
import threading
scoring = threading.Thread(target=model, args=(forest,), daemon=True)
scoring.start()
"""
    # The main thread of the child can say that it is ready only if scoring lets it run.
    setup = IMPORTS + BUSH.format(6, 1_000) + COMPRESSED + threads
    assert child.interrupt(setup, "threading.Event().wait()") == "interrupted"
    child.close()
