"""The history of a selection: what its passes met and did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OrderStep:
    """What one pass did at one order.

    Attributes
    ----------
    order
        How many atoms these features have.
    is_update
        Whether counts of the pass before were changed. If not, this pass counted all mispredicted examples.
    n_counted
        How many occurrences of candidates this pass counted: all those in mispredicted examples. In an update: those in
        examples whose prediction changed, also in what was predicted before; and all of candidates that grow from a
        feature that survives for the first time.
    n_candidates
        How many different candidates mispredicted examples have. A candidate grows from a survivor of this pass; in an
        update, from a survivor of this or of any earlier pass.
    n_survivors
        How many stay: those that more than C right or more than C predicted outputs have, or whose weight was not 0.
    n_weights
        How many weights are not 0 after the step.
    seconds, n_spilled
        The time it took, and how many bytes went to a temporary file.
    """

    order: int
    is_update: bool
    n_counted: int
    n_candidates: int
    n_survivors: int
    n_weights: int
    seconds: float
    n_spilled: int


@dataclass(frozen=True)
class PassStep:
    """What one pass met before it moved weights, and what it did at each order; no order if it was the last."""

    objective: float
    n_mispredicted: int
    orders: tuple[OrderStep, ...]
    seconds: float
    memory: int  # bytes of the features, of the examples and for counting
