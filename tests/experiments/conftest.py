"""Tests of the experiments are left out where their package is not installed; ``test_public_names.py`` says so."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("espalier_experiments") else ["test_[!p]*.py", "test_p[!u]*.py"]
