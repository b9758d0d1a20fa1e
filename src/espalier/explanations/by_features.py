"""Selected features as reasons: the heaviest of a model, and those that made one candidate of a group win.

A ``FeatureReranker`` values a candidate by a sum over its features: the weight of each, times ``decay ** (r - 1)`` if
it has order r, times its number of occurrences. So the lead of a winner is a sum over features, and every occurrence
has its part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.explanations.comparing import Rival, Which, rivals_of
from espalier.explanations.comparison import Comparison
from espalier.explanations.explanation import Explanation, Reason, TreeShares
from espalier.explanations.together import Key, PlaceNames, Sums, Together, names_of_arcs, names_of_tags
from espalier.explanations.word_shares import drawn, word_nodes
from espalier.kernels.inputs import Inputs
from espalier.rerank.features import FeatureReranker
from espalier.rerank.listed import tagged_alike
from espalier.rerank.score_weights import total_scores
from espalier.spaces.grown import Places
from espalier.spaces.grown_arc_sets import ArcSetSpace
from espalier.spaces.grown_arcs import ArcSpace
from espalier.spaces.grown_productions import FragmentSpace
from espalier.spaces.grown_sequences import TaggingSpace
from espalier.spaces.selected import SelectedFeatures
from espalier.spaces.space import Floats, Wanted
from espalier.structures.dependency import DependencyTree
from espalier.structures.fragment import Position
from espalier.structures.group import Candidate, Group
from espalier.structures.interop import as_tree
from espalier.structures.sequence import TaggedSequence
from espalier.structures.tree import Tree


@dataclass(frozen=True)
class WrittenFeature:
    """A selected feature as text, with its places in both candidates of a comparison, and the nodes that it covers."""

    text: str
    covered: tuple[tuple[Tree, Position, tuple[Position, ...]], ...] = ()  # by occurrence: a drawing, root and nodes
    places: tuple[Sequence[Places], Sequence[Places]] = ((), ())  # of the occurrences in the winner, and in the loser

    kind: ClassVar = "feature"

    def __str__(self) -> str:
        return self.text

    def nodes(self, tree: Tree, root: Position) -> list[Position]:
        """The nodes of a drawing that the feature covers in all occurrences with this root."""
        own = (nodes for drawing, top, nodes in self.covered if drawing is tree and top == root)
        return sorted({node for nodes in own for node in nodes})


class _Picture(NamedTuple):
    """A candidate as a drawn tree, and what an occurrence of a feature is in it, by numbers of nodes."""

    tree: Tree
    split: str  # how an occurrence is shared by nodes: a key of ``espalier.explanations.page.SPLITS``
    sharing: Callable[[Places], Sequence[int]]  # the nodes that share an occurrence equally
    root: Callable[[Places], int]
    covered: Callable[[Places], Sequence[int]]
    names: PlaceNames | None = None  # if several features may be of the same places


def heaviest_features(features: SelectedFeatures, wanted: Wanted) -> Explanation:
    """List the features with the largest weights, for each column of the weights."""
    allowed = _up_to(features, wanted)
    reasons = []
    for column in range(len(features.names)):
        weights = np.where(allowed, features.weights[:, column], 0.0)
        rows = np.argsort(-np.abs(weights), kind="stable")[: wanted.n]
        reasons += [_reason(features, row, column) for row in rows[weights[rows] != 0].tolist()]
    return Explanation(tuple(reasons))


def compare_features(model: FeatureReranker, group: Group, winner: Which, loser: Which, wanted: Wanted) -> Comparison:
    """Say which features made a model value one candidate of a group more than another."""
    values = model.decision_function([group])[0]
    (first, second), names = rivals_of(group, values, winner, loser)
    rivals = [_as_met(own, group) for own in (first, second)]
    (totals,) = total_scores([group], model.score_weights_)
    if first.number is None or second.number is None:
        from_score, further, own_values = 0.0, {}, model.feature_values([Group(rivals)])[0]
    else:
        from_score = float(model.score_weight_ * (totals[first.number] - totals[second.number]))
        further = {
            name: float(model.score_weight_ * weight * (own[first.number] - own[second.number]))
            for name, weight in model.score_weights_.items()
            if (own := group.more_scores[name])
        }
        own_values = values[[first.number, second.number]]
    features, space = model.features_, model.features_.space
    counts = features.matrix(Inputs.of(rivals), wanted.schedule, counts=True)
    rows = np.unique(counts.indices)
    worth = features.weights[rows, 0] * float(model.decay) ** (features.order[rows].astype(np.float64) - 1)
    pictures = [_picture(features, rival) for rival in rivals]
    found = []  # by candidate and feature: all occurrences
    for rival in rivals:
        locate = space.locator(features.atoms, rival)
        found.append([locate(features.path(row)) for row in rows.tolist()])
    trees = tuple(
        _shares(picture, own, sign * worth) for picture, own, sign in zip(pictures, found, (1.0, -1.0), strict=True)
    )
    often = counts[:, rows].toarray()
    added = worth * (often[0] - often[1])
    listed = np.where(_up_to(features, wanted)[rows], added, 0.0)
    reasons: list[Reason] = []
    for k in np.argsort(-np.abs(listed), kind="stable")[: wanted.n].tolist():
        if listed[k]:
            plain = _reason(features, int(rows[k]), 0)
            reasons.append(_placed(plain, float(added[k]), pictures, [own[k] for own in found]))
    return Comparison(
        reasons=tuple(reasons),
        value=from_score + sum(own.total for own in trees),
        intercept=0.0,
        elsewhere=0.0,
        trees=trees,
        winner=rivals[0],
        loser=rivals[1],
        names=names,
        values=(float(own_values[0]), float(own_values[1])),
        from_score=from_score,
        further_scores=further,
        together=_together(features, rows, worth * _up_to(features, wanted)[rows], pictures, found, wanted.n),
    )


def _together(
    features: SelectedFeatures,
    rows: NDArray[np.integer],
    worth: Floats,
    pictures: Sequence[_Picture],
    found: Sequence[Sequence[list[Places]]],
    n: int,
) -> tuple[Together, ...]:
    """The n largest sums of features of the same places of a candidate, each with its n largest features."""
    sums = Sums()
    where: list[dict[Key, Places]] = [{}, {}]
    for picture, own, sign, places_of in zip(pictures, found, (1.0, -1.0), where, strict=True):
        if picture.names is None:
            return ()
        for k, (occurrences, value) in enumerate(zip(own, (sign * worth).tolist(), strict=True)):
            for places in occurrences:
                key = picture.names.key(places)
                places_of.setdefault(key, places)
                sums.add(key, k, value)
    out = []
    for key, value, parts in sums.heaviest(n):
        here = [[places_of[key]] if key in places_of else [] for places_of in where]
        picture, (places,) = next((picture, own) for picture, own in zip(pictures, here, strict=True) if own)
        assert picture.names is not None
        single = [
            replace(_reason(features, int(rows[k]), 0), contribution=added, in_winner=(), in_loser=())
            for k, added in parts[:n]
        ]
        whole = Reason(features.names[0], None, WrittenFeature(picture.names.text(places)), value, None, None, None)
        placed = _placed(whole, value, pictures, here)
        out.append(Together(**vars(placed), parts=tuple(single), n_parts=len(parts)))
    return tuple(out)


def _as_met(rival: Rival, group: Group) -> Candidate:
    """A candidate; a gold tree that is none has the tags of the candidates, as in learning."""
    found: Candidate = rival.candidate
    return found if rival.number is not None else tagged_alike(found, group.candidates[0])


def _up_to(features: SelectedFeatures, wanted: Wanted) -> NDArray[np.bool_]:
    """Which features are not larger than what is wanted."""
    return np.asarray(features.order <= (wanted.max_size or 255))


def _reason(features: SelectedFeatures, row: int, column: int) -> Reason:
    own = features[row]
    return Reason(features.names[column], None, WrittenFeature(own.text), own.weights[column], None, None, None)


def _placed(reason: Reason, added: float, pictures: Sequence[_Picture], found: Sequence[list[Places]]) -> Reason:
    """A reason with what it adds, and where it is in both trees."""
    covered, roots = [], []
    for picture, own in zip(pictures, found, strict=True):
        positions = list(picture.tree.positions())
        roots.append(tuple(positions[picture.root(places)] for places in own))
        for top, places in zip(roots[-1], own, strict=True):
            covered.append((picture.tree, top, tuple(positions[node] for node in picture.covered(places))))
    first, second = map(tuple, found)
    feature = WrittenFeature(str(reason.fragment), tuple(covered), (first, second))
    return replace(reason, fragment=feature, contribution=added, in_winner=roots[0], in_loser=roots[1])


def _shares(picture: _Picture, found: Sequence[list[Places]], worth: Floats) -> TreeShares:
    """What the nodes of one candidate add to the lead: every occurrence is shared equally by some of them."""
    shares = np.zeros(picture.tree.size)
    for occurrences, value in zip(found, worth.tolist(), strict=True):
        for places in occurrences:
            nodes = picture.sharing(places)
            for node in nodes:
                shares[node] += value / len(nodes)
    return TreeShares(None, picture.tree, float(shares.sum()), shares, picture.split)


def _picture(features: SelectedFeatures, candidate: Candidate) -> _Picture:
    """How a candidate is drawn, for the features of a space."""
    if isinstance(features.space, ArcSpace | ArcSetSpace) and isinstance(candidate, DependencyTree):
        return _of_arcs(candidate)
    if isinstance(features.space, TaggingSpace) and isinstance(candidate, TaggedSequence):
        return _of_tags(candidate)
    if isinstance(features.space, FragmentSpace):
        return _of_fragments(as_tree(candidate))
    raise InputError(
        f"Candidates are compared by features of DependencySubtree, Tagging and SubsetTree, not of {features.kernel!r}."
    )


def _of_arcs(candidate: DependencyTree) -> _Picture:
    """Relations above tags and words; an occurrence is shared by the modifiers of its arcs, and covers whole words."""
    tree, heads = drawn(candidate), candidate.heads
    relation = word_nodes(candidate).tolist()
    position = list(tree.positions())
    number = {own: node for node, own in enumerate(position)}
    words = []  # by word: its relation, its tag and itself
    for token, node in enumerate(relation, 1):
        n_before = sum(head == token for head in heads[: token - 1])
        tag = (*position[node], n_before)
        words.append((node, number[tag], number[(*tag, 0)]))

    def covered(places: Places) -> list[int]:
        tokens = sorted({*places, *(heads[token - 1] for token in places)} - {0})
        return [node for token in tokens for node in words[token - 1]]

    def root(places: Places) -> int:
        head = heads[places[0] - 1]
        return relation[head - 1] if head else 0

    def sharing(places: Places) -> list[int]:
        return [relation[token - 1] for token in places]

    return _Picture(tree, "modifiers", sharing, root, covered, names_of_arcs(candidate))


def _of_tags(candidate: TaggedSequence) -> _Picture:
    """Tags above words; a run counts for its last tag."""
    node = word_nodes(candidate).tolist()
    return _Picture(
        drawn(candidate),
        "end",
        lambda places: [node[places[-1]]],
        lambda places: node[places[0]],
        lambda places: [own for place in places for own in (node[place], node[place] + 1)],
        names_of_tags(candidate),
    )


def _of_fragments(tree: Tree) -> _Picture:
    """The tree itself; a fragment counts for its root, and covers the children of its productions."""
    position = list(tree.positions())
    number = {own: node for node, own in enumerate(position)}
    nodes = list(tree)

    def covered(places: Places) -> list[int]:
        below = [number[(*position[node], k)] for node in places for k in range(len(nodes[node].children))]
        return sorted({*places, *below})

    return _Picture(tree, "root", lambda places: [places[0]], lambda places: places[0], covered)
