"""``Inducing``: how a sparse process chooses the structures through which it knows its function."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, fields
from typing import Literal

import numpy as np

from espalier.structures.numbers import as_float, check_choice, finite_number, whole_number

Choice = Literal["greedy", "random", "medoids", "variance"]

CANDIDATES = 2_000
LEAST_GAIN = 0.1


@dataclass(frozen=True)
class Inducing:
    """How many structures a sparse Gaussian process uses, and how it chooses them.

    The process describes its function by the values at these structures, its inducing variables. Time and memory then
    grow with the number of examples n as n m^2 and n m, for m of them.

    Parameters
    ----------
    n
        How many inducing variables, at most: structures that add nothing to those chosen before are not used. None adds
        structures for as long as the bound grows by ``least_gain``; this needs ``choose="greedy"``.
    choose
        ``"greedy"``: one after the other, each time the structure that raises the variational bound most. ``"random"``:
        at random. ``"medoids"``: the middles of clusters. ``"variance"``: each time the one that is explained least
        by those chosen before, a Cholesky factor with pivots.
    combine
        Inducing variables are weighted combinations of this many structures, which are chosen as said. The weights are
        learned by the variational bound. None uses the structures themselves.
    power
        The power of power expectation propagation: 0 is the variational bound, 1 is FITC; others are a compromise.
    learn
        Where the numbers of the kernel and the noise are learned: ``"pilot"``, exactly, on some of the examples (1,000,
        or as many as the learner's ``pilot`` says); or ``"bound"``, which continues from there with the bound of all
        examples. Bounds learn too much noise unless there are very many inducing variables.
    candidates
        From how many examples, drawn at random, the structures are chosen.
    least_gain
        By how many nats a structure must raise the bound if ``n`` is None.

    Examples
    --------
    >>> Inducing(200, choose="medoids")
    Inducing(n=200, choose='medoids', combine=None, power=0.0, learn='pilot', candidates=2000, least_gain=0.1)
    """

    n: int | None = 500
    _: KW_ONLY
    choose: Choice = "greedy"
    combine: int | None = None
    power: float = 0.0
    learn: Literal["pilot", "bound"] = "pilot"
    candidates: int = CANDIDATES
    least_gain: float = LEAST_GAIN

    def __post_init__(self) -> None:
        check_choice("choose", self.choose, "greedy", "random", "medoids", "variance")
        check_choice("learn", self.learn, "pilot", "bound")
        whole_number("candidates", self.candidates)
        finite_number("least_gain", self.least_gain)
        if not 0 <= as_float(self.power if isinstance(self.power, int | float | np.floating) else np.nan) <= 1:
            raise ValueError(
                f"power must lie between 0 (the variational bound) and 1 (FITC), both included, got {self.power!r}."
            )
        if self.n is not None:
            whole_number("n", self.n, none=True)
        elif self.choose != "greedy" or self.combine is not None:
            raise ValueError(
                "n=None adds structures until the bound stops growing, which needs choose='greedy' and combine=None. "
                "Give a number n."
            )
        if self.combine is not None:
            self._check_combine(whole_number("combine", self.combine, none=True))
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.generic):  # would not print as Python reads it
                object.__setattr__(self, field.name, value.item())

    def _check_combine(self, combine: int) -> None:
        if self.n is not None and combine < self.n:
            raise ValueError(
                f"combine must be at least n, the number of combinations, got {combine:,} structures for {self.n:,} "
                f"combinations. Write Inducing({self.n}, combine={5 * self.n})."
            )
        if self.power != 0:
            raise ValueError(
                f"Combinations of structures are learned by the variational bound alone, so combine needs power=0.0, "
                f"got {self.power!r}: for a larger power the weights fit the noise of the targets."
            )
        if self.learn != "pilot":
            raise ValueError(
                "Combinations of structures are learned with the numbers of the kernel kept, so combine needs "
                f"learn='pilot', got {self.learn!r}."
            )

    @property
    def n_structures(self) -> int | None:
        """How many structures are chosen, at most."""
        return self.n if self.combine is None else self.combine


def as_inducing(value: object) -> Inducing | None:
    """What a user's argument means: nothing, a number of structures, or how to choose them."""
    if value is None or isinstance(value, Inducing):
        return value
    try:
        return Inducing(whole_number("inducing", value))
    except ValueError:
        raise ValueError(
            "inducing must be None (exact), a positive number of structures, or Inducing(500, choose='greedy'), got "
            f"{value!r}."
        ) from None
