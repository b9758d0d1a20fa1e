"""Grammars as arrays: rules with weights, cut so that a chart parser needs at most two symbols at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.soundness import refuse
from espalier.errors import InputError
from espalier.kept import kept
from espalier.parsing.kbest import on_grid
from espalier.structures.columns import read_only
from espalier.structures.numbers import whole_number

MAX_UNARY = 3  # unary rules one on top of the other
# Unary rules of a grammar: each costs time for every constituent of every sentence, and treebanks have some thousands.
MOST_UNARY_RULES = 200_000
LEAST_WEIGHT = -1e6  # so that sums stay finite
RULES = {"binary": np.int32, "binary_weight": np.float64, "unary": np.int32, "unary_weight": np.float64}

Rule = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Grammar:
    """Rules over symbols: constituents and tags first, then the prefixes of right sides that were cut.

    Parameters
    ----------
    symbols
        The names of constituents and tags.
    n_prefixes
        The number of prefix symbols, which follow them.
    root
        The number of the symbol that covers a sentence.
    binary, unary
        Symbols of each rule: parent, left, right; parent, child. The right child is never a prefix.
    binary_weight, unary_weight
        Log probabilities.
    max_unary
        The longest chain of unary rules.
    """

    symbols: tuple[str, ...]
    n_prefixes: int
    root: int
    binary: NDArray[np.int32]
    binary_weight: NDArray[np.float64]
    unary: NDArray[np.int32]
    unary_weight: NDArray[np.float64]
    max_unary: int = MAX_UNARY

    def __post_init__(self) -> None:
        require = refuse("grammar", "Make a grammar with Grammar.from_rules or PCFG.from_treebank.")
        n_base = len(self.symbols)
        require(type(self.n_prefixes) is int and 0 <= self.n_prefixes <= len(self.binary), "n_prefixes is out of range")
        require(type(self.root) is int and 0 <= self.root < n_base, "root is out of range")
        require(type(self.max_unary) is int and 0 <= self.max_unary <= 100, "max_unary is out of range")
        for name, wanted in RULES.items():
            array = getattr(self, name)
            require(isinstance(array, np.ndarray) and array.dtype == wanted, f"the array {name!r} is of another kind")
            object.__setattr__(self, name, read_only(np.array(array)))
        for name, width in (("binary", 3), ("unary", 2)):
            rules, weight = getattr(self, name), getattr(self, f"{name}_weight")
            sound = rules.ndim == 2 and rules.shape[1] == width and weight.shape == (len(rules),)
            require(sound, f"{name} has no rules")
            sound = np.all((rules >= 0) & (rules < n_base + self.n_prefixes))
            require(sound, f"a symbol of a {name} rule is out of range")
            # NaN is no number between the two.
            sound = np.all((weight >= LEAST_WEIGHT) & (weight <= 1e-9))
            require(sound, f"a weight of a {name} rule is no log probability")
        require(np.all(self.binary[:, 2] < n_base), "the right child of a rule is a prefix")
        unary, n_unary = self.unary.astype(np.int64), len(self.unary)
        require(np.all(unary < n_base), "a unary rule has a prefix")
        require(n_unary <= MOST_UNARY_RULES, f"it has {n_unary:,} unary rules, and {MOST_UNARY_RULES:,} are possible")
        require(len(np.unique(unary[:, 0] * n_base + unary[:, 1])) == n_unary, "a unary rule is listed twice")

    @staticmethod
    def from_rules(rules: Mapping[Rule, float], root: str, *, max_unary: int = MAX_UNARY) -> Grammar:
        """Make a grammar of rules with probabilities: ``{("S", ("NP", "VP")): 1.0}``.

        Right sides of three or more symbols share their prefixes, even under different parents.

        Examples
        --------
        >>> grammar = Grammar.from_rules({("S", ("A", "A", "B")): 0.5, ("S", ("A", "B")): 0.5}, "S")
        >>> grammar.symbols, grammar.n_prefixes, len(grammar.binary)
        (('S', 'A', 'B'), 1, 3)
        """
        parts: list[tuple[object, tuple[object, ...], float]] = []
        prefixes: dict[tuple[str, ...], None] = {}
        for (parent, children), probability in rules.items():
            if not children:
                raise InputError(f"The rule {parent} has no right side.")
            if not 0.0 < probability <= 1.0 + 1e-9:
                rule = f"{parent} -> {' '.join(children)}"
                raise InputError(f"The probability of {rule} must be in (0, 1], got {probability}.")
            weight = math.log(probability)
            if len(children) < 3:
                parts.append((parent, children, weight))
                continue
            for end in range(2, len(children)):
                if children[:end] not in prefixes:
                    prefixes[children[:end]] = None
                    first = children[0] if end == 2 else children[: end - 1]
                    parts.append((children[:end], (first, children[end - 1]), 0.0))
            parts.append((parent, (children[:-1], children[-1]), weight))
        return Grammar.from_parts(parts, root, max_unary=max_unary)

    @staticmethod
    def from_parts(parts: Iterable[tuple[object, tuple[object, ...], float]], root: str, *, max_unary: int) -> Grammar:
        """Make a grammar from binarized rules: parent, one or two children, log probability.

        Names of constituents and tags are texts, those of prefixes are tuples.
        """
        max_unary = whole_number("max_unary", max_unary, 0, 100, wanted="an integer from 0 to 100")
        parts = list(parts)
        names = dict.fromkeys([root, *(name for parent, children, _ in parts for name in (parent, *children))])
        base = [name for name in names if isinstance(name, str)]
        prefixes = [name for name in names if not isinstance(name, str)]
        number = {name: k for k, name in enumerate([*base, *prefixes])}

        def rules(n_children: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
            own = [part for part in parts if len(part[1]) == n_children]
            symbols = [[number[name] for name in (parent, *children)] for parent, children, _ in own]
            weights = np.array([weight for _, _, weight in own], np.float64)
            return np.array(symbols, np.int32).reshape(-1, n_children + 1), weights

        return Grammar(tuple(base), len(prefixes), number[root], *rules(2), *rules(1), max_unary)

    @property
    def arrays(self) -> dict[str, object]:
        """The arrays for the compiled core: rules by left child and by parent, unary rules by child and by parent.

        Their weights are rounded so that sums are exact. The arrays cannot be written to.
        """
        return dict(self._arrays)

    @kept
    def _arrays(self) -> dict[str, object]:
        n_base = len(self.symbols)
        n = n_base + self.n_prefixes
        order = np.lexsort((self.binary[:, 2], self.binary[:, 1]))
        parent, left, right = np.ascontiguousarray(self.binary[order].T)
        up, down = (np.argsort(self.unary[:, k], kind="stable") for k in (1, 0))
        arrays = {
            "n_symbols": n,
            "n_base": n_base,
            "root": self.root,
            "max_unary": self.max_unary,
            "left_start": _starts(left, n),
            "left": left,
            "right": right,
            "parent": parent,
            "weight": on_grid(self.binary_weight[order]),
            "parent_start": _starts(parent, n),
            "parent_rule": np.argsort(parent, kind="stable").astype(np.int32),
            "up_start": _starts(self.unary[:, 1], n_base),
            "up_parent": np.ascontiguousarray(self.unary[up, 0]),
            "up_weight": on_grid(self.unary_weight[up]),
            "down_start": _starts(self.unary[:, 0], n_base),
            "down_child": np.ascontiguousarray(self.unary[down, 1]),
            "down_weight": on_grid(self.unary_weight[down]),
        }
        return {name: read_only(own) if isinstance(own, np.ndarray) else own for name, own in arrays.items()}

    def __reduce__(self) -> tuple[object, ...]:
        return Grammar, tuple(getattr(self, own.name) for own in fields(self))

    def __repr__(self) -> str:
        n_rules = len(self.binary) + len(self.unary)
        return f"<Grammar: {len(self.symbols):,} symbols, {self.n_prefixes:,} prefixes, {n_rules:,} rules>"


def _starts(values: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.bincount(values, minlength=n))]).astype(np.int64)
