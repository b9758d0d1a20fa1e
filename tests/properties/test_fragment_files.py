"""Saved vectorizers and classifiers, damaged: one clear error, or something that works; never a crash.

The compiled core trusts the arrays of a file, so whatever loads is used. Files are changed in three ways: as bytes, in
the numbers of their arrays, and in the values of their header. ``ESPALIER_FUZZ_SECONDS`` lets each go on for so many
seconds: ``make fuzz`` and ``make sanitize`` do.
"""

from __future__ import annotations

import copy
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.properties.test_reader_fuzz import mutate_forest, mutations, tried
from tests.saved_files import joined, split

from espalier.errors import InputError
from espalier.fragments import FragmentVectorizer, LinearizedTreeClassifier
from espalier.kernels import Normalized, PartialTree, PerLabel, SubsetTree, Subtree

pytestmark = pytest.mark.fuzz

TREES = [
    "(S (NP (D the) (N cat)) (VP (V sat)))",
    "(S (NP (D a) (N dog)) (VP (V sat) (R there)))",
    "(S (VP (V run) (R there)))",
    "(S (NP (N cat)) (VP (V is) (NP (D a) (N cat))))",
]
NEW = [*TREES, "(S (NP (D the) (X y)) (VP (V run)))", "(a)"]
KERNELS = {
    "one kernel": Normalized(SubsetTree(PerLabel(0.3, values={"S": 0.5}))),
    "a sum": 2.0 * SubsetTree(0.3, 0.5) + Normalized(Subtree(0.4, lone_leaves=True) + PartialTree(0.2)),
}
NUMBERS = [-1, 0, 1, 2, 3, 5, 100, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]
VALUES = [
    *(None, True, -1, 0, 1, 2, 10**400, 0.5, float("nan"), float("inf"), "", "S", "kernel", "binary", "str", "int64"),
    *([], {}, [[]], ["S"], [0, 1], ["a", "b"], "SubsetTree()", "PartialTree(1e300)", "Normalized(Subtree())", "RBF()"),
    *("SubsetTree(on='x')", "SubsetTree(decay=1e308)", "SubsetTree() * SubsetTree()", "((((", "\0", "\ud800"),
]


def mutate_arrays(data: bytes, rng: random.Random) -> bytes:
    """Change numbers, lengths, shapes and types of arrays, and their names."""
    header, arrays = split(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        name = rng.choice(sorted(arrays))
        array = arrays[name].copy()
        change = rng.randrange(10)
        if change < 5 and array.size:
            limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
            value = rng.choice(NUMBERS + array.ravel()[:20].tolist())
            array.flat[rng.randrange(array.size)] = value if limits is None else max(limits.min, min(limits.max, value))
        elif change == 5:
            array = array[: rng.randint(0, len(array))]
        elif change == 6:
            array = np.concatenate([array, array[-rng.randint(1, 3) :]])
        elif change == 7:
            array = array[None] if rng.random() < 0.5 else array.ravel()
        elif change == 8:
            # Numbers that the new type does not have become others, as they would in a file.
            with np.errstate(invalid="ignore", over="ignore"):
                array = array.astype(rng.choice(["int32", "int64", "float64", "float32", "bool"]))
        else:
            other = rng.choice(sorted(arrays))
            arrays[name], arrays[other] = arrays[other], arrays[name]
            continue
        arrays[name] = np.ascontiguousarray(array)
    return joined(header, arrays)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """All places inside a value that JSON can hold: containers and keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def mutate_header(data: bytes, rng: random.Random) -> bytes:
    """Replace, remove and exchange values of the header, and characters inside its texts."""
    header, arrays = split(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        found = list(places(header))
        if not found:
            break
        holder, key = rng.choice(found)
        change = rng.randrange(5)
        if change == 0:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
        elif change == 1:
            del holder[key]
        elif change == 2:
            other, there = rng.choice(found)
            holder[key] = copy.deepcopy(other[there])
        elif isinstance(holder[key], str) and holder[key]:
            at = rng.randrange(len(holder[key]))
            text = holder[key]
            holder[key] = text[:at] + rng.choice(["", "0", "9", "(", ")", "-", "e", ".", text[0]]) + text[at + 1 :]
        elif isinstance(holder[key], list):
            holder[key] = holder[key] * 2 if change == 3 else holder[key][::-1]
    return joined(header, arrays)


CHANGES = {"bytes": mutate_forest, "arrays": mutate_arrays, "header": mutate_header}


def test_arrays_of_any_numbers_can_be_changed():
    # A long run changes what it changed before: numbers that no integer holds, then the type.
    wild = {"wild": np.array([np.nan, np.inf, -np.inf, 1e300, -1.0]), "empty": np.zeros((0, 3), np.int32)}
    small = {"small": np.array([[1.5, np.nan]], np.float32), "bytes": np.arange(250, 256, dtype=np.uint8)}
    whole = joined({"format": "any"}, wild | small)
    types = set()
    for seed in range(300):
        header, arrays = split(mutate_arrays(whole, random.Random(seed)))
        assert header == {"format": "any"} and set(arrays) == {*wild, *small}
        types.add(arrays["wild"].dtype.name)
    assert types == {"int32", "int64", "float64", "float32", "bool", "uint8"}  # that of "bytes" by an exchange


def loaded(load: Callable[[Any], Any], path: Path) -> Any:
    """What the file holds, or None after an InputError that names it; any other error fails the test."""
    try:
        return load(path)
    except InputError as error:
        assert str(error).startswith(str(path)), error
        return None


@pytest.mark.filterwarnings("ignore:.*holds partial trees of Espalier 0.1")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_damaged_files_raise_or_work(tmp_path, kernel, change):
    path = tmp_path / "saved"
    model = LinearizedTreeClassifier(KERNELS[kernel], n_fragments=12, max_size=3).fit(TREES, ["a", "b", "c", "b"])
    n_read = 0
    for saved in (model.vectorizer_, model):
        saved.save(path)
        whole = path.read_bytes()
        # Always from the whole file: what was refused once would be refused again for the same reason.
        changed = mutations(whole, seed=6, change=lambda _, rng, whole=whole: CHANGES[change](whole, rng))
        for data in changed:
            path.write_bytes(data)
            found = loaded(type(saved).load, path)
            if found is not None:
                n_read += 1
                use(found, data)
    assert n_read > 0


def use(found: FragmentVectorizer | LinearizedTreeClassifier, data: bytes) -> None:
    """Whatever loads must be sound: the core reads it without a look."""
    vectorizer = found if isinstance(found, FragmentVectorizer) else found.vectorizer_
    vectorizer.n_threads = 1
    vectorizer.get_feature_names_out()
    with warnings.catch_warnings():
        # Large decays overflow, and some trees have no fragment of a kernel: neither is a crash.
        warnings.simplefilter("ignore")
        tried(lambda: vectorizer.transform(NEW), data)
        if isinstance(found, LinearizedTreeClassifier):
            tried(lambda: found.predict(NEW), data)
