"""The laws of kernels, one function each; an AssertionError says what does not hold.

First those of the kernel as a value, then of its matrix, of how it is computed, of gradients and of extreme
trees.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.errors import KernelOverflowError, MemoryBudgetError
from espalier.structures.interop import as_tree
from espalier.structures.table import Table
from espalier.testing.items import chosen, fingerprint, halves, is_importable, item_at, length, namespace_of

Rename = Callable[[Any], Any]

_SMALL_BUDGETS = [1 << power for power in range(10, 31, 2)]
_CLOSE = 1e-10  # relative: sums may be taken in another order
_TILED = 1e-12  # relative: what DESIGN promises of tiles
_STEP = 3e-4  # relative, for differences of fourth order
_N_EXTREME = 3000


def check_value_object(kernel: Any, *, prints: bool = True) -> None:
    """Copies, pickles and prints are equal, and equal kernels have equal hashes."""
    twins = {"copy.copy": copy.copy(kernel), "copy.deepcopy": copy.deepcopy(kernel)}
    if all(is_importable(type(part)) for part in kernel._every_kernel()):
        twins["pickle"] = pickle.loads(pickle.dumps(kernel))
    if prints:
        twins["eval(repr(kernel))"] = eval(repr(kernel), namespace_of(kernel))
    for way, twin in twins.items():
        assert twin == kernel, f"{way} gives {twin!r}, which is not equal to {kernel!r}."
        assert hash(twin) == hash(kernel), f"{way} gives a kernel that is equal but has another hash."


def check_parameters(kernel: Any) -> None:
    """Hyperparameters read back what was written, and have bounds."""
    parameters = kernel.parameters()
    assert kernel.with_parameters(parameters) == kernel, "with_parameters(parameters()) gives another kernel."
    assert list(kernel.bounds()) == list(parameters), "bounds() and parameters() have different paths."
    for path, value in parameters.items():
        changed = kernel.with_parameters({path: value * 0.875})
        expected = parameters | {path: value * 0.875}
        assert changed.parameters() == expected, f"setting {path} gives {changed.parameters()}, not {expected}."
    try:
        kernel.with_parameters({"no such path": 1.0})
    except KeyError:
        return
    raise AssertionError("with_parameters accepts a path that does not exist.")


# Laws of the matrix.


def check_inputs_unchanged(kernel: Any, items: object) -> None:
    """A call changes neither the items nor the kernel."""
    before, shown, number = fingerprint(items), repr(kernel), hash(kernel)
    kernel(items)
    kernel.vjp(items, items)[1](np.ones((length(items),) * 2))
    kernel.diagonal(items)
    assert fingerprint(items) == before, "a call changed the items."
    assert (repr(kernel), hash(kernel)) == (shown, number), "a call changed the kernel."


def check_stateless(kernel: Any, items: object) -> None:
    """The same call gives the same bits, whatever was computed in between, by the kernel and by a plan."""
    first = kernel(items)
    some = chosen(items, [0, 1])
    kernel(some)
    kernel(items, some)
    assert np.array_equal(kernel(items), first), "the same call gives another matrix the second time."
    plan = kernel.plan(items)
    values, pullback = plan.vjp(kernel)
    other = kernel.with_parameters({path: value * 0.875 for path, value in kernel.parameters().items()})
    cotangent = np.arange(float(values.size)).reshape(values.shape)
    gradient = pullback(cotangent)
    plan.vjp(other)[1](cotangent)
    assert np.array_equal(plan.matrix(kernel), first), "a plan's matrix depends on what it computed before."
    assert np.array_equal(values, first), "the values of vjp are not those of the matrix."
    values[...] = 0.0
    assert pullback(cotangent) == gradient, "a pull-back depends on what its plan computed afterwards."


def check_symmetry(kernel: Any, items: object) -> None:
    """k(x, y) is k(y, x), to the last bit."""
    values = kernel(items)
    assert values.dtype == np.float64, f"values must be float64, got {values.dtype}."
    bad = np.argwhere(values != values.T)
    assert len(bad) == 0, (
        f"not symmetric: k{tuple(bad[0].tolist())} = {values[tuple(bad[0])]!r}, "
        f"k{tuple(bad[0][::-1].tolist())} = {values.T[tuple(bad[0])]!r}."
    )


def check_positive_semidefinite(kernel: Any, items: object) -> None:
    """No eigenvalue is negative, up to rounding."""
    values = kernel(items)
    eigenvalues = np.linalg.eigvalsh(values)
    allowed = -1e-12 * len(values) * max(float(np.abs(eigenvalues).max()), 1e-300)
    assert eigenvalues[0] >= allowed, f"not positive semi-definite: an eigenvalue is {eigenvalues[0]:.6g}."


def check_diagonal(kernel: Any, items: object) -> None:
    """``diagonal`` is the diagonal of the matrix."""
    _assert_close(kernel.diagonal(items), kernel(items).diagonal(), "diagonal(a) is not the diagonal of k(a)")


def check_transposition(kernel: Any, items: object) -> None:
    """k(a, b) is the transposed k(b, a)."""
    a, b = halves(items)
    _assert_close(kernel(a, b), kernel(b, a).T, "k(a, b) is not k(b, a).T")


def check_blocks(kernel: Any, items: object) -> None:
    """The matrix of a corpus is made of the matrices of its parts."""
    whole = kernel(items)
    a, b = halves(items)
    n = length(a)
    _assert_close(kernel(a), whole[:n, :n], "k(a) is not the block of k(a followed by b)")
    _assert_close(kernel(a, b), whole[:n, n:], "k(a, b) is not the block of k(a followed by b)")
    _assert_close(kernel(items, items), whole, "k(a, a) is not k(a)")


def check_permutation(kernel: Any, items: object, rng: np.random.Generator) -> None:
    """Permuting the items permutes rows and columns."""
    order = rng.permutation(length(items))
    values = kernel(chosen(items, order.tolist()))
    _assert_close(values, kernel(items)[np.ix_(order, order)], "permuting the items changes values")


def check_single_pair(kernel: Any, items: object) -> None:
    """``value(x, y)`` is the entry of the matrix."""
    whole = kernel(items)
    first, second = item_at(items, 0), item_at(items, 1)
    _assert_close(np.array(kernel.value(first, second)), whole[0, 1], "value(x, y) is not the matrix's")


def check_empty(kernel: Any, items: object) -> None:
    """No items give an empty matrix, and gradients of 0."""
    n, none = length(items), chosen(items, [])
    for a, b, shape in [(none, None, (0, 0)), (items, none, (n, 0)), (none, items, (0, n))]:
        values, pullback = kernel.vjp(a, b)
        assert values.shape == kernel(a, b).shape == shape, f"expected an empty matrix {shape}, got {values.shape}."
        assert not any(pullback(np.zeros(shape)).values()), "the gradient of an empty matrix is not 0."
    assert kernel.diagonal(none).shape == (0,), "the diagonal of no items is not empty."


def check_renaming(kernel: Any, items: Any, rename: Rename) -> None:
    """Labels are names: renaming them changes nothing."""
    if isinstance(items, Table | Mapping) or hasattr(items, "columns"):
        rows = [rename(row) for row in Table(items)]
        renamed: object = {name: [row[name] for row in rows] for name in Table(items).columns}
    else:
        renamed = [rename(item) for item in items]
    _assert_close(kernel(renamed), kernel(items), "renaming labels changes values")


# Laws of how it is computed.


def check_threads(kernel: Any, items: object, rng: np.random.Generator) -> None:
    """One thread and several give the same bits."""
    patience = _core.set_patience(0)  # a short call would leave the other threads alone
    try:
        for b in (None, chosen(items, [1, 0])):
            one, pull_one = kernel.vjp(items, b, n_threads=1)
            several, pull_several = kernel.vjp(items, b, n_threads=3)
            assert np.array_equal(one, several), "1 thread and 3 threads give different matrices."
            cotangent = rng.standard_normal(one.shape)
            assert pull_one(cotangent) == pull_several(cotangent), "1 thread and 3 give different gradients."
    finally:
        _core.set_patience(patience)


def check_tiles(kernel: Any, items: object, rng: np.random.Generator) -> None:
    """A small memory budget, the smallest that works, changes nothing beyond rounding."""
    for b in (None, chosen(items, [1, 0])):
        whole, pullback = kernel.vjp(items, b)
        cotangent = rng.standard_normal(whole.shape)
        gradient = pullback(cotangent)
        for budget in _SMALL_BUDGETS:
            try:
                tiled, pull_tiled = kernel.vjp(items, b, memory=budget)
                pulled = pull_tiled(cotangent)
            except MemoryBudgetError:
                continue
            _assert_close(tiled, whole, f"memory={budget} changes values", tolerance=_TILED)
            assert pulled.keys() == gradient.keys(), f"memory={budget} changes the paths of gradients."
            size = _TILED * max(1.0, float(np.abs(cotangent * whole).sum()))
            for path, value in gradient.items():
                ok = abs(pulled[path] - value) <= max(1e-9 * abs(value), 100 * size)
                assert ok, f"memory={budget} changes the gradient of {path} from {value!r} to {pulled[path]!r}."
            break


def check_reports(kernel: Any, items: object) -> None:
    """Progress goes up, from 0 to 1."""
    seen: list[float] = []
    kernel(items, items, progress=lambda progress: seen.append(progress.fraction))
    assert all(0 <= fraction <= 1 for fraction in seen), f"progress must be between 0 and 1, got {seen}."
    assert seen == sorted(seen), f"progress goes back: {seen}."


# Gradients.


def check_gradients(
    kernel: Any, items: object, rng: np.random.Generator | None = None, *, tolerance: float = 1e-6
) -> None:
    """Every gradient equals differences of values: of the matrix, a cross matrix and the diagonal."""
    rng = np.random.default_rng(0) if rng is None else rng
    cross = chosen(items, [1, 0, 2])
    plans = {
        "vjp(a)": kernel.plan(items),
        "vjp(a, b)": kernel.plan(items, cross),
        "diagonal_vjp(a)": kernel.diagonal_plan(items),
    }
    for name, plan in plans.items():
        bound = plan.bind(kernel)
        values, pullback = plan.vjp(bound)
        cotangent = rng.standard_normal(values.shape)
        before = cotangent.copy()
        gradient = pullback(cotangent)
        assert np.array_equal(cotangent, before), f"{name}: pulling back changed the cotangent."
        assert set(gradient) >= set(bound.parameters()), (
            f"{name} gives gradients for {sorted(gradient)}, the kernel has {sorted(bound.parameters())}."
        )
        for path in bound.parameters():
            expected, noise = _difference(plan, bound, path, cotangent)
            error = abs(gradient[path] - expected)
            allowed = tolerance * max(abs(expected), abs(gradient[path])) + noise
            assert error <= allowed, f"{name}: the gradient of {path} is {gradient[path]!r}, expected {expected!r}."


def _difference(plan: Any, kernel: Any, path: str, cotangent: NDArray[np.float64]) -> tuple[float, float]:
    """The derivative of <cotangent, matrix> by differences, and how much of it may be rounding."""
    value = kernel.parameters()[path]
    away = abs(value) or 1e-3
    step = max(_STEP * away, min(1e-6, away / 64))  # a share of the value: kernels may take its square root
    total, size = 0.0, 0.0
    for k, weight in ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0)):
        values = plan.matrix(kernel.with_parameters({path: value + k * step}))
        total += weight * float(np.vdot(cotangent, values))
        size = max(size, float(np.abs(cotangent * values).sum()))
    return total / (12 * step), 4e-15 * size / step


# Extreme trees.


def check_extreme_trees(kernel: Any, *, as_objects: bool = False) -> None:
    """A lone leaf, a deep chain, a wide node and many equal children work, or overflow by name."""
    trees = {
        "a lone leaf": "(x)",
        "a deep chain": "(X " * _N_EXTREME + "x" + ")" * _N_EXTREME,
        "a node with many leaves": "(S " + " ".join(f"w{k}" for k in range(_N_EXTREME)) + ")",
        "a node with many equal children": "(S " + "(X x) " * _N_EXTREME + ")",
    }
    for name, text in trees.items():
        with warnings.catch_warnings():  # Normalized may count a lone leaf that has no fragment
            warnings.simplefilter("ignore", UserWarning)
            try:
                pair = [text, "(S (X x))"]
                values, pullback = kernel.vjp([as_tree(one) for one in pair] if as_objects else pair)
            except KernelOverflowError:
                continue
        assert np.isfinite(values).all(), f"{name} gives a value that is not finite."
        gradient = pullback(np.ones(values.shape))
        assert np.isfinite(list(gradient.values())).all(), f"{name} gives a gradient that is not finite."


def _assert_close(actual: object, expected: object, law: str, *, tolerance: float = _CLOSE) -> None:
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"{law}: the shape is {actual.shape}, not {expected.shape}."
    size = float(np.abs(expected).max(initial=0.0))
    bad = np.argwhere(~(np.abs(actual - expected) <= tolerance * np.maximum(np.abs(expected), 1e-6 * size)))
    if len(bad):
        place = tuple(bad[0].tolist())
        raise AssertionError(f"{law}: at {place} it is {actual[place]!r}, expected {expected[place]!r}.")
