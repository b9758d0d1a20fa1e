"""Newton's method for the mode of latent values: where a climb starts, how far each step goes, and when it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from espalier.gp.parameters import Vector

_SHORTEST = 1e-8  # of a step


@dataclass(eq=False)
class Climb:
    """A place on the way to the mode.

    Attributes
    ----------
    height_of
        The log posterior, up to a constant, of a dual and its latent values.
    dual, latent
        The place: the latent values are the prior covariances times the dual.
    height
        The greatest height so far.
    gain
        By how much the last step rose.
    """

    height_of: Callable[[Vector, Vector], float]
    dual: Vector
    latent: Vector
    height: float
    gain: float = np.inf

    @staticmethod
    def start(K: Vector, zero: Vector, near: Vector | None, height_of: Callable[[Vector, Vector], float]) -> Climb:
        """Start at the dual ``near`` if that is higher than ``zero``."""
        dual = zero
        if near is not None and height_of(near, K @ near) > height_of(zero, zero):
            dual = near
        latent = K @ dual
        return Climb(height_of, dual, latent, height_of(dual, latent))

    def ends(self, move: Vector, close: float) -> bool:
        """Whether the next step would move the latent values by less than ``close``, or the last one gained nothing.

        The second is for huge covariances, whose rounding exceeds ``close``.
        """
        return bool(np.abs(move).max() <= close * (1 + np.abs(self.latent).max())) or self.gain <= self._rounding

    def advance(self, step: Vector, move: Vector) -> None:
        """Take a step of the dual, which moves the latent values by ``move``; halve it for as long as it goes down."""
        least, length = self.height - self._rounding, 1.0
        while (found := self._after(length, step, move)) < least and length > _SHORTEST:
            length *= 0.5
        self.dual, self.latent = self.dual + length * step, self.latent + length * move
        self.gain, self.height = found - self.height, max(found, self.height)

    def _after(self, length: float, step: Vector, move: Vector) -> float:
        return self.height_of(self.dual + length * step, self.latent + length * move)

    @property
    def _rounding(self) -> float:
        """What differences of heights may owe to rounding."""
        return 1e-14 * (1 + abs(self.height))
