"""Tests that run side by side leave the cores to each other."""

from __future__ import annotations

import os

import numpy  # noqa: F401  its BLAS is looked at
import pytest
import sklearn.svm  # noqa: F401  and that of scipy
import threadpoolctl


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="this is no worker of pytest-xdist")
def test_a_worker_has_one_thread_of_blas():
    pools = threadpoolctl.threadpool_info()
    assert pools and {pool["num_threads"] for pool in pools} == {1}
