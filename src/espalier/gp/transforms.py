"""Monotone transforms of targets: the logarithm, the root, Box-Cox, a learned warping.

A Gaussian process models ``g(y)``; its density of ``y`` itself includes the slope of ``g``, so that models with
different transforms, or with a learned one, can be compared by their evidence. ``units`` standardises.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from espalier.errors import InputError
from espalier.gp.parameters import Parameter, Vector
from espalier.kernels.hyperparameters import Fixed, Learned, declared, is_fixed, number_of
from espalier.structures.numbers import as_float, shown, whole_number


def _number(name: str, value: Any, kind: str = "a finite number", low: float = -math.inf) -> float:
    """A setting as a float; raise if it is not of this kind."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not low < as_float(value) < math.inf:
        raise ValueError(f"{name} must be {kind}, got {shown(value)}.")
    return float(value)


@dataclass(frozen=True)
class Transform:
    """The identity, and what every transform offers: a monotone function, its slope, its inverse."""

    def prepared(self, y: Vector) -> Self:
        """Return the transform for these targets; raise if one of them is outside its domain."""
        return self

    def forward(self, y: Vector) -> tuple[Vector, Vector]:
        """Return the transformed targets and the logarithms of the slope there."""
        return np.array(y, np.float64), np.zeros(len(y))

    def inverse(self, z: Vector) -> Vector:
        """Return the targets from transformed ones."""
        return np.array(z, np.float64)

    def parameters(self) -> list[Parameter]:
        """Return the numbers that are learned with the rest."""
        return []

    def with_parameters(self, values: Mapping[str, float]) -> Self:
        """Return the transform with other values, by path."""
        return self

    def pull_back(self, y: Vector, z_bar: Vector, log_slope_bar: Vector) -> dict[str, float]:
        """Return the gradient by path, from those of the transformed targets and of the log slopes."""
        return {}

    @property
    def name(self) -> str:
        """The name of the modelled quantity."""
        return "y"


@dataclass(frozen=True)
class _Shifted(Transform):
    """A function of ``y + offset``, which must be positive."""

    offset: float = 0.0

    _function: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", _number("offset", self.offset))

    def prepared(self, y: Vector) -> Self:
        _check_positive(y, self.offset, self._function)
        return self

    @property
    def name(self) -> str:
        return f"{self._function}(y)" if self.offset == 0 else f"{self._function}(y + {self.offset:g})"


@dataclass(frozen=True)
class Log(_Shifted):
    """The logarithm of ``y + offset``, for targets that are positive and vary by factors."""

    _function = "log"

    def forward(self, y: Vector) -> tuple[Vector, Vector]:
        z = _log(y + self.offset)
        return z, -z

    def inverse(self, z: Vector) -> Vector:
        with np.errstate(over="ignore"):
            return np.exp(z) - self.offset


@dataclass(frozen=True)
class SquareRoot(_Shifted):
    """The square root of ``y + offset``, for counts and times. Predictions below the root of 0 count as 0."""

    _function = "sqrt"

    def forward(self, y: Vector) -> tuple[Vector, Vector]:
        root = np.sqrt(np.maximum(y + self.offset, 0.0))
        return root, -math.log(2) - _log(root)

    def inverse(self, z: Vector) -> Vector:
        with np.errstate(over="ignore"):
            return np.maximum(z, 0.0) ** 2 - self.offset


_POWER = "transform.power"


@dataclass(frozen=True)
class BoxCox(Transform):
    r"""A learned power, :math:`(y^p - 1) / p`: the identity at 1, the logarithm at 0.

    Parameters
    ----------
    power
        Where learning starts: a number, ``Learned``, or ``fixed``. It stays between 0 and 3 (from -2 if it starts below
        0) unless bounds are given, which may be below 0. With a negative power the mean of a prediction is infinite,
        but its median is not.
    """

    power: float | Learned | Fixed = 0.5

    def __post_init__(self) -> None:
        inner = self.power.value if isinstance(self.power, Learned | Fixed) else self.power
        _number("power", inner, "a finite number, fixed(...) or Learned(...)")

    def prepared(self, y: Vector) -> Self:
        _check_positive(y, 0.0, "boxcox")
        return self

    def forward(self, y: Vector) -> tuple[Vector, Vector]:
        power, log_y = number_of(self.power), _log(y)
        with np.errstate(over="ignore"):
            z = log_y if power == 0 else np.expm1(power * log_y) / power
        return z, (power - 1) * log_y

    def inverse(self, z: Vector) -> Vector:
        """Return the targets from transformed ones; 0 below the range of the power, infinity above it."""
        power = number_of(self.power)
        with np.errstate(divide="ignore", over="ignore"):
            if power == 0:
                return np.exp(z)
            return np.exp(np.log1p(np.maximum(power * np.asarray(z), -1.0)) / power)

    def parameters(self) -> list[Parameter]:
        usual = (0.0 if number_of(self.power) >= 0 else -2.0, 3.0)
        return [
            Parameter(path, start, *bounds, prior, unit, signed=True)
            for path, (start, bounds, prior, unit) in declared(_POWER, self.power, usual, "power of y").items()
        ]

    def with_parameters(self, values: Mapping[str, float]) -> Self:
        return replace(self, power=values[_POWER]) if _POWER in values else self

    def pull_back(self, y: Vector, z_bar: Vector, log_slope_bar: Vector) -> dict[str, float]:
        if is_fixed(self.power):
            return {}
        power, log_y = number_of(self.power), np.log(y)
        u = power * log_y
        # d/dp (exp(p l) - 1) / p = l^2 (e^u (u - 1) + 1) / u^2, by its series where u is small.
        near = np.abs(u) < 1e-3
        safe = np.where(near, 1.0, u)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is a gradient that is not finite
            ratio = np.where(near, 0.5 + u / 3 + u * u / 8, (np.exp(safe) * (safe - 1) + 1) / safe**2)
            return {_POWER: float(z_bar @ (log_y**2 * ratio) + log_slope_bar @ log_y)}

    @property
    def name(self) -> str:
        return f"y^({number_of(self.power):.3g}), Box-Cox"


_DEVIATIONS = "standard deviations of y"
# The numbers of a step: where learning starts unless the targets decide, the bounds, the unit.
_STEP = {
    "height": (0.3, (1e-6, 1e2), _DEVIATIONS),
    "steepness": (1.0, (1e-2, 1e2), f"1 / {_DEVIATIONS}"),
    "centre": (0.0, (-5.0, 5.0), _DEVIATIONS),
}


@dataclass(frozen=True)
class Warping(Transform):
    r"""A learned monotone function: a line with soft steps, as in warped Gaussian processes (Snelson et al. 2004).

    .. math:: g(y) = u + \sum_k a_k \tanh(b_k (u - c_k)),   u = (y - location) / scale

    with :math:`a_k, b_k > 0`. ``location`` and ``scale`` are taken from the training targets unless given; the
    heights :math:`a`, steepnesses :math:`b` and centres :math:`c` are learned with the kernel.
    """

    n_steps: int = 3
    location: float | None = None
    scale: float | None = None
    height: tuple[float, ...] | None = None
    steepness: tuple[float, ...] | None = None
    centre: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_steps", whole_number("n_steps", self.n_steps))
        for name in _STEP:
            values = getattr(self, name)
            if values is not None:
                object.__setattr__(self, name, self._checked_steps(name, values))
        if self.location is not None:
            object.__setattr__(self, "location", _number("location", self.location))
        if self.scale is not None:
            object.__setattr__(self, "scale", _number("scale", self.scale, "positive", 0.0))

    def _checked_steps(self, name: str, values: Any) -> tuple[float, ...]:
        kind, low = ("number", -math.inf) if name == "centre" else ("positive number", 0.0)
        try:
            if len(values) != self.n_steps:
                raise ValueError
            return tuple(_number(name, value, low=low) for value in values)
        except (TypeError, ValueError):
            raise ValueError(
                f"{name} must hold one {kind} for each of the {self.n_steps} steps, got {values!r}. Every step is "
                "learned from there; fixed and Learned have no place here."
            ) from None

    def prepared(self, y: Vector) -> Self:
        """Return the transform with location, scale and starts for these targets."""
        location, scale = location_and_scale(y)
        location = location if self.location is None else self.location
        scale = scale if self.scale is None else self.scale
        levels = (np.arange(self.n_steps) + 0.5) / self.n_steps
        centre = tuple(np.quantile((y - location) / scale, levels).clip(-4.9, 4.9).tolist())
        steps = {**self._steps(), "centre": self.centre or centre}
        return replace(self, location=location, scale=scale, **steps)

    def _steps(self) -> dict[str, Any]:
        """The numbers of all steps by name; those at which learning starts, where none are given."""
        return {name: getattr(self, name) or (start,) * self.n_steps for name, (start, _, _) in _STEP.items()}

    def _parts(self, y: Vector) -> tuple[Vector, Vector, Vector, Vector, Vector, Vector]:
        if self.location is None or self.scale is None or self.height is None:
            raise ValueError("This Warping is not fitted to targets yet: use the fitted one, model.transform_.")
        u = (np.asarray(y) - self.location) / self.scale
        a, b, c = map(np.array, self._steps().values())
        t = np.tanh(b * (u[:, None] - c))
        return u, a, b, c, t, 1 + (1 - t**2) @ (a * b)

    def forward(self, y: Vector) -> tuple[Vector, Vector]:
        u, a, _, _, t, slope = self._parts(y)
        return u + t @ a, np.log(slope) - math.log(self.scale or 1.0)

    def inverse(self, z: Vector) -> Vector:
        """Return the targets from transformed ones, by Newton's method inside a bracket: the function is monotone."""
        z = np.asarray(z, np.float64)
        goal = z.ravel()
        location, scale = self.location or 0.0, self.scale or 1.0
        reach = sum(self.height or (0.0,))
        u, open_ = goal.copy(), np.arange(len(goal))
        low, high, last = goal - reach, goal + reach, np.full(len(goal), np.inf)
        for _ in range(200):
            x = u[open_]
            _, a, _, _, t, slope = self._parts(x * scale + location)
            excess = x + t @ a - goal[open_]
            low[open_], high[open_] = np.where(excess > 0, low[open_], x), np.where(excess > 0, x, high[open_])
            new = x - excess / slope
            # Take Newton's step if it stays in the bracket and is at most half of the last one.
            good = (new > low[open_]) & (new < high[open_]) & (np.abs(new - x) <= 0.5 * last[open_])
            new = np.where(good | (excess == 0), new, 0.5 * (low[open_] + high[open_]))
            moved = np.abs(new - x)
            u[open_], last[open_] = new, moved
            open_ = open_[moved > 1e-15 * np.maximum(np.abs(x), 1.0)]
            if len(open_) == 0:
                break
        return np.asarray(u * scale + location).reshape(z.shape)

    def parameters(self) -> list[Parameter]:
        steps = self._steps()
        return [
            Parameter(_path(name, k), steps[name][k], *bounds, None, unit, signed=name == "centre", declared=False)
            for k in range(self.n_steps)
            for name, (_, bounds, unit) in _STEP.items()
        ]

    def with_parameters(self, values: Mapping[str, float]) -> Self:
        changes: dict[str, Any] = {
            name: tuple(values.get(_path(name, k), value) for k, value in enumerate(old))
            for name, old in self._steps().items()
        }
        return replace(self, **changes)

    def pull_back(self, y: Vector, z_bar: Vector, log_slope_bar: Vector) -> dict[str, float]:
        u, a, b, c, t, slope = self._parts(y)
        bend = 1 - t**2  # the derivative of tanh
        slope_bar = (log_slope_bar / slope)[:, None]
        inner_bar = z_bar[:, None] * a * bend - 2 * slope_bar * a * b * t * bend  # of b (u - c)
        gradients = {
            "height": (z_bar[:, None] * t + slope_bar * b * bend).sum(axis=0),
            "steepness": (inner_bar * (u[:, None] - c) + slope_bar * a * bend).sum(axis=0),
            "centre": -(inner_bar * b).sum(axis=0),
        }
        return {_path(name, k): float(bar[k]) for k in range(self.n_steps) for name, bar in gradients.items()}

    @property
    def name(self) -> str:
        return "warped y"


TRANSFORMS: dict[str | None, Transform] = {
    None: Transform(),
    "log": Log(),
    "sqrt": SquareRoot(),
    "boxcox": BoxCox(),
    "warped": Warping(),
}


def as_transform(transform: object) -> Transform:
    """The transform that a user named or gave."""
    if isinstance(transform, Transform):
        return transform
    if isinstance(transform, str | None) and transform in TRANSFORMS:
        return TRANSFORMS[transform]
    names = ", ".join(map(repr, TRANSFORMS))
    error = ValueError if isinstance(transform, str) else TypeError
    raise error(f"target_transform must be one of {names}, or an object such as Log(offset=1), got {transform!r}.")


def location_and_scale(values: Vector) -> tuple[float, float]:
    """The mean and the standard deviation of some numbers; the latter is 1 if they are equal."""
    top = float(np.abs(values).max()) or 1.0
    part = values / top  # so that squares of huge numbers do not overflow
    location, scale = float(part.mean()) * top, float(part.std()) * top
    return location, 1.0 if is_constant(values) else scale


def is_constant(values: Vector) -> bool:
    """True if numbers differ at most by rounding, so that standardising has nothing to divide by."""
    top = float(np.abs(values).max(initial=0.0))
    # Use halves, since the difference of two huge numbers may overflow.
    return bool(values.max(initial=-top) / 2 - values.min(initial=top) / 2 <= np.spacing(top))


def _path(name: str, step: int) -> str:
    return f"transform.{name}[{step}]"


def _check_positive(y: Vector, offset: float, name: str) -> None:
    bad = np.flatnonzero(~(y + offset > 0))
    if len(bad):
        plus = "" if offset == 0 else f" + {offset:g}"
        first = {"log": "Log(offset=1)", "sqrt": "SquareRoot(offset=1)", "boxcox": "y + 1 as targets"}[name]
        raise InputError(
            f"target_transform={name!r} needs targets{plus} above 0, but {len(bad):,} are not; the first is "
            f"y[{bad[0]}] = {y[bad[0]]:.6g}. Use {first if offset == 0 else 'a larger offset'}, or 'warped' for any "
            "numbers."
        )


def _log(y: Vector) -> Vector:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(y)
