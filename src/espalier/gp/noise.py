"""How far each observation may lie from the function: one noise level, one per group, or known ones beside it.

The variance of observation ``i`` is ``noise[group_i] / weight_i + known_i``.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.gp.parameters import Parameter, Vector
from espalier.gram.targets import check_finite_numbers, real_numbers
from espalier.kernels.hyperparameters import (
    PerDimension,
    PerLabel,
    bind_labels,
    check_setting,
    declared,
    is_fixed,
    number_of,
    with_paths,
)
from espalier.structures.columns import refuse_masked

BOUNDS = (1e-6, 1e5)


@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of a set of observations, at any value of its hyperparameters."""

    setting: Any
    group: NDArray[np.intp]
    names: tuple[str, ...]
    weight: Vector
    known: Vector
    rows: NDArray[np.intp]

    @staticmethod
    def of(setting: Any, n: int, groups: Any = None, weight: Any = None, known: Any = None) -> Noise:
        """Check what a user gave; ``known`` is in squared units of the transformed target.

        Observations with a weight of 0 are left out, and nothing of them is checked; ``rows`` are the others.
        """
        if isinstance(setting, PerDimension):
            raise TypeError(f"noise must be a number, fixed(...), Learned(...) or PerLabel(...), got {setting!r}.")
        check_setting("noise", setting)
        weight = _vector(weight, n, "sample_weight") if weight is not None else np.ones(n)
        rows = np.flatnonzero(weight)
        if len(rows) == 0 and n:
            raise InputError("Every sample_weight is zero, so there is nothing to learn from.")
        weight = weight[rows]
        known = _vector(known, n, "noise_variance", rows) if known is not None else np.zeros(len(rows))
        if not isinstance(setting, PerLabel):
            if groups is not None:
                raise InputError(
                    "noise_groups were given, but noise is one number. Write noise=PerLabel(0.1) for one per group."
                )
            return Noise(setting, np.zeros(len(rows), np.intp), ("",), weight, known, rows)
        if groups is None:
            raise InputError("noise is one number per group, so the groups are needed: noise_groups=[...].")
        labels = _labels(groups, n, rows)
        names = setting.names(labels)
        unique = tuple(dict.fromkeys(names))
        place = {name: k for k, name in enumerate(unique)}
        group = np.array([place[name] for name in names], np.intp)
        return Noise(bind_labels(setting, labels, leaves=False), group, unique, weight, known, rows)

    def part(self, rows: NDArray[np.intp]) -> Noise:
        """The noise of some of the observations."""
        taken = {name: getattr(self, name)[rows] for name in ("group", "weight", "known", "rows")}
        return replace(self, **taken)

    def parameters(self, unit: str) -> list[Parameter]:
        """The noise levels to learn."""
        return [
            Parameter(path, value, *bounds, prior, f"variance, in squared {unit}")
            for path, (value, bounds, prior) in declared("noise", self.setting, BOUNDS).items()
        ]

    def with_parameters(self, values: Mapping[str, float]) -> Any:
        """The setting at other values."""
        chosen = {path: value for path, value in values.items() if path == "noise" or path.startswith("noise[")}
        setting = with_paths("noise", self.setting, chosen)[0]
        check_setting("noise", setting)
        return setting

    def levels(self, setting: Any) -> Vector:
        """The variance of each group."""
        default = number_of(setting)
        own = dict(setting.values) if isinstance(setting, PerLabel) else {}
        return np.array([own.get(name, default) for name in self.names])

    def variances(self, setting: Any, scale: float) -> Vector:
        """The variance of each observation, in squared modelled units."""
        return self.levels(setting)[self.group] / self.weight + self.known / scale / scale

    def pull_back(self, bar: Vector) -> dict[str, float]:
        """The gradient by path from the gradient of each observation's variance."""
        sums = np.bincount(self.group, bar / self.weight, minlength=len(self.names))
        if not isinstance(self.setting, PerLabel):
            return {"noise": float(sums[0])}
        return {f"noise[{name}]": float(value) for name, value in zip(self.names, sums, strict=True)}


def new_noise(setting: Any, n: int, groups: Any, *, fitted: bool) -> Vector:
    """The noise of new observations; groups that a fitted model has not seen have the start of their ``PerLabel``."""
    noise = Noise.of(setting, n, groups)
    if fitted and isinstance(setting, PerLabel) and not is_fixed(setting):
        known = dict(setting.values)
        unseen = [name for name in noise.names if name not in known]
        if unseen:
            warnings.warn(
                f"{len(unseen)} group{'s' * (len(unseen) > 1)} of noise were not seen in training, so the start of "
                f"PerLabel, {number_of(setting):g}, is taken for: {', '.join(map(repr, unseen))}.",
                stacklevel=4,
            )
    return noise.variances(noise.setting, 1.0)


def start_of_noise(setting: PerLabel, n: int) -> Vector:
    """The noise of new observations whose groups were not given, with a warning where groups may differ."""
    if is_fixed(setting) and not setting.values:
        return np.full(n, number_of(setting))
    warnings.warn(
        "noise_groups were not given: the mean of a transformed target depends on the noise, for which the start of "
        f"PerLabel, {number_of(setting):g} (a variance), is taken. Give noise_groups=[...] for those of the groups.",
        stacklevel=4,
    )
    return np.full(n, number_of(setting))


def _labels(groups: Any, n: int, rows: NDArray[np.intp]) -> list[str]:
    refuse_masked(groups, "noise_groups", rows)
    listed = list(groups)
    if len(listed) != n:
        raise InputError(f"X has {n:,} examples but noise_groups has {len(listed):,} labels.")
    for row in rows.tolist():
        if listed[row] is None or listed[row] != listed[row]:
            raise InputError(f"noise_groups[{row}] is missing ({listed[row]}). Name a group for each example.")
    return [str(listed[row]) for row in rows.tolist()]


def _vector(values: Any, n: int, name: str, rows: NDArray[np.intp] | None = None) -> Vector:
    """One number for each example, finite and not below 0; only of some rows, if these are named."""
    out = real_numbers(values, name, rows)
    if out.ndim == 0:
        out = np.full(n, float(out))
    if out.shape != (n,):
        raise InputError(f"{name} must hold one number for each of the {n:,} examples, got shape {out.shape}.")
    kept = np.arange(n) if rows is None else rows
    check_finite_numbers(out[kept], name, kept)
    bad = kept[out[kept] < 0]
    if len(bad):
        raise InputError(f"{name}[{bad[0]}] is {out[bad[0]]:.6g}; it must not be below 0.")
    return out[kept]
