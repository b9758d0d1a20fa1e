"""Ctrl-C in a process that selects features or learns on them: what it has done so far is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from interruptions import Interruptible

TESTS = Path(__file__).parents[2]
# Each would take hours, and is interrupted after some passes. What it has kept must be that of fewer passes.
SETUP = (
    f"import sys; sys.path.append({str(TESTS)!r})"
    + """
import espalier as es
from candidate_groups import dependency_groups
groups = dependency_groups(0, 300)
kernel = es.DependencySubtree(("words", "tags", "head tag, word"), root=True)

def selector(n):
    return es.KernelSpaceSelector(kernel, C=1.0, tolerance=0.0, max_passes=n, max_order=3)

def reranker(n):
    return es.FeatureReranker(selector(2).fit(groups), epochs=n)

def whole(selector, n):
    return list(selector(n).fit(groups).features_)

reranker(1).fit(groups)  # imports what a fit needs
"""
)
SELECTOR = """
model = selector(10**6)
try:
    model.fit(groups)
finally:
    assert len(model.history_) > 0, "no pass was made"
    assert list(model.features_) == whole(selector, len(model.history_)), "other features"
"""
RERANKER = """
try:
    model.fit(groups)
finally:
    assert len(model.n_mistakes_) > 1, "no epoch was made"
    again = reranker(model.epoch_).fit(groups)
    assert list(model.features_) == list(again.features_), "other weights"
    assert model.score_weight_ == again.score_weight_
    assert model.predict(groups) == again.predict(groups)
"""
INNER = """
model = es.FeatureReranker(selector(10**6))
try:
    model.fit(groups)
finally:
    assert len(model.selector_.features_) > 0 and not hasattr(model, "features_")
    assert len(model.set_params(features=model.selector_, epochs=1).fit(groups).features_) > 0
"""


@pytest.fixture(scope="module")
def child() -> Iterator[Interruptible]:
    own = Interruptible()
    yield own
    own.close()


@pytest.mark.parametrize(
    ("setup", "call"),
    [("", SELECTOR), ("model = reranker(10**6)", RERANKER), ("", INNER)],
    ids=["selector", "reranker", "selector of a reranker"],
)
def test_what_was_done_before_an_interruption_is_kept(child: Interruptible, setup: str, call: str) -> None:
    assert child.interrupt(SETUP + setup, call, after=1.5) == "interrupted"
