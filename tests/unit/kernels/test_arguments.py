"""Arguments of kernels by name, as grid searches set them."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es
from espalier import Learned, PerDimension, PerLabel, fixed
from espalier.kernels.arguments import arguments_of, with_arguments

SUM = es.SubsetTree(0.3, on="a") + 2.0 * es.Normalized(es.Subsequence(3, on="b"))

CASES = [
    (es.SubsetTree(), {"decay": 0.2}, es.SubsetTree(0.2)),
    (es.SubsetTree(), {"decay": np.float64(0.2), "max_depth": 3}, es.SubsetTree(0.2, max_depth=3)),
    (es.SubsetTree(fixed(0.4)), {"decay": 0.2}, es.SubsetTree(fixed(0.2))),
    (es.SubsetTree(fixed(0.4)), {"decay": PerLabel(0.2)}, es.SubsetTree(PerLabel(0.2))),
    (es.SubsetTree(Learned(0.4, (0.1, 0.9))), {"decay": 0.2}, es.SubsetTree(Learned(0.2, (0.1, 0.9)))),
    (es.SubsetTree(PerLabel(fixed(0.4))), {"decay": 0.2}, es.SubsetTree(PerLabel(fixed(0.2)))),
    (
        es.SubsetTree(PerLabel(0.4, values={"NP": 0.5})),
        {"decay": 0.2, "decay[NP]": 0.6},
        es.SubsetTree(PerLabel(0.2, values={"NP": 0.6})),
    ),
    (es.Normalized(es.PartialTree()), {"depth_decay": 0.2}, es.Normalized(es.PartialTree(depth_decay=0.2))),
    (SUM, {"terms[0].decay": 0.2, "terms[1].scale": 3.0}, es.SubsetTree(0.2, on="a") + 3.0 * SUM.terms[1].kernel),
    (es.Subsequence(4), {"length": 2}, es.Subsequence(2)),
    (es.Subsequence(4, order_weights=0.5), {"length": 2}, es.Subsequence(2, order_weights=0.5)),
    (es.Subsequence(4, order_weights=Learned(0.5)), {"length": 2}, es.Subsequence(2, order_weights=Learned(0.5))),
    (es.Subsequence(2, order_weights=(1.0, 0.5)), {"order_weights": 0.25}, es.Subsequence(2, order_weights=0.25)),
    (es.Subsequence(2), {"length": 3, "order_weights": (1, 2, 3)}, es.Subsequence(3, order_weights=(1, 2, 3))),
    (es.WeisfeilerLehman(3), {"iterations": 1}, es.WeisfeilerLehman(1)),
    (es.RBF(PerDimension(1.0)), {"lengthscale": 2.0}, es.RBF(PerDimension(2.0))),
    (es.kernels.Scaled(es.kernels.Scaled(es.RBF(), 2.0), 3.0), {"scale": 5.0, "kernel.scale": 7.0}, None),
]


@pytest.mark.parametrize(("kernel", "changes", "expected"), CASES, ids=lambda value: repr(value)[:60])
def test_arguments_are_replaced_by_name(kernel, changes, expected):
    before = repr(kernel)
    changed = with_arguments(kernel, changes)
    assert expected is None or changed == expected
    assert repr(kernel) == before
    found = arguments_of(changed)
    assert set(changes) <= set(found)
    for name, value in changes.items():
        assert repr(found[name]) in (repr(value), f"fixed({value!r})") or expected is not None
    assert with_arguments(changed, arguments_of(changed)) == changed


def test_numbers_at_any_depth_have_the_names_of_parameters():
    assert set(SUM.parameters()) <= set(arguments_of(SUM))
    for path in SUM.parameters():
        if "order_weights" not in path:
            assert with_arguments(SUM, {path: 0.25}) == SUM.with_parameters({path: 0.25})


def test_a_wrong_name_lists_the_right_ones():
    with pytest.raises(ValueError, match=r"Invalid parameter 'deacy' for kernel SubsetTree\(\). Valid .*'max_depth'"):
        with_arguments(es.SubsetTree(), {"deacy": 0.2})
    with pytest.raises(ValueError, match=r"Invalid parameter 'decay'.*'terms\[0\]\.decay'"):
        with_arguments(SUM, {"decay": 0.2})
