"""Coarse grammars: the same trees with fewer symbols, to find out in advance which constituents are possible where.

If each symbol is replaced by its class, every rule of a grammar becomes a rule of its coarse grammar, so whatever
the one can parse, the other can too. Constituents and tags become their labels, without ancestors; the prefixes of
long rules become one symbol for each label above them, or for each last sibling if several labels share them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.parsing.grammar import Grammar

_ROUNDS = 200  # how deep the trees are that expected counts look at
_NEVER = 1e-12  # what a symbol counts that no tree has


def expected_counts(grammar: Grammar) -> NDArray[np.float64]:
    """How often each symbol occurs in a tree that the grammar makes by chance, prefixes included.

    Examples
    --------
    >>> grammar = Grammar.from_rules({("S", ("A", "S")): 0.5, ("S", ("B",)): 0.5}, "S")
    >>> expected_counts(grammar).round(3).tolist()
    [2.0, 1.0, 1.0]
    """
    n = len(grammar.symbols) + grammar.n_prefixes
    parent = np.concatenate([grammar.binary[:, 0], grammar.binary[:, 0], grammar.unary[:, 0]])
    child = np.concatenate([grammar.binary[:, 1], grammar.binary[:, 2], grammar.unary[:, 1]])
    weight = np.exp(np.concatenate([grammar.binary_weight, grammar.binary_weight, grammar.unary_weight]))
    level: NDArray[Any] = np.zeros(n)
    level[grammar.root] = 1.0
    total = level.copy()
    for _ in range(_ROUNDS):
        level = np.bincount(child, weights=level[parent] * weight, minlength=n)
        total += level
        # Grammars whose trees grow without end are cut where numbers do.
        if level.sum() < 1e-9 or total.sum() > 1e9:
            break
    counts: NDArray[np.float64] = np.maximum(total, _NEVER)
    return counts


def coarse_grammar(grammar: Grammar, labels: Sequence[str]) -> dict[str, object]:
    """The arrays of the coarse grammar, and in ``symbol`` the class of each symbol.

    The probability of a coarse rule comes from the rules that it represents, weighed by how often their parents occur.
    """
    names, of_base = np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)
    n_base = len(names)
    keys = _prefix_classes(grammar, of_base.astype(np.int64), n_base)
    prefixes, of_prefix = np.unique(keys, return_inverse=True)
    symbol = np.concatenate([of_base.reshape(-1), n_base + of_prefix.reshape(-1)]).astype(np.int32)
    usage = expected_counts(grammar)
    total = np.bincount(symbol, weights=usage, minlength=n_base + len(prefixes))

    def merged(rules: NDArray[np.int32], weight: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        distinct, which = np.unique(symbol[rules], axis=0, return_inverse=True)
        mass = np.bincount(which.reshape(-1), weights=usage[rules[:, 0]] * np.exp(weight), minlength=len(distinct))
        return distinct, np.log(np.maximum(mass, 1e-300) / total[distinct[:, 0]])

    coarse = Grammar(
        tuple(names.tolist()),
        len(prefixes),
        int(symbol[grammar.root]),
        *merged(grammar.binary, grammar.binary_weight),
        *merged(grammar.unary, grammar.unary_weight),
        grammar.max_unary,
    )
    return {**coarse.arrays, "symbol": symbol}


def _prefix_classes(grammar: Grammar, of_base: NDArray[np.int64], n_base: int) -> NDArray[np.int64]:
    """A number for each prefix: the label above it, or the last sibling where there are several."""
    n, first = len(of_base) + grammar.n_prefixes, len(of_base)
    parent, left, right = grammar.binary.T
    # The least and the largest label above each prefix, handed down from long prefixes to short ones.
    low, high = np.full(n, n_base), np.full(n, -1)
    low[:first] = high[:first] = of_base
    of_prefix = left >= first
    while True:
        new_low, new_high = low.copy(), high.copy()
        np.minimum.at(new_low, left[of_prefix], low[parent[of_prefix]])
        np.maximum.at(new_high, left[of_prefix], high[parent[of_prefix]])
        if np.array_equal(low, new_low) and np.array_equal(high, new_high):
            break
        low, high = new_low, new_high
    last = np.full(n, -1)
    last[parent] = of_base[right]
    return np.where(low == high, low, n_base + 1 + last)[first:]
