"""Results do not change unnoticed: values and gradients stay what they were when they were checked."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

SPEC = importlib.util.spec_from_file_location("golden_make", Path(__file__).with_name("make.py"))
MAKE = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(MAKE)
GOLDEN = json.loads(MAKE.PATH.read_text("utf-8"))


@pytest.fixture(scope="module")
def computed():
    return MAKE.compute()


def test_every_kernel_has_golden_values(computed) -> None:
    assert sorted(computed) == sorted(GOLDEN)


@pytest.mark.parametrize("name", GOLDEN)
def test_values_are_what_they_were(computed, name) -> None:
    was, now = GOLDEN[name], computed[name]
    np.testing.assert_allclose(now["matrix"], was["matrix"], rtol=1e-12, atol=1e-300)
    assert now["sum over questions"] == pytest.approx(was["sum over questions"], rel=1e-12)
    assert sorted(now["gradients"]) == sorted(was["gradients"])
    for path, slope in was["gradients"].items():
        assert now["gradients"][path] == pytest.approx(slope, rel=1e-9, abs=1e-9)
