"""Items that have a feature, and where in them: a few for each, to show what a selected feature is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.jobs.schedule import Schedule
from espalier.kernels.inputs import Inputs
from espalier.spaces.grown import Places
from espalier.structures.group import Group

if TYPE_CHECKING:
    from espalier.spaces.selected import SelectedFeatures


@dataclass(frozen=True)
class FeatureExample:
    """An item that has a feature.

    Attributes
    ----------
    row
        The number of the item, or of the group.
    candidate
        Of groups: the number of the candidate in it, the first that has the feature; None for items.
    places
        By occurrence, where each atom is: the modifier of an arc, counted from 1 as heads are; a token, a column, or a
        node of a tree, each before its children, counted from 0.
    text
        The words of the item with stars around those of the first occurrence; the columns of a combination.
    """

    row: int
    candidate: int | None
    places: tuple[Places, ...]
    text: str

    def __str__(self) -> str:
        return self.text


def examples_of(features: SelectedFeatures, items: Any, n: int, schedule: Schedule) -> list[list[FeatureExample]]:
    """For each feature the first n items, or groups, that have it."""
    groups = list(items) if _are_groups(items) else None
    if groups is None:
        inputs = Inputs.of(items)
        row_of = np.arange(len(inputs))
        candidate_of = row_of
    else:
        inputs = Inputs.of([own for group in groups for own in group.candidates])
        sizes = [len(group) for group in groups]
        row_of = np.repeat(np.arange(len(groups)), sizes)
        candidate_of = np.concatenate([np.arange(size) for size in sizes])
    having = features.matrix(inputs, schedule).tocsc()
    space = features.space
    out = []
    for number in range(len(features)):
        own = np.sort(having.indices[having.indptr[number] : having.indptr[number + 1]])
        _, first = np.unique(row_of[own], return_index=True)
        found = []
        for k in own[first[:n]].tolist():
            item = space.item_of(inputs, k)
            places = tuple(space.locator(features.atoms, item)(features.path(number)))
            candidate = None if groups is None else int(candidate_of[k])
            found.append(FeatureExample(int(row_of[k]), candidate, places, space.shown(item, places[0])))
        out.append(found)
    return out


def _are_groups(items: Any) -> bool:
    return isinstance(items, Sequence) and len(items) > 0 and all(isinstance(own, Group) for own in items)
