"""Whether chains have converged: the rank-normalised split R-hat, and effective sample sizes, by arviz-stats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from espalier.errors import MissingDependencyError
from espalier.gp.parameters import Vector

if TYPE_CHECKING:
    from espalier.bayes.draws import Draws

LARGEST_R_HAT, LEAST_DRAWS = 1.01, 100
_LISTED = 3  # numbers that a message names


class UnconvergedError(RuntimeError):
    """Chains that have not converged: R-hat above 1.01, or an effective sample below 100.

    Parameters
    ----------
    message
        What is wrong, and what to do.
    draws
        All draws. ``Marginalized(model, error.draws)`` predicts with them nonetheless.
    """

    def __init__(self, message: str, draws: Draws) -> None:
        self.draws = draws
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.draws)


class Convergence(NamedTuple):
    """The diagnostics of one number."""

    r_hat: float
    ess_bulk: float  # for the middle of the distribution, such as its mean
    ess_tail: float  # for its 5 % and 95 % quantiles


def convergence(chains: Vector) -> Convergence:
    """The diagnostics of draws of one number: one row for each chain."""
    statistics = _arviz()
    if (chains == chains[:1, :1]).all() or chains.shape[1] < 4:
        return Convergence(np.nan, np.nan, np.nan)
    return Convergence(
        float(statistics.rhat(chains)),
        float(statistics.ess(chains, method="bulk")),
        float(statistics.ess(chains, method="tail", prob=(0.05, 0.95))),
    )


def check_convergence(draws: Draws) -> None:
    """Raise if the chains have not converged for any number."""
    rows = draws.summary().rows
    mixed = {row.path: row.r_hat for row in rows if not row.r_hat <= LARGEST_R_HAT}
    few = {row.path: min(row.ess_bulk, row.ess_tail) for row in rows}
    few = {path: size for path, size in few.items() if not size >= LEAST_DRAWS}
    if not (mixed or few):
        return
    said = []
    if mixed:
        said.append(f"R-hat is above {LARGEST_R_HAT} for {_listed(mixed, '.3f', largest=True)}")
    if few:
        said.append(f"the effective sample is below {LEAST_DRAWS} for {_listed(few, '.0f', largest=False)}")
    n = draws.n_divergent
    divergent = f" {n:,} transitions diverged: raise acceptance." if n else ""
    raise UnconvergedError(
        f"The chains have not converged: {', and '.join(said)}.{divergent} Draw more (n_draws, n_warmup), or give "
        "these numbers narrower priors or bounds. The draws are in the attribute draws of this error.",
        draws,
    )


def _listed(numbers: dict[str, float], form: str, *, largest: bool) -> str:
    worst = sorted(numbers.items(), key=lambda item: item[1], reverse=largest)
    named = ", ".join(f"{path} ({value:{form}})" for path, value in worst[:_LISTED])
    return named + (f" and {len(worst) - _LISTED} more" if len(worst) > _LISTED else "")


def _arviz() -> Any:
    """The functions of arviz-stats; raise if it is missing."""
    try:
        from arviz_stats.base.array import array_stats
    except ImportError:
        raise MissingDependencyError("arviz-stats", extra="bayes", purpose="The diagnostics of chains") from None
    return array_stats
