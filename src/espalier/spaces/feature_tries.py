"""Keys of features as a trie holds them: what each grows from, at which place, and by which atom."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.errors import InputError
from espalier.spaces.grown import PRODUCTIONS, SEQUENCES, SETS, Path
from espalier.storage import require

Keys = NDArray[np.uint64]
Nodes = NDArray[np.uint32]

_ATOM_BITS, _PLACE_BITS = 24, 6
KEY_BITS = np.uint64(_ATOM_BITS + _PLACE_BITS)  # of place and atom, below the parent


def parents_of(keys: Keys) -> NDArray[np.int64]:
    """The node that each feature grows from."""
    return (keys >> KEY_BITS).astype(np.int64)


def path_to(keys: Keys, node: int) -> Path:
    """The place and the number of each atom of a feature, in a trie of one root whose key is not listed."""
    found = []
    while node > 0:
        key = int(keys[node - 1])
        found.append((key >> _ATOM_BITS & ((1 << _PLACE_BITS) - 1), key & ((1 << _ATOM_BITS) - 1)))
        node = key >> (_ATOM_BITS + _PLACE_BITS)
    return found[::-1]


def compact(keys: Keys, orders: NDArray[np.uint8], wanted: NDArray[np.uint8]) -> tuple[_core.FeatureTrie, Nodes]:
    """A trie of some nodes of another, and the place of each node in it; all roots become its only one."""
    trie = _core.FeatureTrie(1)
    place = np.zeros(len(keys), np.uint32)
    for order in range(1, int(orders.max(initial=0)) + 1):
        nodes = np.flatnonzero((orders == order) & (wanted > 0))
        parent = place[parents_of(keys[nodes])].astype(np.uint64)
        place[nodes] = trie.insert(parent << KEY_BITS | (keys[nodes] & ((np.uint64(1) << KEY_BITS) - np.uint64(1))))
    return trie, place


def orders_of(keys: Keys, n_roots: int) -> NDArray[np.uint8]:
    """How many atoms each node of a trie has, from the keys of all but the roots; parents come before children."""
    order = np.zeros(len(keys) + n_roots, np.uint8)
    parent = parents_of(keys)
    # Nodes of one order are known once those of the order below are: a feature has few atoms.
    left = np.arange(len(keys))
    done = np.zeros(len(order), bool)
    done[:n_roots] = True
    for number in range(1, _core.MOST_ORDER + 1):
        if not len(left):
            break
        ready = done[parent[left]]
        now = left[ready] + n_roots
        order[now] = number
        left = left[~ready]
        done[now] = True
    if len(left):
        raise InputError(f"a feature has more than {_core.MOST_ORDER} atoms")
    return order


def shapes_of(keys: Keys, orders: NDArray[np.uint8], template: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers for features without their words: equal for equal places and templates of all atoms, root included."""
    place = (keys >> np.uint64(_ATOM_BITS) & np.uint64((1 << _PLACE_BITS) - 1)).astype(np.int64)
    own = template[(keys & np.uint64((1 << _ATOM_BITS) - 1)).astype(np.int64)]
    parent, n_templates = parents_of(keys), int(template.max(initial=0)) + 1
    shape = np.zeros(len(keys) + 1, np.int64)
    n = 0
    for order in range(1, int(orders.max(initial=0)) + 1):
        rows = np.flatnonzero(orders[1:] == order)
        above = shape[parent[rows]] * (_core.MOST_ORDER + 1) + place[rows]
        distinct, number = np.unique(above * n_templates + own[rows], return_inverse=True)
        shape[rows + 1] = n + number.reshape(-1) + 1
        n += len(distinct)
    return shape


def check_keys(keys: Keys, n_atoms: int, kind: int) -> None:
    """Refuse keys of a file that do not form a trie of one root, in which features of a kind have grown.

    The core trusts the keys: it goes from a feature to its parents without a look.
    """
    parent = parents_of(keys)
    require((parent <= np.arange(len(keys))).all(), "a feature comes before what it grows from")
    require(((keys & np.uint64((1 << _ATOM_BITS) - 1)) < n_atoms).all(), "an atom is out of range")
    require(len(np.unique(keys)) == len(keys), "a feature is listed twice")
    orders_of(keys, 1)
    place = (keys >> np.uint64(_ATOM_BITS) & np.uint64((1 << _PLACE_BITS) - 1)).astype(np.int64)
    is_first = parent == 0
    require(((place == 0) == is_first).all(), "only the first atom of a feature has no place")
    # The place is a depth. That of the first atom is 1, and each is at most one more than the one before.
    depth = np.concatenate([[0], np.maximum(place, 1)])
    require((place <= depth[parent] + 1).all(), "a place is deeper than the one before it allows")
    later = place[~is_first]
    require(kind not in (SETS, SEQUENCES) or (later == 1).all(), "sets and sequences have no depth")
    require(kind != PRODUCTIONS or (later > 1).all(), "a production must be below the top one")
