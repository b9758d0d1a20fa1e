"""``Arcs``: dependency trees as arcs with features, interned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.vocabulary import Vocabulary
from espalier.errors import InputError
from espalier.structures.dependency import DependencyTree
from espalier.structures.interop import as_dependency_tree

Arrays = dict[str, NDArray[Any]]

_BETWEEN = "\x1f"  # between a template and a value, which stands in no text


def _distance(tree: DependencyTree, token: int, head: int) -> str:
    """How far apart the two words are: exactly up to 5, then by ranges."""
    steps = abs(token - head)
    return str(steps) if steps <= 5 else "6-10" if steps <= 10 else "11-"


# What a template says of the arc from a head to a token, both counted from 0.
TEMPLATES: dict[str, Any] = {
    "words": lambda tree, token, head: f"{tree.words[head]} {tree.words[token]}",
    "tags": lambda tree, token, head: f"{tree.tags[head]} {tree.tags[token]}",
    "head word, tag": lambda tree, token, head: f"{tree.words[head]} {tree.tags[token]}",
    "head tag, word": lambda tree, token, head: f"{tree.tags[head]} {tree.words[token]}",
    "relation": lambda tree, token, head: tree.relations[token],
    "direction": lambda tree, token, head: "left" if token < head else "right",
    "distance": _distance,
}
OWN = "own"  # the features that a tree brings along for its arcs


class Arcs:
    """A corpus of dependency trees whose arcs have features: read-only, and cheap to select from.

    Make one with :meth:`from_trees`. A kernel makes its own where it is given plain trees.
    """

    __slots__ = ("_arrays", "_vocabulary", "templates")

    def __init__(self, arrays: Arrays, vocabulary: Vocabulary, templates: tuple[str, ...]) -> None:
        self._arrays, self._vocabulary, self.templates = arrays, vocabulary, templates
        for array in arrays.values():
            array.flags.writeable = False

    @staticmethod
    def from_trees(trees: Iterable[Any], templates: Sequence[str], *, vocabulary: Vocabulary | None = None) -> Arcs:
        """Intern dependency trees, or what converts to them, with these features of their arcs."""
        vocabulary = Vocabulary() if vocabulary is None else vocabulary
        lists: dict[str, list[int]] = {name: [] for name in ("head", "previous", "order", "feature")}
        start, feature_start = [0], [0]
        for row, item in enumerate(trees):
            try:
                tree = item if isinstance(item, DependencyTree) else as_dependency_tree(item)
            except (TypeError, InputError) as error:
                raise InputError(f"Row {row}: {error}") from None
            for token in range(len(tree.words)):
                head = tree.heads[token] - 1
                found = [] if head < 0 else _features(tree, token, head, templates)
                lists["feature"] += sorted(vocabulary._native.add(text) for text in found)
                feature_start.append(len(lists["feature"]))
            lists["head"] += [head - 1 for head in tree.heads]
            lists["previous"] += _previous(tree.heads)
            lists["order"] += _bottom_up(tree.heads)
            start.append(start[-1] + len(tree.words))
        arrays: Arrays = {name: np.array(values, np.int32) for name, values in lists.items()}
        arrays |= {"start": np.array(start, np.int64), "feature_start": np.array(feature_start, np.int64)}
        return Arcs(arrays, vocabulary, tuple(templates))

    @property
    def vocabulary(self) -> Vocabulary:
        """The features of arcs, which every corpus compared with this one must share."""
        return self._vocabulary

    @property
    def arrays(self) -> Arrays:
        """The arrays that the compiled core reads.

        By tree its ``start`` among the tokens; by token its ``head`` and the ``previous`` child of that head in its
        tree, -1 where there is none, and where its features start; by tree all tokens in an ``order`` in which children
        stand before heads and left before right.
        """
        return self._arrays

    @property
    def shape(self) -> tuple[int]:
        """The number of trees."""
        return (len(self),)

    def __len__(self) -> int:
        return len(self._arrays["start"]) - 1

    @overload
    def __getitem__(self, rows: slice) -> Arcs: ...
    @overload
    def __getitem__(self, rows: Any) -> Arcs: ...
    def __getitem__(self, rows: Any) -> Arcs:
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            rows = rows[0]  # as scikit-learn writes it
        chosen = np.arange(len(self))[rows if isinstance(rows, slice) else np.asarray(rows)]
        tokens, start = _ranges(self._arrays["start"], chosen)
        features, feature_start = _ranges(self._arrays["feature_start"], tokens)
        arrays = {name: self._arrays[name][tokens] for name in ("head", "previous", "order")}
        arrays |= {"feature": self._arrays["feature"][features], "start": start, "feature_start": feature_start}
        return Arcs(arrays, self._vocabulary, self.templates)

    def with_vocabulary(self, vocabulary: Vocabulary) -> Arcs:
        """Return the same trees over another vocabulary, which grows by the features that it lacks."""
        used = np.unique(self._arrays["feature"])
        number = np.zeros(len(self._vocabulary), np.int32)
        number[used] = [vocabulary._native.add(self._vocabulary[k]) for k in used.tolist()]
        arrays = {name: array.copy() for name, array in self._arrays.items()}
        arrays["feature"] = number[arrays["feature"]]
        return Arcs(arrays, vocabulary, self.templates)

    def __repr__(self) -> str:
        return f"<Arcs: {len(self):,} trees with {int(self._arrays['start'][-1]):,} words>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Arcs, (dict(self._arrays), self._vocabulary, self.templates))


def template_of(feature: str) -> str:
    """Which template a feature comes from."""
    return feature.split(_BETWEEN, 1)[0]


def _features(tree: DependencyTree, token: int, head: int, templates: Sequence[str]) -> list[str]:
    found = []
    for name in templates:
        if name == OWN:
            own = () if tree.features is None else tree.features[token]
            found += [f"{OWN}{_BETWEEN}{value}" for value in dict.fromkeys(own)]
        else:
            found.append(f"{name}{_BETWEEN}{TEMPLATES[name](tree, token, head)}")
    return found


def _previous(heads: Sequence[int]) -> list[int]:
    """For each token the sibling before it."""
    last: dict[int, int] = {}
    out = []
    for token, head in enumerate(heads):
        out.append(last.get(head, -1))
        last[head] = token
    return out


def _bottom_up(heads: Sequence[int]) -> list[int]:
    """All tokens, children before heads; of the children of one head the left before the right."""
    children: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for token, head in enumerate(heads):
        children[head].append(token)
    # From the roots down and from right to left, turned around.
    todo, out = list(children[0]), []
    while todo:
        token = todo.pop()
        out.append(token)
        todo += children[token + 1]
    return out[::-1]


def _ranges(start: NDArray[Any], chosen: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The entries of some ranges, one after the other, and where each starts."""
    sizes = start[chosen + 1] - start[chosen]
    new = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    return np.arange(new[-1]) + np.repeat(start[chosen] - new[:-1], sizes), new
