"""What the user should know after learning: one warning for each thing, none where all went well."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning

from espalier.gp.evidence import State
from espalier.gp.learned import LearnedTable
from espalier.gp.optimize import Restart

_VARIANCES = ("scale", "variance", "noise")
_USER = 3  # the caller of fit


def warn_of(state: State, learned: LearnedTable, best: Restart) -> None:
    """Warn of jitter, equal targets, variances that ran away, and of learning that did not end well."""
    jitter = state.factor.jitter
    if jitter > 0:
        warnings.warn(
            f"The covariance matrix was nearly singular: {jitter:.3g} was added to its diagonal "
            "(model.jitter_). Duplicates with little noise, or a very smooth kernel, cause this.",
            stacklevel=_USER,
        )
    if state.target.constant:
        warnings.warn(
            "All targets are equal, so there is nothing to learn from: the model predicts that value.",
            stacklevel=_USER,
        )
        return
    high = [row.path for row in learned if row.bound == "high" and _name(row.path) in _VARIANCES]
    if high:
        end = "has ended at its upper bound" if len(high) == 1 else "have ended at their upper bounds"
        warnings.warn(
            f"{', '.join(high)} {end}: the data ask for more, or two numbers do the same job and ran away together. "
            "Declare others, Learned(value, bounds=(low, high)), add a prior, or normalise the kernel.",
            stacklevel=_USER,
        )
    if not best.converged:
        warnings.warn(
            f"Learning ended before it converged: {best.message.rstrip('.')}. The best values found are kept; raise "
            "max_iterations or tolerance.",
            ConvergenceWarning,
            stacklevel=_USER,
        )


def _name(path: str) -> str:
    return path.rsplit(".", 1)[-1].split("[", 1)[0]
