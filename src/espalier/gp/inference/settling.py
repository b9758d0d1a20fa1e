"""Sweeps over all sites until none changes: the fixed points of expectation propagation and of variational inference.

All sites change at once, in sweeps that have no order, so that results have the same bits in every run. A site that
swings from sweep to sweep takes shorter steps. While sweeps come nearer to rest, Anderson's method combines the last
few to a better one.

Near rest a sweep also looks ahead. It has computed a posterior, in time O(n^3); from there the latent means under other
sites follow in time O(n^2), if variances are taken to change by their own site alone. So the sweeps are played on to
their rest on these means, and the next posterior is that of the sites which are found there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from espalier.gp.inference.sites import SitePosterior, Sites, conditioned_on, starting
from espalier.gp.parameters import Vector

R = TypeVar("R")

CLOSE = 1e-7  # the largest change of a latent mean, in its deviations, at which to stop; the evidence changes by less
_KEPT, _WAIT = 6, 4  # sweeps that are combined; those after which they are combined again if that did not help
_SHORTEST = 0.1  # of steps that swing
_LOST = 1e6  # moves, in deviations, that lead nowhere
_NEAR, _AHEAD = 0.5, 30  # moves at which sweeps look ahead; how many sweeps they play
_AIM = 0.02  # how much nearer to rest they come, for what variances do is not seen


def settle(
    K: Vector,
    near: Sites | None,
    match: Callable[[SitePosterior], tuple[Sites, R]],
    most: int,
    close: float = CLOSE,
    *,
    looks_ahead: bool = False,
) -> tuple[SitePosterior, R, bool]:
    """Sweep at most so many times; ``match`` returns the sites that a posterior asks for, and what else it found.

    With ``looks_ahead``, which pays if ``match`` takes little time, there are fewer sweeps. Returns the last posterior,
    what ``match`` found there, and whether nothing changes any more.
    """
    sites, mixing, seen = starting(near, len(K)), _Mixing(), np.inf
    last: tuple[SitePosterior, R] | None = None
    for _ in range(most):
        at = conditioned_on(K, sites)
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large is found below
            wanted, found = match(at)
            moves = moves_of(at, wanted)
        largest = np.abs(moves).max(initial=0.0)
        if largest <= close:
            return at, found, True
        if not largest < _LOST and last is not None:
            break
        last = at, found
        if looks_ahead and largest < min(_NEAR, seen):
            # Where it does not lead nearer, it is left to plain sweeps until they are.
            seen, mixing = 0.5 * largest, _Mixing()
            sites = _ahead(K, at, match, wanted, max(_AIM * largest, 0.5 * close))
        else:
            sites = mixing.following(sites, wanted, moves)
    assert last is not None
    return *last, False


def _ahead(
    K: Vector, at: SitePosterior, match: Callable[[SitePosterior], tuple[Sites, R]], wanted: Sites, close: float
) -> Sites:
    """The sites at rest, if each variance changed by its own site alone; those that are wanted now if it leads away."""

    def covariances_times(right: Vector) -> Vector:
        prior = K @ right
        return np.asarray(prior - K @ (at.root * at.factor.solve(at.root * prior)))

    best, least, mean = wanted, np.inf, at.latent
    sites, mixing = at.sites, _Mixing()
    for _ in range(_AHEAD):
        change = Sites(sites.precision - at.sites.precision, sites.natural - at.sites.natural)
        mean = at.latent + covariances_times(change.natural - change.precision * mean)
        narrowed = np.maximum(1 + change.precision * at.latent_variance, 0.2)
        then = replace(
            at,
            sites=sites,
            latent=mean,
            dual=sites.natural - sites.precision * mean,
            latent_variance=at.latent_variance / narrowed,
            kept=at.kept / narrowed,
        )
        with np.errstate(over="ignore", invalid="ignore"):
            wanted, _ = match(then)
            moves = moves_of(then, wanted)
        largest = np.abs(moves).max(initial=0.0)
        if largest < least:
            best, least = wanted, largest
        if not close < largest < 2 * least:
            break
        sites = mixing.following(sites, wanted, moves)
    return best


def moves_of(at: SitePosterior, wanted: Sites) -> Vector:
    """How far the change of each site alone moves its latent value, in deviations, and how much it widens it."""
    change = Sites(wanted.precision - at.sites.precision, wanted.natural - at.sites.natural)
    moved = np.sqrt(at.latent_variance) * (change.natural - at.latent * change.precision)
    return np.concatenate([moved, at.latent_variance * change.precision])


@dataclass(eq=False)
class _Mixing:
    """The sites of the next sweep, from those of the last few."""

    step: Vector | float = 1.0  # of each site
    size: float = np.inf  # how far the last sweep was from rest
    change: Sites | None = None  # what the last sweep wanted
    plain: Sites | None = None  # where it led by itself, if the sweeps were combined
    tried: list[Vector] = field(default_factory=list)  # where the sweeps led to: precisions and natural means
    moves: list[Vector] = field(default_factory=list)
    wait: int = 0  # sweeps until they may be combined again

    def following(self, sites: Sites, wanted: Sites, moves: Vector) -> Sites:
        """The sites to try next."""
        size = float(np.linalg.norm(moves))
        if self.plain is not None and not size < self.size:  # combining them did not help: go where the last sweep led
            sites, self.plain, self.tried, self.moves, self.wait = self.plain, None, [], [], _WAIT
            return sites
        change = Sites(wanted.precision - sites.precision, wanted.natural - sites.natural)
        if self.plain is not None:
            self.step = np.minimum(1.5 * self.step, 1.0)
        elif self.change is not None:
            # A change that turns round and has hardly become smaller goes too far.
            swings = np.zeros(len(sites.precision), bool)
            for own, last in zip(change, self.change, strict=True):
                swings |= (own * last < 0) & (np.abs(own) > 0.5 * np.abs(last))
            self.step = np.where(swings, np.maximum(0.5 * self.step, _SHORTEST), np.minimum(1.2 * self.step, 1.0))
        self.change, next_sites, is_nearer = change, sites.towards(wanted, self.step), size < self.size
        self.size, self.plain, self.wait = size, None, max(self.wait - 1, 0)
        self.tried = [*self.tried[1 - _KEPT :], np.concatenate(next_sites)]
        self.moves = [*self.moves[1 - _KEPT :], moves]
        if len(self.moves) > 1 and is_nearer and not self.wait:
            self.plain, next_sites = next_sites, self._combined()
        return next_sites

    def _combined(self) -> Sites:
        """The combination of the last sweeps whose moves add up to the least (Anderson 1965)."""
        steps = np.diff(np.stack(self.moves, axis=1), axis=1)
        share = np.linalg.lstsq(steps, self.moves[-1], rcond=1e-10)[0]
        out = self.tried[-1] - np.diff(np.stack(self.tried, axis=1), axis=1) @ share
        precision, natural = np.split(out, 2)
        return Sites(np.maximum(precision, 0.0), natural)
