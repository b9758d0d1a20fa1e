"""The base of all kernels. A kernel is a similarity function with hyperparameters; it computes matrices and gradients.

A kernel holds no data, cache or thread. A :class:`Plan` prepares once what depends on the data alone, and then
computes values at any hyperparameters. Your own kernel needs one method: ``pair(x, y)`` or ``block(a, b)``.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import numpy as np

from espalier.jobs.budget import check_matrix
from espalier.jobs.executor import Executor
from espalier.jobs.progress import Report
from espalier.jobs.schedule import Schedule
from espalier.kernels import hyperparameters as hyper
from espalier.kernels.inputs import Inputs
from espalier.kernels.plan import Matrix as Matrix
from espalier.kernels.plan import Plan as Plan
from espalier.kernels.plan import Pullback as Pullback
from espalier.kernels.plan import PythonPlan
from espalier.kernels.stored import StorableKernel, written

if TYPE_CHECKING:
    from espalier.kernels.algebra import Power, Product, Scaled, Sum

# How a kernel reads an item. Kernels of trees and of graphs read strings as trees in brackets.
Reads = Literal["trees", "graphs", "arcs", "tagged words", "tags", "words", "characters", "vectors", "items", "nothing"]
Value = TypeVar("Value")
KERNEL_FIELDS = ("kernel", "terms", "factors")  # the arguments of kernels that are kernels themselves


@dataclass(frozen=True, repr=False)
class Kernel(StorableKernel):
    """The base class of all kernels, including your own.

    A subclass is a frozen dataclass. It gives ``pair(x, y)``, the value for two items, or ``block(a, b)``, a matrix
    for two lists of items; gradients are then numerical. Built-in kernels give plans instead.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, repr=False)
    ... class SameLength(Kernel):
    ...     def pair(self, x, y):
    ...         return float(len(x) == len(y))
    >>> SameLength()(["a", "bb", "cc"])
    array([[1., 0., 0.],
           [0., 1., 1.],
           [0., 1., 1.]])
    """

    __array_ufunc__ = None  # an array times a kernel is an error, not an array of kernels

    def __post_init__(self) -> None:
        for field in self._hyperparameters():
            setting = getattr(self, field.name)
            signed = field.metadata["bounds"][0] < 0
            hyper.check_setting(field.name, setting, zero=field.metadata["zero"], signed=signed)
            if isinstance(setting, np.generic):  # its repr is not a Python literal
                object.__setattr__(self, field.name, setting.item())
        on = getattr(self, "on", None)
        names = on if isinstance(on, tuple) else (on,)
        if on is not None and (not names or not all(isinstance(name, str) for name in names)):
            raise TypeError(f"on must name a column of the table, got {on!r}.")

    # What a user may define.

    def pair(self, x: Any, y: Any) -> float:
        """Return the value for two items."""
        raise NotImplementedError(f"{type(self).__name__} must define pair(x, y) or block(a, b).")

    def block(self, a: list[Any], b: list[Any]) -> Matrix:
        """Return the matrix of values for two lists of items."""
        return np.array([[self.pair(x, y) for y in b] for x in a], np.float64).reshape(len(a), len(b))

    def _make_plan(self, a: Inputs, b: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Plan:
        """Prepare the matrix of two inputs, or of one with itself; or the value of each item of one with itself."""
        return PythonPlan(a, b, schedule, diagonal=diagonal)

    def reads(self) -> Reads:
        """What the kernel reads from each item; ``"items"`` if it takes them as they are."""
        return "items"

    def feature_space(self) -> str | None:
        """The name of the space whose features the kernel counts, a key of ``espalier.spaces.SPACES``.

        None if its features cannot be listed. Mining and explaining a model with this kernel use these features.
        """
        return None

    # What every kernel offers.

    def plan(
        self,
        a: Any,
        b: Any = None,
        *,
        n_threads: int | None = None,
        memory: int | str | None = None,
        progress: Report | None = None,
        executor: Executor | None = None,
    ) -> Plan:
        """Prepare the matrix of ``a`` with ``b`` (or with itself) for any hyperparameters.

        Parameters
        ----------
        a, b, n_threads, memory, progress, executor
            As for :func:`~espalier.gram`.
        """
        schedule = Schedule.of(n_threads, memory, progress, executor)
        trees = self._tree_columns()
        rows = Inputs.of(a).read_strings(trees, "trees")
        columns = None if b is None else Inputs.of(b, like=rows).read_strings(trees, "trees")
        if columns is not None and not isinstance(a, Inputs):
            rows.decide_with(columns)
        check_matrix(len(rows), len(rows if columns is None else columns))
        plan: Plan = rows.plan_of(self, columns, schedule)
        plan._made_for = self
        return plan

    def __call__(self, a: Any, b: Any = None, **options: Any) -> Matrix:
        """Return the matrix of ``a`` with ``b``, or of ``a`` with itself. Options are those of :meth:`plan`."""
        return self.plan(a, b, **options).matrix(self)

    def vjp(self, a: Any, b: Any = None, **options: Any) -> tuple[Matrix, Pullback]:
        """Return the matrix, and a function from gradient weights (one for each entry) to ``{path: gradient}``."""
        return self.plan(a, b, **options).vjp(self)

    def diagonal_plan(self, a: Any, **options: Any) -> Plan:
        """Prepare the value of each item with itself for any hyperparameters."""
        rows = Inputs.of(a).read_strings(self._tree_columns(), "trees")
        plan: Plan = rows.plan_of(self, None, Schedule.of(**options), diagonal=True)
        plan._made_for = self
        return plan

    def diagonal(self, a: Any, **options: object) -> Matrix:
        """Return the value of each item with itself, without computing the matrix."""
        return self.diagonal_plan(a, **options).matrix(self)

    def diagonal_vjp(self, a: object, **options: object) -> tuple[Matrix, Pullback]:
        """Return the diagonal, and a function from gradient weights (one for each entry) to ``{path: gradient}``."""
        return self.diagonal_plan(a, **options).vjp(self)

    def value(self, x: Any, y: object) -> float:
        """Return the value for one pair of items.

        For a kernel that names a column an item is a mapping: ``{"source": tree, ...}``.
        """
        return float(self(_one(x), _one(y), n_threads=1)[0, 0])

    def parameters(self) -> dict[str, float]:
        """Return the learned hyperparameters by readable path, in natural units."""
        return {path: value for path, (value, _, _, _) in self._declared().items()}

    def with_parameters(self, mapping: Mapping[str, float]) -> Self:
        """Return a kernel with some hyperparameters replaced; a fixed or unknown path is an error."""
        changed, unknown = self._with_paths(mapping)
        for path in unknown:
            known = self.parameters()
            near = difflib.get_close_matches(path, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise KeyError(
                f"{path!r} is not a learned hyperparameter of this kernel; it has {', '.join(known) or 'none'}.{hint}"
            )
        return changed

    def bounds(self) -> dict[str, tuple[float, float]]:
        """Return the bounds of each learned hyperparameter, by path."""
        return {path: bounds for path, (_, bounds, _, _) in self._declared().items()}

    def priors(self) -> dict[str, object]:
        """Return the prior of each learned hyperparameter, by path; None if it has none.

        The weak prior of ``PerLabel`` is a mark that a Gaussian process makes a density of.
        """
        return {path: prior for path, (_, _, prior, _) in self._declared().items()}

    def units(self) -> dict[str, str]:
        """Return the unit of each learned hyperparameter, by path; ``"variance"`` for that of the kernel's values."""
        return {path: unit for path, (_, _, _, unit) in self._declared().items()}

    def __add__(self, other: Kernel) -> Sum:
        from espalier.kernels.algebra import Sum

        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: object) -> Kernel:
        # sum([a, b]) starts from 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __pow__(self, exponent: float) -> Power:
        from espalier.kernels.algebra import Power

        return Power(self, exponent)

    def __mul__(self, other: object) -> Product | Scaled:
        from espalier.kernels.algebra import multiply

        return multiply(self, other)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return written(self)

    # What combinators and plans use.

    def _hyperparameters(self) -> list[dataclasses.Field[object]]:
        """The fields of this kernel's own hyperparameters."""
        return [field for field in dataclasses.fields(self) if "bounds" in field.metadata]

    def _settings(self) -> list[tuple[str, object]]:
        """The names and settings of this kernel's own hyperparameters."""
        return [(field.name, getattr(self, field.name)) for field in self._hyperparameters()]

    def _form(self) -> tuple[object, ...]:
        """Everything that a plan depends on: all but the values of hyperparameters."""
        fixed = tuple(
            getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.compare and "bounds" not in field.metadata and field.name not in KERNEL_FIELDS
        )
        return (type(self), fixed, tuple(child._form() for _, child in self._children()))

    def _with_labels(self, name: str, setting: hyper.PerLabel, labels: Sequence[str]) -> object:
        """One of the kernel's settings with an entry for every label."""
        return hyper.bind_labels(setting, labels, leaves=self._has_leaf_value())

    def _has_leaf_value(self) -> bool:
        """True if the kernel has hyperparameters for leaves."""
        return False

    def _children(self) -> list[tuple[str, Kernel]]:
        """The kernels inside this one, each with the prefix of its paths."""
        return []

    def _tree_columns(self) -> set[str | None]:
        """The columns whose strings this kernel, or one inside it, reads as trees."""
        return {kernel._column() for kernel in self._every_kernel() if kernel.reads() in ("trees", "graphs")}

    def _column(self) -> str | None:
        """The column that the kernel reads, if it names one."""
        return getattr(self, "on", None)

    def _with_children(self, children: list[Kernel]) -> Self:
        """The kernel with others in place of those inside it."""
        return self

    def _every_kernel(self) -> Iterator[Kernel]:
        """The kernel, and all kernels inside it."""
        yield self
        for _, child in self._children():
            yield from child._every_kernel()

    def _with_settings(self, change: Callable[[Any], object]) -> Self:
        """The kernel with all of its hyperparameters changed, and those of the kernels inside it."""
        changed = dataclasses.replace(self, **{name: change(setting) for name, setting in self._settings()})
        return changed._with_children([child._with_settings(change) for _, child in self._children()])

    def _declared(self) -> dict[str, hyper.Declared]:
        """The value, the bounds, the prior and the unit of each learned hyperparameter, by path."""
        out: dict[str, hyper.Declared] = {}
        for field in self._hyperparameters():
            given = field.metadata
            out |= hyper.declared(field.name, getattr(self, field.name), given["bounds"], given["unit"])
        for prefix, child in self._children():
            out |= {prefix + path: declared for path, declared in child._declared().items()}
        return out

    def _with_paths(self, values: Mapping[str, float]) -> tuple[Self, dict[str, float]]:
        """Replace hyperparameters of the kernel and its children; return the new kernel and the unknown paths."""
        rest, changes = dict(values), {}
        for name, setting in self._settings():
            mine = {path: value for path, value in values.items() if path.split("[", 1)[0] == name}
            if mine and not hyper.is_fixed(setting):
                changes[name], unknown = hyper.with_paths(name, setting, mine)
                rest = {path: value for path, value in rest.items() if path not in mine or path in unknown}
        changed: Self = dataclasses.replace(self, **changes) if changes else self
        return changed._with_inside(rest, lambda child, inside: child._with_paths(inside))

    def _with_inside(
        self, values: Mapping[str, Value], change: Callable[[Kernel, dict[str, Value]], tuple[Kernel, dict[str, Value]]]
    ) -> tuple[Self, dict[str, Value]]:
        """Apply values by path to the kernels inside; return the new kernel and the values that no kernel inside has.

        ``change`` takes a kernel and its values, and returns the new kernel and the values that it does not have.
        """
        rest, children = dict(values), self._children()
        if not rest or not children:
            return self, rest
        replaced = []
        for prefix, child in children:
            inside = {path[len(prefix) :]: value for path, value in rest.items() if path.startswith(prefix)}
            child, unknown = change(child, inside) if inside else (child, {})
            rest = {path: value for path, value in rest.items() if not path.startswith(prefix)}
            rest |= {prefix + path: value for path, value in unknown.items()}
            replaced.append(child)
        return self._with_children(replaced), rest


def _one(item: Any) -> object:
    """A batch of one item; for a mapping, a table of one row."""
    if isinstance(item, Mapping):
        return {name: _one(value) for name, value in item.items()}
    if isinstance(item, np.ndarray) or hasattr(item, "tocsr"):
        return item.reshape(1, -1)
    return [item]
