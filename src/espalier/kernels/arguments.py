"""The arguments of a kernel, and of kernels inside it, by name; a grid search reads and sets them.

Names are those of ``parameters()`` (``decay``, ``terms[0].decay``, ``decay[NP]``) and those of all other arguments:
``max_depth``, ``factors[1].length``. Kernels are frozen, so setting an argument gives another kernel.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from espalier.kernels.base import KERNEL_FIELDS, Kernel
from espalier.kernels.hyperparameters import PerDimension, is_number, with_number


def arguments_of(kernel: Kernel) -> dict[str, object]:
    """All arguments by name, each as the kernel keeps it.

    Examples
    --------
    >>> from espalier.kernels import Normalized, SubsetTree
    >>> arguments_of(Normalized(SubsetTree(0.2, max_depth=3)))
    {'decay': 0.2, 'frontier': 1.0, 'max_depth': 3, 'lone_leaves': False, 'on': None}
    """
    found: dict[str, object] = dict(kernel.parameters())
    for prefix, child in kernel._children():
        found |= {prefix + name: value for name, value in arguments_of(child).items()}
    return found | {name: getattr(kernel, name) for name in _own(kernel)}


def with_arguments(kernel: Kernel, changes: Mapping[str, object]) -> Kernel:
    """Return a kernel with some arguments replaced; the error for a wrong name lists the valid ones.

    A number in place of ``fixed(x)``, ``Learned(x)`` or ``PerLabel(x)`` replaces the number inside.

    Examples
    --------
    >>> from espalier.kernels import Normalized, SubsetTree, fixed
    >>> with_arguments(Normalized(SubsetTree(fixed(0.2))), {"decay": 0.4, "max_depth": 3})
    Normalized(SubsetTree(decay=fixed(0.4), max_depth=3))
    """
    changed, unknown = _changed(kernel, dict(changes))
    for name in unknown:
        # The message is worded as in scikit-learn.
        raise ValueError(
            f"Invalid parameter {name!r} for kernel {kernel!r}. Valid parameters are: {list(arguments_of(kernel))!r}."
        )
    return changed


def _changed(kernel: Kernel, changes: dict[str, Any]) -> tuple[Kernel, dict[str, object]]:
    own, settings = _own(kernel), dict(kernel._settings())
    mine: dict[str, Any] = {}
    numbers: dict[str, Any] = {}  # each of one label or one dimension
    rest: dict[str, Any] = {}
    for name, value in changes.items():
        if name in own:
            mine[name] = _kept_kind(settings[name], value) if name in settings else value
        else:
            (numbers if name.split("[")[0] in settings else rest)[name] = value
    changed = dataclasses.replace(kernel, **mine) if mine else kernel
    changed, unknown = changed._with_paths(numbers)
    changed, beyond = changed._with_inside(rest, _changed)
    return changed, unknown | beyond


def _own(kernel: Kernel) -> list[str]:
    return [field.name for field in dataclasses.fields(kernel) if field.init and field.name not in KERNEL_FIELDS]


def _kept_kind(setting: object, value: Any) -> Any:
    """A number as the kind of setting that it replaces; any other setting as it is."""
    has_own_values = isinstance(setting, PerDimension) and setting.values is not None
    return with_number(setting, value) if is_number(value) and not has_own_values else value
