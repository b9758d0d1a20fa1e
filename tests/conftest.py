"""Fixtures that every test folder shares, and the number of threads in each worker."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:
    # There is a worker for each core already: threads of BLAS and OpenMP would only wait for each other. Both read
    # this once, when numpy and scikit-learn are imported, which no plugin does.
    os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

ROOT = Path(__file__).resolve().parent.parent
collect_ignore = ["unit/blas_at_work.py"]  # a program that a test runs: to look for doctests is to run it


def pytest_collection_finish() -> None:
    """Let the garbage collector look seldom, and never at modules: tests make millions of trees and little garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


@pytest.fixture(scope="session", autouse=True)
def _all_threads_join_at_once() -> None:
    """Small calls leave threads alone; tests of threads are small and want them at once."""
    from espalier import _core

    _core.set_patience(0)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the research data sets, which are not part of the project."""
    folder = (ROOT / os.environ.get("ESPALIER_DATA", "../shared/data")).resolve()
    if not folder.is_dir():
        pytest.skip(f"no data at {folder}; set ESPALIER_DATA to the folder that holds it")
    return folder
