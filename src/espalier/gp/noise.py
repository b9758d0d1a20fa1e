"""How far each observation may lie from the function: one noise level, one per group, or known ones beside it.

The variance of observation ``i`` is ``noise[group_i] / weight_i + known_i``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.gp.parameters import Parameter, Vector
from espalier.gram.targets import check_finite_numbers, real_numbers
from espalier.kernels.hyperparameters import PerLabel, bind_labels, check_setting, declared, number_of, with_paths

BOUNDS = (1e-6, 1e5)


@dataclass(frozen=True, eq=False)
class Noise:
    """The noise of a set of observations, at any value of its hyperparameters."""

    setting: Any
    group: NDArray[np.intp]
    names: tuple[str, ...]
    weight: Vector
    known: Vector

    @staticmethod
    def of(setting: Any, n: int, groups: Any = None, weight: Any = None, known: Any = None) -> Noise:
        """Check what a user gave; ``known`` is in squared units of the transformed target."""
        check_setting("noise", setting)
        known = _vector(known, n, "noise_variance", low=0.0) if known is not None else np.zeros(n)
        weight = _vector(weight, n, "sample_weight", low=0.0) if weight is not None else np.ones(n)
        if (weight == 0).any():
            raise InputError("A sample_weight is zero; drop the examples that should not count.")
        if not isinstance(setting, PerLabel):
            if groups is not None:
                raise InputError(
                    "noise_groups were given, but noise is one number. Write noise=PerLabel(0.1) for one per group."
                )
            return Noise(setting, np.zeros(n, np.intp), ("",), weight, known)
        if groups is None:
            raise InputError("noise is one number per group, so the groups are needed: noise_groups=[...].")
        labels = [str(label) for label in groups]
        if len(labels) != n:
            raise InputError(f"X has {n:,} examples but noise_groups has {len(labels):,} labels.")
        names = setting.names(labels)
        unique = tuple(dict.fromkeys(names))
        place = {name: k for k, name in enumerate(unique)}
        group = np.array([place[name] for name in names], np.intp)
        return Noise(bind_labels(setting, labels, leaves=False), group, unique, weight, known)

    def part(self, rows: NDArray[np.intp]) -> Noise:
        """The noise of some of the observations."""
        return replace(self, group=self.group[rows], weight=self.weight[rows], known=self.known[rows])

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


def _vector(values: Any, n: int, name: str, *, low: float) -> Vector:
    out = real_numbers(values, name)
    if out.ndim == 0:
        out = np.full(n, float(out))
    if out.shape != (n,):
        raise InputError(f"{name} must hold one number for each of the {n:,} examples, got shape {out.shape}.")
    check_finite_numbers(out, name)
    if (out < low).any():
        bad: Sequence[int] = np.flatnonzero(out < low).tolist()
        raise InputError(f"{name}[{bad[0]}] is {out[bad[0]]:.6g}; it must not be below {low:g}.")
    return out
