"""A treebank of dependency trees as arrays, from which a parser learns; and the pruners of its parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.jobs.schedule import Schedule
from espalier.parsing.dependency_trees import checked_trees
from espalier.parsing.projective import crossing, lifted_heads, projectivized
from espalier.parsing.requests import check_unicode
from espalier.parsing.token_numbers import TokenNumbers
from espalier.structures.dependency import DependencyTree

PRUNER_BITS, PRUNER_EPOCHS, PRUNER_STEP = 20, 1, 0.1
# Parts of the treebank: each is pruned by a pruner that did not learn from it, as new sentences are.
N_PARTS = 2
BLOCK = 20  # sentences of one part in a row: neighbours are of one document


@dataclass(frozen=True, eq=False)
class ArcArrays:
    """Trees without crossing arcs, each with ROOT as its first token.

    Attributes
    ----------
    tokens, relations
        The words, tags and relations that occur.
    start, token, head, label
        Where each sentence starts; by token its numbers, its head and the number of its relation, -1 for ROOT.
    part
        By sentence the part that it is in.
    several_roots, restores
        Whether some tree has several roots; whether relations have marks of arcs that were lifted.
    """

    tokens: TokenNumbers
    relations: tuple[str, ...]
    start: NDArray[np.int64]
    token: NDArray[np.int32]
    head: NDArray[np.int32]
    label: NDArray[np.int32]
    part: NDArray[np.int32]
    several_roots: bool
    restores: bool

    @staticmethod
    def of(trees: Iterable[DependencyTree], rare: int, *, pseudo_projective: bool) -> ArcArrays:
        """The arrays of trees; words that are seen at most ``rare`` times are unknown words."""
        listed = checked_trees(trees)
        for row, tree in enumerate(listed):
            check_unicode(row, word=tree.words, tag=tree.tags, relation=tree.relations)
        restores = pseudo_projective and any(crossing(tree.heads) for tree in listed)
        if restores:
            flat = [projectivized(tree) for tree in listed]
        else:
            flat = [replace(tree, heads=lifted_heads(tree.heads)) for tree in listed]
        tagged = [tree.tagged() for tree in flat]
        tokens = TokenNumbers.of(tagged, rare)
        relations = sorted({relation for tree in flat for relation in tree.relations})
        number = {relation: n for n, relation in enumerate(relations)}
        start, token = tokens.rows(tagged)
        head = np.array([h for tree in flat for h in (-1, *tree.heads)], np.int32)
        label = np.array([n for tree in flat for n in (-1, *(number[own] for own in tree.relations))], np.int32)
        part = np.arange(len(flat), dtype=np.int32) // BLOCK % N_PARTS
        several = any(len(tree.roots) > 1 for tree in listed)
        return ArcArrays(tokens, tuple(relations), start, token, head, label, part, several, restores)

    def pruners(self, seed: int, schedule: Schedule) -> list[Any]:
        """For each part a pruner that has not learned from it, and at the end one of all trees."""
        return [
            _core.train_pruner(
                self.start,
                self.token,
                self.head,
                np.flatnonzero(self.part != held_out),
                PRUNER_BITS,
                PRUNER_EPOCHS,
                PRUNER_STEP,
                seed,
                schedule.between(n / (N_PARTS + 1), (n + 1) / (N_PARTS + 1)).tell,
            )
            for n, held_out in enumerate((*range(N_PARTS), -1))
        ]
