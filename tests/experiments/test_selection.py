"""Models are chosen by what their fits knew, and records without that are no candidates."""

from __future__ import annotations

import pytest

from espalier_experiments.selection import choose, mean_of, quartiles

RECORDS = [
    {"model": "a", "fold": 0, "evidence": -5.0, "leave_one_out": -1.0, "rmse": 1.0},
    {"model": "b", "fold": 0, "evidence": -4.0, "leave_one_out": -2.0, "rmse": 9.0},
    {"model": "a", "fold": 1, "evidence": -5.0, "leave_one_out": -3.0, "rmse": 2.0},
    {"model": "b", "fold": 1, "evidence": -6.0, "leave_one_out": -1.0, "rmse": 3.0},
    {"model": "baseline", "fold": 1, "rmse": 0.0},
]


def chosen(by, **options) -> list[str]:
    return [record["model"] for record in choose(RECORDS, within=("fold",), by=by, **options)]


def test_each_fold_has_its_own_choice():
    assert chosen("evidence") == ["b", "a"]
    assert chosen("leave_one_out") == ["a", "b"]
    assert chosen("evidence", among=["a"]) == ["a", "a"]


def test_the_choice_does_not_look_at_errors_or_at_the_order():
    blind = [{**record, "rmse": -record["rmse"]} for record in reversed(RECORDS)]
    assert [r["model"] for r in choose(blind, within=("fold",), by="evidence")] == chosen("evidence")


def test_means_need_every_record():
    assert mean_of(RECORDS, "rmse") == 3.0
    assert mean_of(RECORDS, "evidence") is None
    assert mean_of([], "rmse") is None


def test_quartiles():
    assert quartiles([1.0, 2.0, 3.0, 4.0, 5.0]) == (2.0, 3.0, 4.0)
    with pytest.raises(ValueError, match="Quartiles of nothing"):
        quartiles([])
