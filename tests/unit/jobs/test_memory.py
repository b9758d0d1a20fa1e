"""Amounts of memory: as callers write them, and what a process may use."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import espalier as es
from espalier.jobs import memory
from espalier.jobs.memory import parse_memory, usable_memory

GIB = 2**30


@pytest.mark.parametrize(
    ("given", "n_bytes"),
    [(1, 1), (np.int64(12), 12), (np.uint8(7), 7), (3.0, 3), (np.float64(2e9), 2_000_000_000), ("0.5 KiB", 512)],
)
def test_memory_takes_whole_numbers_of_every_kind(given, n_bytes) -> None:
    assert parse_memory(given) == n_bytes
    assert type(parse_memory(given)) is int


@pytest.mark.parametrize(
    "given", [0.5, 0, -1, 1.5, float("inf"), float("nan"), np.float64(0.1), "0.2", "0", "a lot", ""]
)
def test_memory_that_is_no_positive_whole_number_is_refused(given) -> None:
    with pytest.raises(ValueError, match="memory must be a positive whole number of bytes"):
        es.SubsetTree()(["(S a)"], memory=given)


@pytest.mark.parametrize("given", [True, False, np.True_, [5], 1j])
def test_memory_of_another_type_is_refused(given) -> None:
    with pytest.raises(TypeError, match="memory must be a positive whole number of bytes"):
        es.SubsetTree()(["(S a)"], memory=given)


def test_memory_beyond_any_machine_is_taken() -> None:
    assert es.SubsetTree()(["(S (A a))"], memory=10**400).tolist() == es.SubsetTree()(["(S (A a))"]).tolist()


def system(root: Path, groups: str, files: dict[str, str]) -> Path:
    """A folder that looks like the root of a system."""
    for name, text in {
        "proc/self/cgroup": groups,
        **{f"sys/fs/cgroup/{name}": text for name, text in files.items()},
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("groups", "files"),
    [
        ("0::/user/job\n", {"user/job/memory.max": f"{GIB}\n", "user/memory.max": "max\n"}),
        ("0::/user/job\n", {"user/job/memory.max": "max\n", "user/memory.max": f"{GIB}\n"}),
        ("0::/of/the/host\n", {"memory.max": f"{GIB}\n"}),
        ("9:cpu:/\n4:hugetlb,memory:/job\n0::/\n", {"memory/job/memory.limit_in_bytes": f"{GIB}\n"}),
        ("4:memory:/job\n", {"memory/memory.limit_in_bytes": f"{GIB}\n", "memory.max": "1\n"}),
    ],
)
def test_limits_of_control_groups_count(tmp_path, monkeypatch, groups, files) -> None:
    monkeypatch.setattr(memory.os, "sysconf", lambda name: 2**20)
    monkeypatch.setattr(memory, "_limits_of_process", lambda: iter(()))
    assert usable_memory(system(tmp_path, groups, files)) == GIB


def test_control_groups_are_read_once_a_second(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(memory.os, "sysconf", lambda name: 2**20)
    monkeypatch.setattr(memory, "_limits_of_process", lambda: iter(()))
    monkeypatch.setattr(time, "monotonic", lambda: 7.0)
    root = system(tmp_path, "0::/job\n", {"job/memory.max": str(GIB)})
    assert usable_memory(root) == GIB
    (root / "sys/fs/cgroup/job/memory.max").write_text(str(2 * GIB))
    assert usable_memory(root) == GIB
    monkeypatch.setattr(time, "monotonic", lambda: 8.0)
    assert usable_memory(root) == 2 * GIB


def test_without_control_groups_the_machine_counts(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(memory.os, "sysconf", lambda name: 2**20)
    monkeypatch.setattr(memory, "_limits_of_process", lambda: iter(()))
    assert usable_memory(tmp_path) == 2**40


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_limits_of_the_process_count(kind) -> None:
    code = f"""
import resource
from espalier.jobs.memory import parse_memory
resource.setrlimit(resource.{kind}, (8 * 2**30, resource.RLIM_INFINITY))
print(parse_memory(None))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) <= 2 * GIB
