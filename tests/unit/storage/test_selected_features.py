"""Selected features in files: whatever the compiled core could stumble over is refused when the file is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.saved_files import rewrite

import espalier as es
from candidate_groups import dependency_groups, groups_of, tagged_groups
from espalier import _core
from espalier.errors import InputError
from espalier.kernels import DependencySubtree, Polynomial, Spectrum, SubsetTree, Tagging
from espalier.rerank import FeatureReranker
from espalier.selection import KernelSpaceSelector
from espalier.spaces.feature_tries import check_keys, orders_of
from espalier.spaces.grown import ARCS, PRODUCTIONS, SEQUENCES, SETS

TEMPLATES = ("words", "tags, length, direction")
ROWS = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 1, 1]] * 8)
SELECTORS: dict[str, Any] = {
    "arcs": lambda: KernelSpaceSelector(DependencySubtree(TEMPLATES), C=1.0, max_passes=2).fit(dependency_groups(0)),
    "fragments": lambda: KernelSpaceSelector(SubsetTree(), C=2.0, max_passes=2).fit(groups_of(0)),
    "tagging": lambda: KernelSpaceSelector(Tagging(), C=2.0, max_passes=2).fit(tagged_groups(0)),
    "sets": lambda: KernelSpaceSelector(Polynomial(2), C=2.0, max_passes=2).fit(ROWS, [1, 0, 0, 1] * 8),
    "n-grams": lambda: KernelSpaceSelector(Spectrum(2), C=2.0, max_passes=2).fit(["a b", "b a"] * 4, [0, 1] * 4),
    "columns": lambda: KernelSpaceSelector(Polynomial(2, on="x"), C=2.0, max_passes=2).fit(
        {"x": ROWS}, [1, 0, 0, 1] * 8
    ),
}
KERNELS = {"arcs": "DependencySubtree", "fragments": "SubsetTree", "tagging": "Tagging", "sets": "Polynomial"}
KERNELS |= {"n-grams": "Spectrum"}


def key(parent: int, place: int, atom: int) -> int:
    return parent << 30 | place << 24 | atom


def extended(arrays: dict[str, Any], *keys: int) -> None:
    """Add features at the end."""
    arrays["features.keys"] = np.concatenate([arrays["features.keys"], np.array(keys, np.uint64)])


def chain(arrays: dict[str, Any], length: int, place: int = 1) -> None:
    """A path of atoms, each below the one before."""
    n = len(arrays["features.keys"])
    extended(arrays, *(key(n + k if k else 1, place, 0) for k in range(length)))


def put(name: str, row: int, value: Any) -> Any:
    return lambda s, a: a[f"features.{name}"].__setitem__(row, value)


def texts(change: Any) -> Any:
    return lambda s, a: change(s["features"]["texts"])


def without_length(codes: Any) -> None:
    """Change the first atom of a template that tells the length."""
    codes[int(np.searchsorted(codes, np.uint64(1 << 56)))] = 1 << 56 | 1 << 13 | 1


CHANGES = [
    ("arcs", put("keys", 0, key(1, 0, 0)), "comes before what it grows from"),
    ("arcs", put("keys", 0, key(1 << 33, 0, 0)), "comes before what it grows from"),
    ("arcs", lambda s, a: a.update({"features.keys": a["features.keys"][::-1].copy()}), "comes before|grows from"),
    ("arcs", put("keys", 0, key(0, 0, (1 << 24) - 1)), "an atom is out of range"),
    ("arcs", put("keys", 0, key(0, 1, 0)), "only the first atom of a feature has no place"),
    ("arcs", lambda s, a: extended(a, key(1, 0, 0)), "only the first atom of a feature has no place"),
    ("arcs", lambda s, a: extended(a, key(1, 3, 0)), "a place is deeper than the one before it allows"),
    ("arcs", lambda s, a: extended(a, key(1, 63, 0)), "a place is deeper than the one before it allows"),
    ("arcs", lambda s, a: extended(a, int(a["features.keys"][-1])), "a feature is listed twice"),
    ("arcs", lambda s, a: chain(a, _core.MOST_ORDER), "a feature has more than 8 atoms"),
    ("arcs", lambda s, a: chain(a, 1000), "a feature has more than 8 atoms"),
    ("sets", lambda s, a: extended(a, key(1, 2, 0)), "sets and sequences have no depth"),
    ("tagging", lambda s, a: extended(a, key(1, 2, 0)), "sets and sequences have no depth"),
    ("fragments", lambda s, a: extended(a, key(1, 1, 0)), "a production must be below the top one"),
    ("arcs", put("node", 0, 0), "a feature is out of range"),
    ("arcs", put("node", 0, 2**32 - 1), "a feature is out of range"),
    ("arcs", put("node", 0, 2), "a feature is listed twice"),
    ("arcs", put("weights", 0, np.nan), "a weight is not a number"),
    ("arcs", lambda s, a: a.update({"features.weights": a["features.weights"][:, :0]}), "do not fit its features"),
    ("arcs", lambda s, a: s["features"].update(names=[]), "its weights do not fit its features"),
    ("arcs", put("codes", 0, 2**64 - 1), "its atoms are not sorted"),
    ("arcs", put("codes", -1, 2 << 56), "an atom is of a template that is not there"),
    ("arcs", lambda s, a: without_length(a["features.codes"]), "an atom has no length"),
    ("arcs", put("codes", -1, (1 << 56 | 7 << 53) + 1), "an atom is of tags that are not there"),
    ("arcs", texts(lambda own: own.update(words=["", "ROOT"])), "an atom is of words that are not there"),
    ("arcs", texts(lambda own: own.pop("relations")), "it lacks relations"),
    ("arcs", lambda s, a: a.update({"features.top": a["features.node"]}), "a subtree has no tops"),
    ("fragments", put("top", 0, 2**32 - 1), "its productions have no tops"),
    ("fragments", lambda s, a: a.update({"features.top": a["features.top"][:0]}), "its productions have no tops"),
    ("fragments", put("codes", 0, 0), "an atom is of productions that are not there"),
    ("fragments", texts(lambda own: own["productions"].pop()), "an atom is of productions that are not there"),
    ("fragments", texts(lambda own: own["productions"].__setitem__(0, "{}")), "a production is no list"),
    ("fragments", texts(lambda own: own["productions"].__setitem__(0, "[1, 2]")), "a part without a label"),
    ("fragments", texts(lambda own: own["productions"].__setitem__(0, "[[]")), "is damaged"),
    ("fragments", texts(lambda own: own["productions"].__setitem__(0, "[" * 100_000)), "is damaged"),
    ("n-grams", put("codes", -1, 3), "an atom is of words that are not there"),
    ("n-grams", put("codes", 0, 0), "an atom is of words that are not there"),
    ("tagging", put("codes", 0, 1), "an atom is of tags that are not there"),
    ("tagging", put("codes", -1, 2**64 - 1), "an atom is of tags that are not there"),
    ("columns", put("codes", -1, 4), "an atom is of columns that are not there"),
    ("columns", put("codes", -1, 2**64 - 1), "an atom is of columns that are not there"),
    ("sets", lambda s, a: s["features"].update(kernel={"$kind": "RBF"}), r"Features of RBF\(.* cannot be selected"),
    (
        "sets",
        lambda s, a: s["settings"].update(kernel={"$kind": "Polynomial", "degree": 3}),
        "its features are of another kernel",
    ),
    ("sets", lambda s, a: s["features"]["kernel"].update(degree=1), "a feature has more than 1 atoms"),
    ("sets", lambda s, a: s["settings"].update(max_order=99), "max_order must be an integer from 1 to 8"),
    ("sets", lambda s, a: s.update(width=-1), "width is out of range"),
    ("sets", lambda s, a: s["classes"].update(labels=[1, 1]), "a class is listed twice"),
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bytes of a saved selector of each kind."""
    folder = tmp_path_factory.mktemp("selectors")
    for name, make in SELECTORS.items():
        make().save(folder / name)
    return {name: (folder / name).read_bytes() for name in SELECTORS}


@pytest.mark.parametrize(("name", "change", "message"), CHANGES)
def test_hostile_selectors_are_refused(tmp_path, saved, name, change, message):
    path = tmp_path / "x"
    path.write_bytes(saved[name])
    assert len(es.load(path).features_) > 0
    rewrite(path, change)
    with pytest.raises(InputError, match=message) as caught:
        es.load(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        (name, kernel)
        for name, own in KERNELS.items()
        for kernel in ("Polynomial", "SubsetTree", "Tagging", "DependencySubtree", "Spectrum")
        if kernel != own
    ],
)
def test_features_of_one_kernel_are_not_taken_for_those_of_another(tmp_path, saved, name, kernel):
    path = tmp_path / "x"
    path.write_bytes(saved[name])
    rewrite(path, lambda s, a: [part.update(kernel={"$kind": kernel}) for part in (s["features"], s["settings"])])
    with pytest.raises(InputError):
        es.load(path)


def test_a_fragment_that_cannot_be_is_an_error_when_it_is_named(tmp_path):
    path = tmp_path / "x"
    SELECTORS["fragments"]().save(path)

    def deeper(state, arrays):
        # A child of a production that has no such child.
        codes = arrays["features.codes"]
        child = int(codes[-1]) & (2**32 - 1) | 1000 << 32
        arrays["features.codes"] = np.append(codes, np.uint64(child))
        arrays["features.top"] = np.append(arrays["features.top"], arrays["features.top"][-1])
        extended(arrays, key(1, 2, len(codes)))
        arrays["features.node"] = np.append(arrays["features.node"], np.uint32(len(arrays["features.keys"])))
        arrays["features.weights"] = np.concatenate([arrays["features.weights"], [[1.0]]])

    rewrite(path, deeper)
    found = es.load(path)
    assert found.transform([group.gold for group in groups_of(1)]).shape[1] == len(found.features_)
    with pytest.raises(InputError, match="A production is child 1000 of one with"):
        found.get_feature_names_out()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("weights", 0, 1e300), "a weight is too large"),
        (lambda s, a: s.update(keep="all"), "'keep' must be one of survivors, weighted"),
        (lambda s, a: s.update(epoch=0), "epoch is out of range"),
        (lambda s, a: s.update(weight=float("inf")), "weight is out of range, or no number"),
        (lambda s, a: s["settings"].update(features=3), "is damaged"),
        (lambda s, a: s["settings"].update(loss="luck"), "loss must be"),
        (lambda s, a: s.update(features={"$kind": "Subtree"}), "'features' must be a SelectedFeatures"),
        (
            lambda s, a: (
                s["features"].update(names=["a", "b"]),
                a.update({"features.weights": np.repeat(a["features.weights"], 2, axis=1)}),
            ),
            "a feature needs one weight",
        ),
    ],
)
def test_hostile_rerankers_are_refused(tmp_path, change, message):
    path = tmp_path / "x"
    FeatureReranker(SELECTORS["arcs"](), epochs=1).fit(dependency_groups(1)).save(path)
    rewrite(path, change)
    with pytest.raises(InputError, match=message):
        es.load(path)


def test_orders_are_counted_from_the_roots():
    keys = np.array([key(0, 0, 5), key(1, 0, 5), key(2, 1, 0), key(3, 2, 0), key(4, 1, 1)], np.uint64)
    assert orders_of(keys, 2).tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert orders_of(keys[:0], 3).tolist() == [0, 0, 0]
    path = np.array([key(k, min(k, 1), 0) for k in range(9)], np.uint64)
    assert orders_of(path[:8], 1).tolist() == list(range(9))
    with pytest.raises(InputError, match="a feature has more than 8 atoms"):
        orders_of(path, 1)


@pytest.mark.parametrize("kind", [ARCS, SETS, SEQUENCES, PRODUCTIONS])
def test_no_keys_that_pass_the_check_make_the_core_leave_its_arrays(kind):
    rng = np.random.default_rng(kind + 2)
    n_sound = 0
    for _ in range(3000):
        n_atoms, n = int(rng.integers(1, 4)), int(rng.integers(0, 12))
        parents = [int(rng.integers(0, k + 1)) for k in range(n)]
        places = [int(rng.integers(1, 5)) if parent else int(rng.random() < 0.02) for parent in parents]
        if kind in (SETS, SEQUENCES) and rng.random() < 0.9:
            places = [min(place, 1) for place in places]
        keys = np.array([key(*own, int(rng.integers(n_atoms))) for own in zip(parents, places, strict=True)], np.uint64)
        try:
            check_keys(keys, n_atoms, kind)
        except InputError:
            continue
        n_sound += 1
        trie = _core.FeatureTrie(1)
        trie.insert(keys)
        assert len(trie) == n + 1
        top = np.zeros(n_atoms if kind == PRODUCTIONS else 0, np.uint32)
        opened, _ = _core.open_parts(trie, kind, top, np.ones(n + 1, np.uint8), 1)
        assert opened[1:].all()
        assert len(_core.first_features(trie, n_atoms, opened)) == n_atoms
    assert n_sound > 100
