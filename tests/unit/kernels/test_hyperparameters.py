"""What may be declared on a hyperparameter, and what is said of what may not."""

from __future__ import annotations

import math

import numpy as np
import pytest

import espalier as es
from espalier import Learned, PerDimension, PerLabel, fixed

BAD_BOUNDS = [0.3, (0.3,), "ab", (0.1, 0.2, 0.3), (0.5, 0.1), (0.1, math.nan), ("a", "b"), (None, 1), (1.0, 1.0), ()]


@pytest.mark.parametrize("bounds", BAD_BOUNDS, ids=repr)
def test_bounds_are_two_numbers(bounds):
    with pytest.raises(ValueError, match=r"bounds must be \(low, high\)"):
        Learned(0.4, bounds=bounds)


def test_bounds_below_zero_are_for_signed_numbers_only():
    signed = Learned(0.5, bounds=(-1, 1))
    assert signed.bounds == (-1.0, 1.0)
    for make in (
        lambda: es.SubsetTree(signed),
        lambda: es.SubsetTree(PerLabel(signed)),
        lambda: es.RBF(PerDimension(signed)),
        lambda: signed * es.SubsetTree(),
    ):
        with pytest.raises(ValueError, match=r"bounds of \w+ must not be below 0, got \(-1.0, 1.0\)"):
            make()
    with pytest.raises(ValueError, match="bounds of noise must not be below 0"):
        es.GPRegressor(es.RBF(), noise=signed).fit([[1.0], [2.0]], [1.0, 2.0])


def test_bounds_may_be_any_numbers():
    for bounds in ((0, 1), [0.0, 1.0], np.array([0.1, 0.5]), (np.float32(0), math.inf)):
        assert Learned(0.4, bounds=bounds).bounds == tuple(map(float, bounds))
    with pytest.raises(ValueError, match=r"The value 0.4 lies outside its bounds \(0.5, 1.0\)"):
        Learned(0.4, bounds=(0.5, 1))
    with pytest.raises(ValueError, match="lies outside its bounds"):
        Learned(np.float32(0.4), bounds=(0.5, 1))


@pytest.mark.parametrize("value", [fixed(0.2), Learned(0.2), "small", None, True], ids=repr)
def test_single_labels_take_plain_numbers_and_the_message_says_so(value):
    with pytest.raises(TypeError, match=r"values\['A'\] of PerLabel must be a plain number, got .*PerLabel\(fixed"):
        es.SubsetTree(PerLabel(0.4, values={"A": value}))
    assert es.SubsetTree(PerLabel(0.4, values={"A": np.float32(0.5)})).parameters()["decay[A]"] == 0.5


def test_groups_are_lists_of_labels():
    with pytest.raises(ValueError, match=r"group 'g' must list its labels, \['AB'\], got 'AB'"):
        PerLabel(0.4, groups={"g": "AB"})
    assert PerLabel(0.4, groups={"g": ("A", "B")}).groups == (("g", ("A", "B")),)


def test_a_value_for_a_label_of_a_group_is_an_error_that_names_both():
    message = r"gives 0.2 for the label 'NP', which is in the group 'g'.*values=\{'g': 0.2\}.*take 'NP' out"
    with pytest.raises(ValueError, match=message):
        PerLabel(0.4, groups={"g": ["NP"]}, values={"NP": 0.2})
    with pytest.raises(ValueError, match=message):
        es.SubsetTree(PerLabel(0.4, groups={"g": ["NP"]})).with_parameters({"decay[NP]": 0.2})
    own_name = PerLabel(0.4, groups={"NP": ["NP", "NX"]}, values={"NP": 0.2})
    trees = ["(S (NP a) (NX b))"]
    assert es.SubsetTree(own_name)(trees) == es.SubsetTree(PerLabel(0.4, values={"NP": 0.2, "NX": 0.2}))(trees)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"groups": {"g": ["A", "A"]}}, ValueError, "label 'A' is listed twice in the group 'g'"),
        ({"groups": {"a": ["b"], "b": ["c"]}}, ValueError, "group 'b' has the name of a label of the group 'a'"),
        ({"groups": {"g": 3}}, TypeError, "group 'g' must list its labels, got 3"),
        ({"groups": {"g": [3]}}, TypeError, "label of the group 'g' must be a text, got 3 of int"),
        ({"groups": ["A", "B"]}, TypeError, "groups of PerLabel must be a dict by name"),
        ({"groups": {1: ["A"]}}, TypeError, "name in groups of PerLabel must be a text, got 1"),
        ({"values": {1: 0.2, "A": 0.2}}, TypeError, "name in values of PerLabel must be a text, got 1"),
        ({"values": [0.2, 0.3]}, TypeError, r"values of PerLabel must be a dict by name, got \[0.2, 0.3\]"),
    ],
)
def test_what_is_no_group_or_value_by_name_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        PerLabel(0.4, **arguments)


def test_one_number_for_dimensions_that_all_have_their_own_is_an_unknown_path():
    for kernel, path in (
        (es.Subsequence(2), "order_weights"),
        (es.WeisfeilerLehman(1), "iteration_weights"),
        (es.RBF(PerDimension(1.0, values=(0.5, 2.0))), "lengthscale"),
    ):
        with pytest.raises(KeyError, match=rf"'{path}' is not a learned hyperparameter of this kernel.*{path}\[0\]"):
            kernel.with_parameters({path: 2.0})
    assert es.RBF(PerDimension(1.0)).with_parameters({"lengthscale": 2.0}) == es.RBF(PerDimension(2.0))
