"""Hyperparameters: the numbers in a kernel that a learner may change, and how it may change them.

A plain number is learned. ``fixed(x)`` is not. ``Learned`` adds bounds and a prior. ``PerLabel`` gives every
non-terminal its own value, ``PerDimension`` every dimension of a vector. They are values: frozen, hashable,
printed as the expression that makes them. Learners transform them to log space themselves, and choose the weak prior
that ``PerLabel`` asks for.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.kernels.stored import written
from espalier.structures.numbers import as_float, shown

if TYPE_CHECKING:
    from espalier.storage import State

Default = TypeVar("Default")
Declared = tuple[float, tuple[float, float], Any, str]  # a value, its bounds, its prior and its unit

VARIANCE = "variance"  # the unit of a kernel's values, which a learner knows
LEAF = "<leaf>"  # the path under which all leaves share one value
WEAK = "weak"  # the default prior of ``PerLabel``
OF_ITS_PLACE = "of its place"  # the default prior of ``Learned``: that of the ``PerLabel`` around it, else none


@dataclass(frozen=True, repr=False)
class Fixed:
    """A number that no learner changes; written ``fixed(1.0)``."""

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _plain(self.value))

    def __repr__(self) -> str:
        return f"fixed({self.value!r})"


def fixed(value: float) -> Fixed:
    """Keep a hyperparameter at ``value``: no learner changes it, no gradient is returned for it."""
    return Fixed(value)


@dataclass(frozen=True, repr=False)
class Learned:
    """A number that learners may change, within bounds and under a prior.

    Parameters
    ----------
    value
        Where learning starts.
    bounds
        The smallest and the largest value; the hyperparameter's default bounds if None. They may be below 0 only if the
        number may be negative, such as the power of ``BoxCox``.
    prior
        A prior of ``espalier.gp``, or None for none. By default a single number has none, and the numbers of a
        ``PerLabel`` have that of the ``PerLabel``.
    """

    value: float
    bounds: tuple[float, float] | None = None
    prior: Hashable | None = OF_ITS_PLACE

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _plain(self.value))
        if self.bounds is not None:
            try:
                low, high = (as_float(bound) for bound in self.bounds)
            except (TypeError, ValueError):
                low = high = math.nan
            if not low < high:
                raise ValueError(f"bounds must be (low, high) with low < high, got {self.bounds!r}.")
            object.__setattr__(self, "bounds", (low, high))
            if is_number(self.value) and not low <= self.value <= high:
                raise ValueError(f"The value {self.value!r} lies outside its bounds {self.bounds!r}.")

    def __repr__(self) -> str:
        return written(self, repr(self.value))


@dataclass(frozen=True, repr=False)
class PerLabel:
    """One value for every non-terminal, which makes a kernel symbol-aware.

    Parameters
    ----------
    value
        The value of labels that have no value of their own. A plain number or ``Learned``.
    groups
        Labels that share a value, by the group's name: ``{"sentence": ["S", "SQ"]}``.
    values
        Values by label or group; a label in a group has the group's value and none of its own. Learners fill this
        in: a path such as ``decay[NP]`` exists once a plan or a fit has seen data. All leaves share the value named
        ``<leaf>``.
    prior
        What Gaussian processes believe of the values before they see targets. ``"weak"``: all values are near one
        value, which is itself unknown; see the notes. None: nothing, so that each value is learned from the targets
        alone. Otherwise a prior of ``espalier.gp``. A prior that ``Learned`` names inside counts in place of this one.

    Notes
    -----
    Dozens of numbers that are learned from the targets alone overfit a few hundred examples: the evidence rises, and
    predictions of new examples get much worse. The weak prior is ``espalier.gp.AroundCommon(value)``: the logarithm of
    each value is normal around a common one, with a standard deviation of 0.5 (a factor of 1.6), and the common one is
    normal around ``value`` with a standard deviation of 3 (a factor of 20). Labels that say much leave the others;
    labels that say nothing have the common value, so that rare labels do what frequent ones do. Numbers that may be
    negative and variances (``Coregion``) have no default prior.

    Examples
    --------
    >>> PerLabel(0.4, groups={"sentence": ["S", "SQ"]}, values={"NP": 0.2})
    PerLabel(0.4, groups={'sentence': ('S', 'SQ')}, values={'NP': 0.2})
    >>> PerLabel(0.4, prior=None)
    PerLabel(0.4, prior=None)
    """

    value: float | Learned | Fixed
    groups: Any = None
    values: Any = None
    prior: Hashable | None = WEAK

    def __post_init__(self) -> None:
        groups = {name: _listed_labels(name, labels) for name, labels in _by_name("groups", self.groups).items()}
        values = _by_name("values", self.values)
        for label, group in _group_of_label(groups).items():
            if label in values and label not in groups:
                raise ValueError(
                    f"values gives {values[label]!r} for the label {label!r}, which is in the group {group!r} and "
                    f"has the value of the group. Write values={{{group!r}: {values[label]!r}}} for the whole group, "
                    f"or take {label!r} out of it."
                )
        _check_own_values("PerLabel", values)
        _check_prior(self)
        object.__setattr__(self, "groups", tuple(sorted(groups.items())))
        object.__setattr__(self, "value", _plain(self.value))
        object.__setattr__(self, "values", tuple(sorted((name, _plain(value)) for name, value in values.items())))

    def names(self, labels: Sequence[str]) -> list[str]:
        """The name of each label's value: that of its group, or its own."""
        group = {label: name for name, members in self.groups for label in members}
        clash = {name for name, _ in self.groups}.intersection(labels) - set(group)
        if clash:
            name = min(clash)
            raise ValueError(
                f"The group {name!r} has the name of a label that is not in it, and the two would share one value. "
                "Rename the group."
            )
        return [group.get(label, label) for label in labels]

    def __repr__(self) -> str:
        given = (("groups", self.groups), ("values", self.values))
        options = [f"{name}={dict(pairs)!r}" for name, pairs in given if pairs]
        if self.prior != WEAK:
            options.append(f"prior={self.prior!r}")
        return f"PerLabel({', '.join([repr(self.value), *options])})"

    @classmethod
    def from_state(cls, state: State) -> PerLabel:
        """Make the values that a file holds; where it names no prior, there was none when it was written."""
        values: dict[str, Any] = state.values()
        if "prior" not in values and not isinstance(values["value"], Learned):
            values["prior"] = None
        return cls(**values)


@dataclass(frozen=True)
class Weak:
    """The weak prior of the numbers of one ``PerLabel`` that start at a value; learners make it a density."""

    start: float


def _check_prior(setting: PerLabel) -> None:
    prior, inside = setting.prior, setting.value
    if isinstance(prior, str) and prior != WEAK:
        raise ValueError(f"prior of PerLabel must be 'weak', None or a prior of espalier.gp, got {prior!r}.")
    if prior != WEAK and isinstance(inside, Learned) and inside.prior != OF_ITS_PLACE:
        raise ValueError(f"PerLabel has the prior {prior!r}, and {inside!r} inside it has another. Name one of them.")


def _by_name(argument: str, given: Any) -> dict[str, object]:
    """The mapping that ``PerLabel`` was given, checked."""
    try:
        found = dict(given or {})
    except (TypeError, ValueError):
        raise TypeError(f"{argument} of PerLabel must be a dict by name, got {given!r}.") from None
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"A name in {argument} of PerLabel must be a text, got {name!r} of {type(name).__name__}.")
    return found


def _listed_labels(group: str, labels: object) -> tuple[str, ...]:
    """The labels of a group; raise for a string, which would be split into letters."""
    if isinstance(labels, str):
        raise ValueError(f"The group {group!r} must list its labels, [{labels!r}], got {labels!r}.")
    if not isinstance(labels, Iterable):
        raise TypeError(f"The group {group!r} must list its labels, got {labels!r}.")
    listed = tuple(labels)
    for label in listed:
        if not isinstance(label, str):
            raise TypeError(f"A label of the group {group!r} must be a text, got {label!r} of {type(label).__name__}.")
    return listed


def _group_of_label(groups: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """The group of each label; raise if a label is in two groups, or a group has the name of a label of another."""
    found: dict[str, str] = {}
    for group, labels in groups.items():
        for label in labels:
            if found.get(label) == group:
                raise ValueError(f"label {label!r} is listed twice in the group {group!r}. Name it once.")
            if label in found:
                raise ValueError(f"label {label!r} is in two groups, {found[label]!r} and {group!r}.")
            found[label] = group
    for label, group in found.items():
        if label in groups and label != group:
            raise ValueError(
                f"The group {label!r} has the name of a label of the group {group!r}, so its value would be read as "
                "that of the label. Rename the group."
            )
    return found


@dataclass(frozen=True, repr=False)
class PerDimension:
    """One value for every dimension of a vector: automatic relevance determination.

    Examples
    --------
    >>> PerDimension(1.0, values=(0.5, 2.0))
    PerDimension(1.0, values=(0.5, 2.0))
    """

    value: float | Learned | Fixed
    values: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _plain(self.value))
        if self.values is not None:
            if isinstance(self.values, str) or not isinstance(self.values, Iterable):
                raise TypeError(f"values of PerDimension must be a tuple of numbers, got {self.values!r}.")
            _check_own_values("PerDimension", dict(enumerate(self.values)))
            object.__setattr__(self, "values", tuple(as_float(value) for value in self.values))

    def __repr__(self) -> str:
        return written(self, repr(self.value))


PerEach = PerLabel | PerDimension
Number = float | Fixed | Learned
Hyperparameter = float | Fixed | Learned | PerLabel
VectorHyperparameter = float | Fixed | Learned | PerDimension


def _check_own_values(kind: str, values: Mapping[Any, object]) -> None:
    for key, value in values.items():
        if not is_number(value):
            raise TypeError(
                f"values[{key!r}] of {kind} must be a plain number, got {value!r}. fixed and Learned apply to all "
                f"values: {kind}(fixed(1.0), values=...), {kind}(Learned(1.0, ...), values=...)."
            )


def hyperparameter(
    default: Default, bounds: tuple[float, float] = (1e-5, 1e5), *, zero: bool = True, unit: str = "weight"
) -> Default:
    """A dataclass field that holds a hyperparameter with these default bounds; ``zero`` allows ``fixed(0)``.

    If the lower bound is below 0, the number may have any sign, and learners search it as it is, not its logarithm.
    Tables of learned numbers show the unit; ``VARIANCE`` stands for that of the kernel's values.
    """
    return dataclasses.field(default=default, metadata={"bounds": bounds, "zero": zero, "unit": unit})


def number_of(setting: object) -> float:
    """The number of a setting that has one: a plain number, ``fixed`` or ``Learned``.

    ``PerLabel`` and ``PerDimension`` are refused with a TypeError, because they have several. A kernel that accepts
    ``PerLabel`` reads it with :func:`label_values`.
    """
    if isinstance(setting, PerEach):
        several = "label" if isinstance(setting, PerLabel) else "dimension"
        raise TypeError(
            f"{setting!r} has one number for each {several}, but this hyperparameter is a single number. "
            "Pass a number, fixed(...) or Learned(...)."
        )
    return default_of(setting)


def default_of(setting: object) -> float:
    """The number of a setting, or the one that labels and dimensions without their own have."""
    while isinstance(setting, Fixed | Learned | PerEach):
        setting = setting.value
    return as_float(setting)


def _shared(setting: object) -> object:
    """What is declared for all labels or dimensions: a plain number, ``fixed`` or ``Learned``."""
    return setting.value if isinstance(setting, PerEach) else setting


def _own_values(setting: object) -> dict[str, float] | None:
    """The values of single labels or dimensions, by what a path has in brackets; None if there are none yet."""
    if isinstance(setting, PerLabel):
        return dict(setting.values) or None
    if isinstance(setting, PerDimension) and setting.values is not None:
        return {str(k): value for k, value in enumerate(setting.values)}
    return None


def is_fixed(setting: object) -> bool:
    """True if no learner may change the setting."""
    return isinstance(_shared(setting), Fixed)


def check_setting(name: str, setting: object, *, zero: bool = True, signed: bool = False) -> None:
    """Raise if a number in a setting is not positive and finite; ``zero`` allows ``fixed(0)``, ``signed`` any sign."""
    shared, own = _shared(setting), _own_values(setting) or {}
    if isinstance(shared, Learned) and shared.bounds is not None and shared.bounds[0] < 0 and not signed:
        raise ValueError(f"The bounds of {name} must not be below 0, got {shared.bounds!r}.")
    numbers: list[Any] = [*own.values(), shared.value if isinstance(shared, Fixed | Learned) else shared]
    for value in numbers:
        if not is_number(value):
            raise TypeError(f"{name} must be a number, fixed(...), Learned(...) or per label, got {value!r}.")
        if signed:
            if not math.isfinite(as_float(value)):
                raise ValueError(f"{name} must be finite, got {shown(value)}.")
            continue
        if not math.isfinite(as_float(value)) or value < 0 or (value == 0 and not (zero and is_fixed(setting))):
            hint = " Write fixed(0) to keep it at zero." if value == 0 and zero else ""
            if hint and isinstance(setting, PerEach):
                kind = "PerLabel" if isinstance(setting, PerLabel) else "PerDimension"
                hint = f" Zero is allowed only if all values are fixed: {kind}(fixed(1.0), values=...)."
            finite = " and finite" if value > 0 else ""
            raise ValueError(f"{name} must be positive{finite}, got {shown(value)}.{hint}")


def _plain(value: object) -> object:
    """Turn a number of numpy into one of Python, whose repr is a Python literal."""
    return value.item() if isinstance(value, np.generic) else value


def is_number(value: object) -> bool:
    """True for numbers of Python and of numpy, but not for booleans."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def declared(name: str, setting: object, bounds: tuple[float, float], unit: str) -> dict[str, Declared]:
    """The learned numbers of a setting by path: ``decay``, or ``decay[NP]`` once labels are known.

    Each has its bounds (``bounds`` if it has none), its prior and its unit.
    """
    shared, own = _shared(setting), _own_values(setting)
    if isinstance(shared, Fixed):
        return {}
    if isinstance(shared, Learned):
        bounds = shared.bounds or bounds
    prior = _prior_of(setting)
    if prior == WEAK:
        prior = None if bounds[0] < 0 or unit == VARIANCE else Weak(default_of(setting))
    if own is None:
        return {name: (default_of(setting), bounds, prior, unit)}
    return {f"{name}[{key}]": (float(value), bounds, prior, unit) for key, value in own.items()}


def _prior_of(setting: object) -> Hashable | None:
    """The prior that a setting names: that of ``Learned``, or that of the ``PerLabel`` around it."""
    shared = _shared(setting)
    if isinstance(shared, Learned) and shared.prior != OF_ITS_PLACE:
        return shared.prior
    return setting.prior if isinstance(setting, PerLabel) else None


def with_number(setting: Any, value: float) -> Any:
    """The setting with another number, of the same kind: what was fixed stays fixed, bounds and priors stay."""
    if isinstance(setting, PerEach):
        return dataclasses.replace(setting, value=with_number(setting.value, value))
    return dataclasses.replace(setting, value=float(value)) if isinstance(setting, Fixed | Learned) else value


def with_paths(name: str, setting: Any, values: Mapping[str, float]) -> tuple[object, dict[str, float]]:
    """Return the setting with the numbers at some paths (which start with ``name``) replaced, and unknown paths."""
    own = _own_values(setting)
    changed, unknown = dict(own or {}), {}
    for path, value in values.items():
        key = path[len(name) + 1 : -1] if path.endswith("]") else None
        # If every dimension has its own value, nothing would use a common one.
        if path == name and not (isinstance(setting, PerDimension) and own is not None):
            setting = with_number(setting, as_float(value))
        elif key is not None and (isinstance(setting, PerLabel) or key in changed):
            changed[key] = as_float(value)
        else:
            unknown[path] = as_float(value)
    if changed != (own or {}):
        many = changed if isinstance(setting, PerLabel) else tuple(changed.values())
        setting = dataclasses.replace(setting, values=many)
    return setting, unknown


def label_values(setting: object, labels: Sequence[str]) -> NDArray[np.float64]:
    """The setting as one value per label, and one more for leaves."""
    values = np.full(len(labels) + 1, default_of(setting))
    if isinstance(setting, PerLabel):
        own: Mapping[str, float] = dict(setting.values)
        for k, name in enumerate(setting.names([*labels, LEAF])):
            values[k] = own.get(name, values[k])
    return values


def label_gradients(
    name: str, setting: object, labels: Sequence[str], gradient: NDArray[np.float64], *, leaves: bool
) -> dict[str, float]:
    """Sum the gradient by label (and, last, of leaves) into the paths of a setting."""
    if is_fixed(setting):
        return {}
    if not isinstance(setting, PerLabel):
        return {name: float(gradient.sum())}
    out = {f"{name}[{key}]": 0.0 for key, _ in setting.values}
    for key, value in zip(setting.names([*labels, LEAF] if leaves else labels), gradient, strict=False):
        path = f"{name}[{key}]"
        out[path] = out.get(path, 0.0) + float(value)
    return out or {name: 0.0}  # without labels, only the path of the default remains


def bind_labels(setting: object, labels: Sequence[str], *, leaves: bool) -> object:
    """Give every label of a corpus its own entry in ``PerLabel.values``."""
    if not isinstance(setting, PerLabel) or is_fixed(setting):
        return setting
    values = dict(setting.values)
    for name in setting.names([*labels, LEAF] if leaves else labels):
        values.setdefault(name, default_of(setting))
    return dataclasses.replace(setting, values=values)


def bind_dimensions(setting: PerDimension, n_dimensions: int) -> PerDimension:
    """Give every dimension its own value."""
    if is_fixed(setting) or setting.values is not None:
        return setting
    return dataclasses.replace(setting, values=(default_of(setting),) * n_dimensions)


def dimension_gradients(name: str, setting: Any, gradient: NDArray[np.float64]) -> dict[str, float]:
    """The gradient of each dimension under its path, or their sum if the setting is one number."""
    if is_fixed(setting):
        return {}
    if not isinstance(setting, PerDimension):
        return {name: float(gradient.sum())}
    if setting.values is not None and len(gradient) == 0:
        gradient = np.zeros(len(setting.values))
    return {f"{name}[{k}]": float(value) for k, value in enumerate(gradient)}
