"""Fragments of trees: the productions that a ``SubsetTree`` counts together.

An atom is a production: at the top of a fragment, or as a certain child of the production above it. The code of a top
is the number of its production, counted from 1, and that of a child also has the number of the child in its upper half,
counted from 1. Productions are kept as texts: a JSON list of the label and the children, in which a node is in brackets
and a leaf is not.

The positions of an example are first its different inner subtrees, as tops, and then, for each of them, its children
that are inner nodes. A subtree that occurs several times in an example has one position as a top: this counts presence.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.corpus.forest import Forest
from espalier.errors import InputError
from espalier.jobs.schedule import Schedule
from espalier.kernels.hyperparameters import Fixed
from espalier.kernels.inputs import Inputs
from espalier.spaces.grown import (
    NO_FEATURE,
    PRODUCTIONS,
    Atoms,
    GrownSpace,
    Integers,
    Locate,
    Path,
    Places,
    check_atoms,
    check_candidates,
    check_numbers,
    in_enough_examples,
    masks_of,
)
from espalier.spaces.marked_words import marked_words
from espalier.storage import require
from espalier.structures.interop import as_tree
from espalier.structures.notation import escape_label
from espalier.structures.tree import Tree

_CHILD_SHIFT = 32
_PRODUCTION = (1 << _CHILD_SHIFT) - 1


class FragmentSpace(GrownSpace):
    """The fragments that a ``SubsetTree`` counts."""

    kind: ClassVar = PRODUCTIONS
    what: ClassVar = "fragment"

    def __init__(self, kernel: Any) -> None:
        super().__init__(kernel)
        refused = {
            "lone leaves are no fragments. Leave out lone_leaves=True": kernel.lone_leaves,
            "fragments are limited by their order, not by their depth. Leave out max_depth": kernel.max_depth
            is not None,
            "it counts complete subtrees alone. Leave out frontier=fixed(0)": (
                isinstance(kernel.frontier, Fixed) and kernel.frontier.value == 0
            ),
        }
        for reason, is_refused in refused.items():
            if is_refused:
                raise InputError(f"Features of {kernel!r} cannot be selected: {reason}.")

    def learned(self, inputs: Inputs, bounds: Integers, threshold: float, schedule: Schedule) -> Atoms:
        check_candidates(bounds)
        forest = inputs.forest(self.kernel.on)
        trees = _trees_of(forest, bounds)
        production, spelled = _productions(forest)
        own = production[trees.subtree]
        kept = in_enough_examples(own.astype(np.uint64), trees.example, threshold).astype(np.int64)
        texts = tuple(sorted(_spelling(forest, subtree) for subtree in spelled[kept].tolist()))
        number = _numbers(forest, production, spelled, texts)
        is_known = number[trees.child] > 0  # a production that is rare as a top is rare as a child
        below = _codes(trees.which, number[trees.child])[is_known]
        often = in_enough_examples(below, trees.example[trees.owner[is_known]], threshold)
        codes = np.concatenate([np.arange(1, len(texts) + 1, dtype=np.uint64), often])
        check_atoms(codes, threshold)
        atoms = Atoms(codes, {"productions": texts})
        return Atoms(codes, atoms.texts, atoms.numbers(codes & np.uint64(_PRODUCTION)))

    def graphs(self, inputs: Inputs, bounds: Integers, atoms: Atoms, schedule: Schedule) -> _core.SlotGraphs:
        check_candidates(bounds)
        forest = inputs.forest(self.kernel.on)
        trees = _trees_of(forest, bounds)
        number = _numbers(forest, *_productions(forest), atoms.texts["productions"])
        top = atoms.numbers(number[trees.subtree].astype(np.uint64))
        child = atoms.numbers(np.where(number[trees.child] > 0, _codes(trees.which, number[trees.child]), np.uint64(0)))
        # Positions count from the first of the example: its tops, then the children of each of them.
        n = len(bounds) - 1
        n_tops = np.bincount(trees.example, minlength=n)
        n_below = np.bincount(trees.example[trees.owner], minlength=n)
        start = _starts(n_tops + n_below)
        own = np.arange(len(top)) - _starts(n_tops)[trees.example]
        edge_start = (n_tops - _starts(n_below)[:-1])[trees.example] + trees.edge_start[:-1]
        edge_end = edge_start + np.diff(trees.edge_start)
        owner, below = trees.owner, trees.below
        top_at = start[trees.example] + own
        child_at = start[trees.example[owner]] + n_tops[trees.example[owner]]
        child_at += np.arange(len(owner)) - _starts(n_below)[trees.example[owner]]

        def placed(tops: NDArray[Any], children: NDArray[Any], kind: Any) -> NDArray[Any]:
            out = np.empty(start[-1], kind)
            out[top_at], out[child_at] = tops, children
            return out

        arrays: dict[str, NDArray[Any]] = {
            "start": start,
            "n_starts": n_tops.astype(np.int32),
            "n_candidates": np.diff(bounds).astype(np.int32),
            "slot": placed(np.zeros_like(own), trees.which, np.int32),
            "atom": placed(top, child, np.uint32),
            "first_child": placed(edge_start, edge_start[below], np.int32),
            "last_child": placed(edge_end, edge_end[below], np.int32),
            "last_sibling": placed(own + 1, edge_end[owner], np.int32),
            "above": placed(np.full_like(top, NO_FEATURE), top[owner], np.uint32),
        }
        if np.diff(bounds).max(initial=1) > 1:
            arrays["mask"] = placed(trees.mask, trees.mask[owner], np.uint64)
        return _core.SlotGraphs(self.kind, 0, arrays)

    def write(self, atoms: Atoms, path: Path) -> str:
        """The fragment in brackets, in which ``(X)`` is an unexpanded node and ``X`` a word."""
        parts: list[list[str]] = []  # of each production: its label and children as texts
        above: list[tuple[int, int]] = []  # of each production: that above it, and which child of it this is
        open_at: list[int] = []  # by depth: the last production
        for place, atom in path:
            child, number = divmod(int(atoms.codes[atom]), 1 << _CHILD_SHIFT)
            label, *children = json.loads(atoms.texts["productions"][number - 1])
            depth = max(place, 1)
            above.append((open_at[depth - 2] if depth > 1 else -1, child))
            open_at[depth - 1 :] = [len(parts)]
            parts.append([escape_label(label), *map(_part_text, children)])
        for own, (owner, child) in reversed(list(zip(parts, above, strict=True))):
            if owner >= 0:
                if not 0 < child < len(parts[owner]):
                    raise InputError(f"A production is child {child} of one with {len(parts[owner]) - 1} children.")
                parts[owner][child] = f"({' '.join(own)})"
        return f"({' '.join(parts[0])})"

    def locator(self, atoms: Atoms, item: Any) -> Locate:
        """As for every space; the place of a production is the number of its node, each before its children.

        A fragment that is at the top of two equal subtrees counts once, and is located in the first.
        """
        nodes = list(as_tree(item))
        numbers = {text: number for number, text in enumerate(atoms.texts["productions"], 1)}
        children: list[list[int]] = [[] for _ in nodes]
        production = [0] * len(nodes)
        size = [1] * len(nodes)
        equal = [0] * len(nodes)  # the same number for equal subtrees
        known: dict[tuple[Any, ...], int] = {}
        for k in reversed(range(len(nodes))):
            for _ in nodes[k].children:
                children[k].append(k + size[k])
                size[k] += size[children[k][-1]]
            equal[k] = known.setdefault((nodes[k].label, *(equal[child] for child in children[k])), len(known))
            if children[k]:
                production[k] = numbers.get(_spelled(nodes[k]), 0)
        first: dict[int, int] = {}
        for k, which in enumerate(equal):
            first.setdefault(which, k)
        tops = sorted(first.values())

        def locate(path: Path) -> list[Places]:
            codes = [(max(place, 1), *divmod(int(atoms.codes[atom]), 1 << _CHILD_SHIFT)) for place, atom in path]
            found: list[Places] = []
            for top in tops:
                places: list[int] = []
                open_at: list[int] = []  # by depth: the last node
                for depth, child, number in codes:
                    node = top if depth == 1 else children[open_at[depth - 2]][child - 1]
                    if production[node] != number:
                        break
                    places.append(node)
                    open_at[depth - 1 :] = [node]
                else:
                    found.append(tuple(places))
            return found

        return locate

    def shown(self, item: Any, places: Places) -> str:
        """The sentence, with the words below the top of the fragment marked."""
        nodes = list(as_tree(item))
        first = sum(not node.children for node in nodes[: places[0]])
        words = [node.label for node in nodes if not node.children]
        return marked_words(words, range(first, first + len(nodes[places[0]].words())))

    def check(self, atoms: Atoms) -> None:
        self._check_codes(atoms)
        top = atoms.numbers(atoms.codes & np.uint64(_PRODUCTION))
        require(np.array_equal(atoms.top, top) and (top < len(atoms)).all(), "its productions have no tops")

    def _check_codes(self, atoms: Atoms) -> None:
        check_numbers(atoms.codes & np.uint64(_PRODUCTION), atoms, "productions")
        for text in atoms.texts["productions"]:
            listed = json.loads(text)
            require(isinstance(listed, list) and len(listed) > 1, "a production is no list")
            names = [part if isinstance(part, list) else [part] for part in listed]
            sound = isinstance(listed[0], str) and all(len(own) == 1 and isinstance(own[0], str) for own in names)
            require(sound, "a production has a part without a label")


class _Trees(NamedTuple):
    """The different inner subtrees of each example, and their children that are inner nodes."""

    example: Integers  # by inner subtree of an example; does not decrease
    subtree: Integers  # its number in the forest
    mask: NDArray[np.uint64]  # the candidates that have it
    edge_start: Integers  # where its children begin, and the end of all
    owner: Integers  # by child: the inner subtree that it is a child of
    which: Integers  # which child it is
    child: Integers  # its number in the forest
    below: Integers  # its place among the inner subtrees


def _trees_of(forest: Forest, bounds: Integers) -> _Trees:
    arrays = forest.arrays
    child_start = arrays["child_start"].astype(np.int64)
    n_subtrees = forest.n_subtrees
    is_inner = np.diff(child_start) > 0
    row = np.repeat(np.arange(len(forest)), np.diff(arrays["tree_start"]))
    entry = np.flatnonzero(is_inner[arrays["tree_subtree"]])
    row, subtree = row[entry], arrays["tree_subtree"][entry].astype(np.int64)
    key = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))[row] * n_subtrees + subtree
    order = np.argsort(key, kind="stable")
    distinct, first = np.unique(key[order], return_index=True)
    bit = masks_of(bounds, row)[order]
    mask = np.bitwise_or.reduceat(bit, first) if len(first) else np.empty(0, np.uint64)
    example, subtree = distinct // max(n_subtrees, 1), distinct % max(n_subtrees, 1)

    n_children = np.diff(child_start)[subtree]
    owner = np.repeat(np.arange(len(subtree)), n_children)
    index = np.arange(len(owner)) - np.repeat(_starts(n_children)[:-1], n_children)
    child = arrays["child"][child_start[subtree[owner]] + index].astype(np.int64)
    kept = is_inner[child]
    owner, index, child = owner[kept], index[kept], child[kept]
    edge_start = _starts(np.bincount(owner, minlength=len(subtree)))
    below = np.searchsorted(distinct, example[owner] * n_subtrees + child)
    return _Trees(example, subtree, mask, edge_start, owner, index, child, below)


def _productions(forest: Forest) -> tuple[Integers, Integers]:
    """The production of each subtree of the trees, -1 for leaves and others; and for each production a subtree."""
    arrays = forest.arrays
    start, child, label = (arrays[name].astype(np.int64) for name in ("child_start", "child", "label"))
    n_children = np.diff(start)
    # A leaf and an inner node that are spelled alike differ.
    part = 2 * label + (n_children > 0)
    used = np.unique(arrays["tree_subtree"]).astype(np.int64)
    production = np.full(len(label), -1, np.int64)
    spelled: list[Integers] = [np.empty(0, np.int64)]
    n_found = 0
    for arity in np.unique(n_children[used]).tolist():
        if arity == 0:
            continue
        own = used[n_children[used] == arity]
        columns = np.vstack([label[own], part[child[start[own] + np.arange(arity)[:, None]]]])
        order = np.lexsort(columns)
        is_new = np.ones(len(own), bool)
        is_new[1:] = (columns[:, order[1:]] != columns[:, order[:-1]]).any(axis=0)
        production[own[order]] = n_found + np.cumsum(is_new) - 1
        spelled.append(own[order[is_new]])
        n_found += len(spelled[-1])
    return production, np.concatenate(spelled)


def _numbers(forest: Forest, production: Integers, spelled: Integers, texts: tuple[str, ...]) -> Integers:
    """For each subtree the number of its production among the texts, counted from 1; 0 if it is not known."""
    known = {text: number for number, text in enumerate(texts, 1)}
    found = [known.get(_spelling(forest, subtree), 0) for subtree in spelled.tolist()]
    return np.array([*found, 0], np.int64)[production]  # the last is for those that have none


def _spelling(forest: Forest, subtree: int) -> str:
    """The production at the top of a subtree."""
    arrays, vocabulary = forest.arrays, forest.vocabulary
    start, label = arrays["child_start"], arrays["label"]
    parts: list[Any] = [vocabulary[int(label[subtree])]]
    for child in arrays["child"][start[subtree] : start[subtree + 1]].tolist():
        text = vocabulary[int(label[child])]
        parts.append([text] if start[child + 1] > start[child] else text)
    return json.dumps(parts, ensure_ascii=False)


def _spelled(node: Tree) -> str:
    """The production of a node of a tree."""
    parts = [[child.label] if child.children else child.label for child in node.children]
    return json.dumps([node.label, *parts], ensure_ascii=False)


def _part_text(part: list[str] | str) -> str:
    """A child of a production: in brackets if it is a node, or if there is nothing to spell."""
    text = escape_label(part if isinstance(part, str) else part[0])
    return text if isinstance(part, str) and text else f"({text})"


def _codes(index: Integers, number: Integers) -> NDArray[np.uint64]:
    return (((index + 1) << _CHILD_SHIFT) | number).astype(np.uint64)


def _starts(sizes: Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
