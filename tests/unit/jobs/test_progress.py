"""Fractions become the one Progress that users are told."""

import pytest

from espalier.jobs import Progress, progress
from espalier.jobs.schedule import Schedule


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    times = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: times[0])
    return times


def test_the_time_left_follows_from_the_pace(clock):
    seen = []
    tell = progress.told_of(seen.append, "folds")
    tell(0.0)
    clock[0] = 3.0
    tell(0.25)
    clock[0] = 8.0
    tell(1.0)
    assert seen == [Progress("folds", 0.0, None), Progress("folds", 0.25, 9.0), Progress("folds", 1.0, 0.0)]


def test_a_plan_that_is_evaluated_again_starts_a_new_clock(clock):
    seen = []
    tell = progress.told_of(seen.append, "values")
    tell(1.0)
    clock[0] = 100.0
    tell(0.5)
    clock[0] = 101.0
    tell(0.75)
    assert [told.seconds_left for told in seen] == [0.0, None, 1.0]


def test_parts_report_to_the_whole():
    seen = []
    whole = Schedule.of(1, None, seen.append, what="search")
    second = whole.part(1, 2)
    inner = Schedule.of(1, None, second.report)  # as a public function that computes this part does
    inner.part(0, 2).done()
    inner.done()
    assert [(told.what, told.fraction) for told in seen] == [("search", 0.75), ("search", 1.0)]


def test_nobody_is_told_where_nobody_asks():
    schedule = Schedule.of(1)
    schedule.part(1, 2).done()
    assert schedule.tell is None
    assert schedule.report is None


def test_progress_is_a_number_too():
    assert float(Progress("folds", 0.25)) == 0.25


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="progress must be a function that takes a Progress, or None, got 3"):
        Schedule.of(1, None, 3)


def test_reports_have_the_detail_that_was_said_last():
    seen = []
    schedule = Schedule.of(1, None, seen.append, what="fit")
    schedule.done(0.25)
    part = schedule.part(1, 2)
    part.saying("part 2 of 2").say("order 1")
    part.done()
    part.say("order 2")
    schedule.done()
    assert [told.detail for told in seen] == ["", "part 2 of 2, order 1", "order 2"]
    silent = schedule.of_job()
    silent.say("nothing")
    silent.saying("more").say("nothing")
    assert len(seen) == 3
