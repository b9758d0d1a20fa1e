"""One chain of the no-U-turn sampler of mici, as a job.

mici brings the transitions and their adaptation; the loop around them stands here, so that each iteration reports its
progress, and an interruption keeps what was drawn. Coordinates are standardised by the curvature at the mode, so that
the step size and the metric are nearly right before warm-up begins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from espalier.bayes.density import Density, density_of
from espalier.bayes.mode import Mode
from espalier.blas import blas_threads
from espalier.errors import MissingDependencyError
from espalier.gp.optimize import FAILURES
from espalier.gp.parameters import Vector

_TRANSITION = "nuts"


@dataclass(frozen=True)
class NutsSettings:
    """How long chains are, and how carefully they move."""

    n_draws: int
    n_warmup: int
    acceptance: float  # the mean acceptance probability that the step size aims at
    max_depth: int  # a transition takes at most 2**max_depth evaluations


@dataclass(eq=False)
class Chain:
    """What one chain has drawn: one row for each draw."""

    coordinates: list[Vector] = field(default_factory=list)
    log_density: list[float] = field(default_factory=list)
    statistics: list[dict[str, Any]] = field(default_factory=list)
    n_evaluations: int = 0
    stop: BaseException | None = None  # what interrupted it


@dataclass(frozen=True, eq=False)
class ChainJob:
    """A job: one chain. It makes a plan of its own, so that a chain is the same wherever it runs."""

    model: Any
    mode: Mode
    settings: NutsSettings
    seed: np.random.SeedSequence
    cost: float = 1.0

    def __call__(self) -> Chain:
        return self.run(None)

    def run(self, tell: Callable[[float], object] | None) -> Chain:
        """Draw; ``tell`` is called with the share of iterations that is done."""
        with blas_threads(self.model.n_threads):
            return _Run(density_of(self.model), self.mode, self.settings, self.seed, tell).chain


class _Run:
    """The state of a chain that is being drawn."""

    def __init__(
        self,
        density: Density,
        mode: Mode,
        settings: NutsSettings,
        seed: np.random.SeedSequence,
        tell: Callable[[float], object] | None,
    ) -> None:
        mici = _mici()
        self.density, self.mode, self.settings, self.chain = density, mode, settings, Chain()
        self._diverging, self._tell = mici.errors.HamiltonianDivergenceError, tell
        self._rng = np.random.default_rng(seed)
        self._system = mici.systems.EuclideanMetricSystem(
            lambda z: self._downhill(z)[1], grad_neg_log_dens=self._downhill
        )
        integrator = mici.integrators.LeapfrogIntegrator(self._system)
        self._momentum = mici.transitions.IndependentMomentumTransition(self._system)
        self._nuts = mici.transitions.MultinomialDynamicIntegrationTransition(
            self._system, integrator, max_tree_depth=settings.max_depth
        )
        try:
            self._sample(mici)
        except BaseException as error:
            # A new KeyboardInterrupt, because the old one keeps matrices alive.
            self.chain.stop = KeyboardInterrupt() if isinstance(error, KeyboardInterrupt) else error
        self.chain.n_evaluations = density.n_evaluations

    def _sample(self, mici: Any) -> None:
        step = mici.adapters.DualAveragingStepSizeAdapter(self.settings.acceptance)
        adapters = {_TRANSITION: [step, mici.adapters.OnlineVarianceMetricAdapter(reg_scale=1.0)]}
        n_warmup, n_draws = self.settings.n_warmup, self.settings.n_draws
        # The metric is nearly right from the start, so that the step size gets more of warm-up than is usual.
        stager = mici.stagers.WindowedWarmUpStager(n_warmup // 5, n_warmup // 5, n_warmup // 4)
        state = mici.states.ChainState(pos=self._start(), mom=None, dir=1)
        state.mom = self._system.sample_momentum(state, self._rng)
        n_done = 0
        for stage in stager.stages(n_warmup, n_draws, adapters, None).values():
            own = [] if stage.adapters is None else stage.adapters[_TRANSITION]
            if stage.n_iter == 0:
                continue
            adapting = [adapter.initialize(state, self._nuts) for adapter in own]
            for _ in range(stage.n_iter):
                state, _ = self._momentum.sample(state, self._rng)
                state, statistics = self._nuts.sample(state, self._rng)
                for adapter, adapted in zip(own, adapting, strict=True):
                    adapter.update(adapted, state, statistics, self._nuts)
                if stage.adapters is None:
                    self._keep(state, statistics)
                n_done += 1
                if self._tell is not None:
                    self._tell(n_done / (n_warmup + n_draws))
            for adapter, adapted in zip(own, adapting, strict=True):
                adapter.finalize(adapted, state, self._nuts, self._rng)

    def _start(self) -> Vector:
        """A start that is spread twice as wide as the density should be, so that chains that do not mix differ."""
        for _ in range(100):
            z = 2.0 * self._rng.standard_normal(len(self.density))
            try:
                self.density.gradient(self.mode.at(z))
            except FAILURES:
                continue
            return z
        return np.zeros(len(self.density))

    def _downhill(self, z: Vector) -> tuple[Vector, float]:
        """The gradient and the value that mici asks for; where there is none, a trajectory ends as divergent."""
        try:
            height, gradient = self.density.gradient(self.mode.at(z))
        except FAILURES as error:
            raise self._diverging(str(error)) from None
        return -(self.mode.root.T @ gradient), -height

    def _keep(self, state: Any, statistics: dict[str, Any]) -> None:
        self.chain.coordinates.append(self.mode.at(state.pos))
        self.chain.log_density.append(-float(self._system.neg_log_dens(state)))
        self.chain.statistics.append(statistics)


def _mici() -> Any:
    """The library mici; raise if it is missing."""
    try:
        import mici.adapters
        import mici.errors
        import mici.integrators
        import mici.stagers
        import mici.states
        import mici.systems
        import mici.transitions
    except ImportError:
        raise MissingDependencyError("mici", extra="bayes", purpose="Sampling hyperparameters") from None
    return mici
