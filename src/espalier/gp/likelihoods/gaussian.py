"""The Gaussian likelihood: one noise variance, one per group, or known ones beside it.

The variance of observation ``i`` is ``noise[group_i] / weight_i + known_i``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError, warn_user
from espalier.gp.likelihoods.base import Expected, Likelihood, ParameterSlopes, Slopes, Tilt, setting_parameters
from espalier.gp.parameters import Parameter, Vector
from espalier.gram.targets import row_numbers
from espalier.kernels.hyperparameters import (
    VARIANCE,
    PerDimension,
    PerLabel,
    bind_labels,
    check_setting,
    default_of,
    is_fixed,
    with_paths,
)
from espalier.structures.columns import refuse_masked

BOUNDS = (1e-6, 1e5)


@dataclass(frozen=True, eq=False)
class Observed:
    """Targets, and what else is known about each."""

    values: Vector  # the targets, in modelled units
    group: NDArray[np.intp]  # the noise group of each, as an index into the names
    names: tuple[str, ...]  # of groups
    weight: Vector  # how many observations each target represents
    known: Vector  # a part of the noise variance that is given, in squared units of the targets

    def part(self, rows: NDArray[np.intp]) -> Observed:
        """Some of the observations."""
        return replace(self, **{name: getattr(self, name)[rows] for name in ("values", "group", "weight", "known")})

    def in_units(self, values: Vector, scale: float | Vector) -> Observed:
        """The observations with targets in other units; one new unit is ``scale`` present ones (of each target)."""
        return replace(self, values=values, known=self.known / scale / scale)


@dataclass(frozen=True)
class Gaussian(Likelihood[Observed]):
    """A target is its latent value plus normal noise.

    Parameters
    ----------
    noise
        The variance: a number, ``fixed``, ``Learned``, or ``PerLabel`` for one for each group of observations.
    unit
        The unit of the targets.
    """

    noise: Any = 0.1
    unit: str = "targets"

    def __post_init__(self) -> None:
        if isinstance(self.noise, PerDimension):
            raise TypeError(f"noise must be a number, fixed(...), Learned(...) or PerLabel(...), got {self.noise!r}.")
        check_setting("noise", self.noise)

    def parameters(self) -> list[Parameter]:
        unit = f"{VARIANCE}, in squared {self.unit}"
        return setting_parameters("noise", self.noise, BOUNDS, unit)

    def with_parameters(self, values: Mapping[str, float]) -> Self:
        chosen = {path: value for path, value in values.items() if path == "noise" or path.startswith("noise[")}
        return replace(self, noise=with_paths("noise", self.noise, chosen)[0])

    def variances(self, targets: Observed) -> Vector:
        """The variance of each observation."""
        default = default_of(self.noise)
        own = dict(self.noise.values) if isinstance(self.noise, PerLabel) else {}
        levels = np.array([own.get(name, default) for name in targets.names])
        with np.errstate(over="ignore"):  # an infinite variance has no factor, which is an error with a name
            return np.asarray(levels[targets.group] / targets.weight + targets.known)

    def pull_back(self, targets: Observed, bar: Vector) -> dict[str, float]:
        """The gradient by path from the gradient of each observation's variance."""
        sums = np.bincount(targets.group, bar / targets.weight, minlength=len(targets.names))
        return {path: float(value) for path, value in zip(self._paths(targets), sums, strict=True)}

    def log_density(self, latent: Vector, targets: Observed) -> Vector:
        return self.log_predictive_density(latent, np.zeros(len(latent)), targets)

    def slopes(self, latent: Vector, targets: Observed) -> Slopes:
        curvature = 1 / self.variances(targets)
        return Slopes(curvature * (targets.values - latent), curvature, np.zeros(len(latent)))

    def parameter_slopes(self, latent: Vector, targets: Observed) -> dict[str, ParameterSlopes]:
        slope, curvature, _ = self.slopes(latent, targets)
        by_variance = 0.5 * (slope**2 - curvature), -slope * curvature, -curvature
        return {
            path: ParameterSlopes(*(rate * own for own in by_variance)) for path, rate in self._rates(targets).items()
        }

    @property
    def has_closed_tilt(self) -> bool:
        return True

    def tilt(self, mean: Vector, variance: Vector, targets: Observed) -> Tilt:
        total = variance + self.variances(targets)
        log_mass = self.log_predictive_density(mean, variance, targets)
        return Tilt(log_mass, (targets.values - mean) / total, 1 / total)

    def tilt_slopes(self, mean: Vector, variance: Vector, targets: Observed) -> dict[str, Vector]:
        total = variance + self.variances(targets)
        by_variance = 0.5 * (((targets.values - mean) / total) ** 2 - 1 / total)
        return {path: rate * by_variance for path, rate in self._rates(targets).items()}

    def expected(self, mean: Vector, variance: Vector, targets: Observed) -> Expected:
        slope, curvature, _ = self.slopes(mean, targets)
        return Expected(self.log_density(mean, targets) - 0.5 * curvature * variance, slope, curvature)

    def expected_slopes(self, mean: Vector, variance: Vector, targets: Observed) -> dict[str, Vector]:
        slope, curvature, _ = self.slopes(mean, targets)
        by_variance = 0.5 * (slope**2 + curvature**2 * variance - curvature)
        return {path: rate * by_variance for path, rate in self._rates(targets).items()}

    def log_predictive_density(self, mean: Vector, variance: Vector, targets: Observed) -> Vector:
        total = variance + self.variances(targets)
        return np.asarray(-0.5 * ((targets.values - mean) ** 2 / total + np.log(2 * np.pi * total)))

    def _rates(self, targets: Observed) -> dict[str, Vector]:
        """By path, the derivative of each observation's variance."""
        return {path: (targets.group == place) / targets.weight for place, path in enumerate(self._paths(targets))}

    def _paths(self, targets: Observed) -> list[str]:
        return [f"noise[{name}]" if isinstance(self.noise, PerLabel) else "noise" for name in targets.names]


def observed(
    noise: Any, n: int, groups: Any = None, weight: object = None, known: object = None
) -> tuple[Gaussian, Observed, NDArray[np.intp]]:
    """Check a user's noise and data; return the likelihood, the observations (with values still 0), and their rows.

    ``known`` is in squared units of the transformed target. Observations with a weight of 0 are left out and not
    checked; the rows are those of the others.
    """
    likelihood = Gaussian(noise)
    weight = row_numbers(weight, n, "sample_weight") if weight is not None else np.ones(n)
    rows = np.flatnonzero(weight)
    if len(rows) == 0 and n:
        raise InputError("Every sample_weight is zero, so there is nothing to learn from.")
    known = row_numbers(known, n, "noise_variance", rows) if known is not None else np.zeros(len(rows))
    if isinstance(noise, PerLabel):
        if groups is None:
            raise InputError("noise is one number per group, so the groups are needed: noise_groups=[...].")
        labels = _labels(groups, n, rows)
        listed = noise.names(labels)
        place = {name: k for k, name in enumerate(dict.fromkeys(listed))}
        group = np.array([place[name] for name in listed], np.intp)
        likelihood = Gaussian(bind_labels(noise, labels, leaves=False))
    elif groups is not None:
        raise InputError(
            "noise_groups were given, but noise is one number. Write noise=PerLabel(0.1) for one per group."
        )
    else:
        place, group = {"": 0}, np.zeros(len(rows), np.intp)
    return likelihood, Observed(np.zeros(len(rows)), group, tuple(place), weight[rows], known), rows


def new_noise(setting: object, n: int, groups: object, *, fitted: bool) -> Vector:
    """The noise of new observations; groups that a fitted model has not seen have the start of their ``PerLabel``."""
    likelihood, new, _ = observed(setting, n, groups)
    if fitted and isinstance(setting, PerLabel) and not is_fixed(setting):
        known = dict(setting.values)
        unseen = [name for name in new.names if name not in known]
        if unseen:
            warn_user(
                f"{len(unseen)} group{'s' * (len(unseen) > 1)} of noise were not seen in training, so the start of "
                f"PerLabel, {default_of(setting):g}, is used for: {', '.join(map(repr, unseen))}."
            )
    return likelihood.variances(new)


def start_of_noise(setting: PerLabel, n: int) -> Vector:
    """The noise of new observations whose groups were not given, with a warning if groups may differ."""
    if is_fixed(setting) and not setting.values:
        return np.full(n, default_of(setting))
    warn_user(
        "noise_groups were not given: the mean of a transformed target depends on the noise, for which the start of "
        f"PerLabel, {default_of(setting):g} (a variance), is used. Pass noise_groups=[...] to use that of each group."
    )
    return np.full(n, default_of(setting))


def _labels(groups: Any, n: int, rows: NDArray[np.intp]) -> list[str]:
    refuse_masked(groups, "noise_groups", rows)
    listed = list(groups)
    if len(listed) != n:
        raise InputError(f"X has {n:,} examples but noise_groups has {len(listed):,} labels.")
    for row in rows.tolist():
        if listed[row] is None or listed[row] != listed[row]:
            raise InputError(f"noise_groups[{row}] is missing ({listed[row]}). Name a group for each example.")
    return [str(listed[row]) for row in rows.tolist()]
