"""Draws of hyperparameters: numbers by chain and draw, with weights and with what the sampler says of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from espalier.bayes.convergence import convergence
from espalier.gp.learned import Rows, aligned
from espalier.gp.parameters import Vector
from espalier.kept import kept
from espalier.storage import State, Storable, require
from espalier.structures.frames import frame_of

if TYPE_CHECKING:
    from pandas import DataFrame

# What the sampler says of each draw, under the names that ArviZ gives them, and their types.
STATISTICS = {
    "diverging": bool,
    "tree_depth": np.int64,
    "n_steps": np.int64,
    "acceptance_rate": np.float64,
    "step_size": np.float64,
}


@dataclass(frozen=True)
class DrawnRow:
    """One hyperparameter over all draws."""

    path: str
    mean: float
    std: float
    low: float  # the 5 % quantile
    median: float
    high: float  # the 95 % quantile
    mode: float
    r_hat: float  # nan for weighted points
    ess_bulk: float
    ess_tail: float


class DrawnTable(Rows[DrawnRow]):
    """All hyperparameters over all draws, readable; iterate over its rows, or take ``to_frame()``."""

    def __getitem__(self, path: str) -> DrawnRow:
        for row in self.rows:
            if row.path == path:
                return row
        raise KeyError(f"{path!r} was not drawn; see the paths in the table's rows.")

    def __repr__(self) -> str:
        numbers = ("mean", "std", "low", "median", "high", "mode")
        columns = {"hyperparameter": [row.path for row in self.rows]}
        columns |= {name: [f"{getattr(row, name):.4g}" for row in self.rows] for name in numbers}
        if not all(np.isnan(row.r_hat) for row in self.rows):
            columns["r_hat"] = [f"{row.r_hat:.3f}" for row in self.rows]
            columns |= {name: [f"{getattr(row, name):.0f}" for row in self.rows] for name in ("ess_bulk", "ess_tail")}
        return aligned(columns, right=set(columns) - {"hyperparameter"})


@dataclass(frozen=True, eq=False)
class Draws(Storable):
    """Draws of all learned hyperparameters, or weighted points that stand for their distribution.

    Attributes
    ----------
    kind
        ``"sampled"`` or ``"design"``.
    paths
        The names of the numbers.
    values
        The numbers in natural units: an array with the axes chain, draw and number. A design is one chain.
    log_density
        The log of the density, up to a constant, in the coordinates that are sampled: axes chain and draw.
    weights
        How much each draw counts; all sum to 1.
    mode
        The numbers at the mode of the density, in the coordinates that are sampled.
    statistics
        What the sampler says of each draw, by name: ``diverging``, ``tree_depth``, ``n_steps``, ``acceptance_rate`` and
        ``step_size``.
    n_evaluations
        How many times the evidence was computed, warm-up and the climb to the mode included.
    agreement
        How evenly points of a design turned out to be weighted, relative to those of a normal distribution: 1 is
        perfect, near 0 is useless. It is 1 for draws of a sampler.
    """

    kind: str
    paths: tuple[str, ...]
    values: Vector
    log_density: Vector
    weights: Vector
    mode: Vector
    n_evaluations: int
    statistics: dict[str, NDArray[Any]] = field(default_factory=dict)
    agreement: float = 1.0

    @property
    def n_chains(self) -> int:
        """How many chains there are."""
        return int(self.values.shape[0])

    @property
    def n_draws(self) -> int:
        """How many draws each chain has."""
        return int(self.values.shape[1])

    @property
    def n_divergent(self) -> int:
        """How many transitions ended because energy was not conserved; more than a few say that draws are biased."""
        return int(np.sum(self.statistics.get("diverging", 0)))

    def __len__(self) -> int:
        return self.n_chains * self.n_draws

    def __getitem__(self, path: str) -> Vector:
        """Return the draws of one number: one row for each chain."""
        if path not in self.paths:
            raise KeyError(f"{path!r} was not drawn; these were: {', '.join(self.paths)}.")
        return self.values[:, :, self.paths.index(path)]

    def to_dict(self) -> dict[str, Vector]:
        """Return an array by path, one row for each chain and one column for each draw."""
        return {path: self[path] for path in self.paths}

    def to_arviz(self) -> dict[str, dict[str, NDArray[Any]]]:
        """Return what ``arviz.from_dict`` reads: the groups ``posterior`` and ``sample_stats``, arrays by name."""
        own = {"lp": self.log_density} | self.statistics
        return {"posterior": self.to_dict(), "sample_stats": own}

    def to_frame(self) -> DataFrame:
        """Return a pandas frame: one row for each draw, with its chain, its weight and every number."""
        rows = [
            (chain, draw, self.weights[chain, draw], *self.values[chain, draw].tolist())
            for chain in range(self.n_chains)
            for draw in range(self.n_draws)
        ]
        return frame_of(rows, ["chain", "draw", "weight", *self.paths])

    @kept
    def _summary(self) -> DrawnTable:
        rows, weights = [], self.weights.ravel()
        for k, path in enumerate(self.paths):
            drawn = self[path]
            found = convergence(drawn) if self.kind == "sampled" else (np.nan,) * 3
            mean = float(weights @ drawn.ravel())
            std = float(np.sqrt(weights @ (drawn.ravel() - mean) ** 2))
            low, median, high = _quantiles(drawn.ravel(), weights, (0.05, 0.5, 0.95))
            rows.append(DrawnRow(path, mean, std, low, median, high, float(self.mode[k]), *found))
        return DrawnTable(rows)

    def summary(self) -> DrawnTable:
        """Return the mean, the spread and the diagnostics of each number, as a readable table."""
        return self._summary

    def spaced(self, n: int | None) -> Iterator[tuple[dict[str, float], float]]:
        """Yield at most ``n`` draws, evenly spaced over all chains, by path, with weights that sum to 1.

        Points of a design are all yielded, because each has another weight.
        """
        values, weights = self.values.reshape(-1, len(self.paths)), self.weights.ravel()
        rows = np.arange(len(values))
        if self.kind == "sampled" and n is not None and n < len(rows):
            rows = (np.arange(n) * len(rows)) // n + len(rows) // (2 * n)
        rows = rows[weights[rows] > 0]
        total = weights[rows].sum()
        for row in rows.tolist():
            yield dict(zip(self.paths, values[row].tolist(), strict=True)), float(weights[row] / total)

    def to_state(self) -> dict[str, object]:
        """Return all fields."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the draws that a file holds."""
        paths = tuple(state.texts("paths"))
        values = state.array("values", np.float64, 3)
        require(values.size > 0 and values.shape[2] == len(paths) and np.isfinite(values).all(), "a draw is no number")
        shape = values.shape[:2]
        log_density, weights = state.array("log_density", np.float64, 2), state.array("weights", np.float64, 2)
        require(log_density.shape == weights.shape == shape, "every draw needs its density and its weight")
        require(log_density.max() < np.inf and weights.min() >= 0, "a weight is no number")
        require(abs(weights.sum() - 1.0) < 1e-6, "the weights of draws do not sum to 1")
        mode = state.array("mode", np.float64)
        require(mode.shape == (len(paths),), "every number needs its mode")
        own = state.part("statistics")
        statistics = {name: own.array(name, STATISTICS[name], 2) for name in own.names() if name in STATISTICS}
        require(set(own.names()) <= set(STATISTICS), "its sampler says something else")
        require(all(each.shape == shape for each in statistics.values()), "every draw needs its statistics")
        kind, n = state.text("kind", "sampled", "design"), state.whole("n_evaluations")
        return cls(kind, paths, values, log_density, weights, mode, n, statistics, state.number("agreement", 0.0))


def _quantiles(values: Vector, weights: Vector, levels: tuple[float, ...]) -> list[float]:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order]) - 0.5 * weights[order]
    found: list[float] = np.interp(levels, reached, values[order]).tolist()
    return found
