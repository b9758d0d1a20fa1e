"""``SelectedFeatures``: what a selection has kept, with weights; features are found in new items, and named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.jobs.schedule import Schedule
from espalier.kept import kept
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.spaces.feature_examples import FeatureExample, examples_of
from espalier.spaces.feature_tries import check_keys, compact, orders_of, path_to, shapes_of
from espalier.spaces.grown import Atoms, GrownSpace, Integers, Path, space_for
from espalier.storage import State, Storable, require
from espalier.structures.columns import read_only
from espalier.structures.numbers import whole_number

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float64]
Nodes = NDArray[np.uint32]


@dataclass(frozen=True)
class SelectedFeature:
    """One feature.

    Attributes
    ----------
    text
        The feature, written as its space writes it.
    order
        How many atoms it has.
    weights
        Its weight at the end of the selection: one, or one for each class; 0 if it only survived.
    """

    text: str
    order: int
    weights: tuple[float, ...]

    def __str__(self) -> str:
        return self.text


class SelectedFeatures(Storable, Sequence[SelectedFeature]):
    """Features of a kernel, each a column of a matrix: read-only.

    A :class:`~espalier.selection.KernelSpaceSelector` makes them.

    Attributes
    ----------
    kernel
        The kernel whose features these are.
    order
        How many atoms each has.
    weights
        One row for each feature, one column for each class; a single column for candidates.
    names
        What the columns of the weights are.
    """

    def __init__(
        self,
        kernel: Kernel,
        atoms: Atoms,
        keys: NDArray[np.uint64],
        node: Nodes,
        weights: Floats,
        names: Sequence[str],
    ) -> None:
        self.kernel, self.atoms, self.names = kernel, atoms, tuple(names)
        self._keys, self._node, self.weights = (read_only(array) for array in (keys, node, weights))

    @kept
    def space(self) -> GrownSpace:
        """The space of the kernel."""
        return space_for(self.kernel)

    @kept
    def trie(self) -> _core.FeatureTrie:
        """All features and what they grow from."""
        trie = _core.FeatureTrie(1)
        trie.insert(self._keys)
        return trie

    @kept
    def _parts(self) -> tuple[Nodes, NDArray[np.uint8], NDArray[np.int32]]:
        """By atom the first features, which features are open, and the column of each, -1 if it has none."""
        needed = np.zeros(len(self.trie), np.uint8)
        needed[self._node] = 1
        opened, _ = _core.open_parts(self.trie, self.space.kind, self.atoms.top, needed, 1)
        column = np.full(len(self.trie), -1, np.int32)
        column[self._node] = np.arange(len(self), dtype=np.int32)
        return _core.first_features(self.trie, len(self.atoms), opened), opened, column

    @kept
    def orders(self) -> NDArray[np.uint8]:
        """How many atoms every feature of the trie has."""
        return orders_of(self._keys, 1)

    @property
    def order(self) -> NDArray[np.uint8]:
        """How many atoms each feature has."""
        found: NDArray[np.uint8] = self.orders[self._node]
        return found

    def __len__(self) -> int:
        return len(self._node)

    def __getitem__(self, row: Any) -> Any:
        if not isinstance(row, int | np.integer):
            return self.chosen(np.arange(len(self))[row])
        if not -len(self) <= row < len(self):
            raise IndexError(f"There is no feature {row}: there are {len(self):,}.")
        path = self.path(int(row) % len(self))
        weights = tuple(self.weights[row].tolist())
        return SelectedFeature(self.space.write(self.atoms, path), len(path), weights)

    def __iter__(self) -> Iterator[SelectedFeature]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        counts = np.bincount(self.order, minlength=2)[1:]
        of = ", ".join(f"{n:,} of order {order}" for order, n in enumerate(counts.tolist(), 1) if n)
        return f"<SelectedFeatures: {of or 'none'}>"

    def __deepcopy__(self, memo: object) -> Self:
        return self  # nothing in it changes, and it may be large

    def __reduce__(self) -> tuple[Any, ...]:
        # Without what was computed: tries of the core are made again.
        return type(self), (self.kernel, self.atoms, self._keys, self._node, self.weights, self.names)

    def path(self, row: int) -> Path:
        """The place and the number of each atom of a feature."""
        return path_to(self._keys, int(self._node[row]))

    def chosen(self, rows: Integers) -> SelectedFeatures:
        """Some of the features, in this order."""
        made = SelectedFeatures(self.kernel, self.atoms, self._keys, self._node[rows], self.weights[rows], self.names)
        for name in ("trie", "space", "orders"):
            if name in vars(self):
                vars(made)[name] = vars(self)[name]
        return made

    def compacted(self) -> SelectedFeatures:
        """The same features without what none of them grows from; it takes less memory and is faster."""
        trie, place = compact(self.trie.keys(), self.orders, self._parts[1])
        return SelectedFeatures(self.kernel, self.atoms, trie.keys()[1:], place[self._node], self.weights, self.names)

    def with_weights(self, weights: Floats, names: Sequence[str]) -> SelectedFeatures:
        """The same features with other weights: one row for each, one column for each name."""
        return SelectedFeatures(self.kernel, self.atoms, self._keys, self._node, weights, names)

    def weighted(self) -> SelectedFeatures:
        """Those whose weight is not 0."""
        return self.chosen(np.flatnonzero(self.weights.any(axis=1)))

    def heaviest(self, n: int = 20) -> SelectedFeatures:
        """Those of the largest weights, the largest first."""
        size = np.abs(self.weights).max(axis=1, initial=0.0)
        return self.chosen(np.argsort(-size, kind="stable")[:n])

    def names_of(self, rows: Sequence[int] | None = None) -> list[str]:
        """The features as texts."""
        return [self[row].text for row in (range(len(self)) if rows is None else rows)]

    def examples(
        self, items: Any, n: int = 3, *, n_threads: int | None = None, memory: int | str | None = None
    ) -> list[list[FeatureExample]]:
        """Return for each feature the first n items that have it, and where in them.

        Parameters
        ----------
        items
            Items as the kernel reads them, or groups: of a group, the first candidate that has the feature is named.
        n
            How many items of each feature; fewer if no more have it.
        n_threads, memory
            As for every learner: see :class:`~espalier.gram.estimator.Learner`.
        """
        n = whole_number("n", n)
        return examples_of(self, items, n, Schedule.of(n_threads, memory))

    def n_templates(self) -> int:
        """How many different shapes the features have: of subtrees, with the template of each arc."""
        shapes = shapes_of(self._keys, self.orders, self.space.templates_of(self.atoms))
        return len(np.unique(shapes[self._node]))

    def matrix(self, inputs: Inputs, schedule: Schedule, *, counts: bool = False) -> csr_matrix:
        """One row for each item and one column for each feature: 1 if the item has it, or how many times."""
        from scipy.sparse import csr_matrix

        bounds = np.arange(len(inputs) + 1)
        graphs = self.space.graphs(inputs, bounds, self.atoms, schedule)
        first, opened, column = self._parts
        rows = _core.feature_rows(
            graphs,
            self.trie,
            len(self.atoms),
            first,
            opened,
            (column >= 0).astype(np.uint8),
            int(self.order.max(initial=1)),
            schedule.n_threads,
            schedule.tell,
        )
        values = rows["count"].astype(np.float64) if counts else np.ones(len(rows["node"]))
        found = csr_matrix((values, column[rows["node"]], rows["start"]), shape=(len(inputs), len(self)))
        found.sort_indices()
        return found

    def extracted(
        self, inputs: Inputs, bounds: Integers, schedule: Schedule, *, decay: float = 1.0
    ) -> _core.RankedFeatures:
        """The features of candidates in groups, for learning and scoring; one of order r counts ``decay ** (r - 1)``.

        A feature counts as often as it occurs in a candidate. Those that all candidates of a group share are left out.
        If the features and the graphs that they are found in exceed the memory, what is returned is not whole: it only
        says how much the features of each group take.
        """
        graphs = self.space.graphs(inputs, bounds, self.atoms, schedule.between(0.0, 0.2))
        first, opened, column = self._parts
        values = decay ** (np.maximum(self.orders, 1).astype(np.float32) - 1)
        part = schedule.between(0.2, 1.0)
        return _core.RankedFeatures.extracted(
            graphs,
            self.trie,
            len(self.atoms),
            first,
            opened,
            column,
            values.astype(np.float32),
            int(self.order.max(initial=1)),
            part.memory - int(graphs.n_bytes),
            part.n_threads,
            part.tell,
        )

    def to_state(self) -> dict[str, object]:
        """Return the kernel, atoms, features and weights."""
        return {
            "kernel": self.kernel,
            "codes": self.atoms.codes,
            "top": self.atoms.top,
            "texts": {name: list(texts) for name, texts in self.atoms.texts.items()},
            "keys": self._keys,
            "node": self._node,
            "weights": self.weights,
            "names": list(self.names),
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the features that a file holds."""
        kernel = state.object("kernel", Kernel)
        parts = state.part("texts")
        texts = {name: tuple(parts.texts(name)) for name in parts.names()}
        codes, top = state.array("codes", np.uint64), state.array("top", np.uint32)
        keys, node = state.array("keys", np.uint64), state.array("node", np.uint32)
        weights, names = state.array("weights", np.float64, 2), state.texts("names")
        require((codes[1:] > codes[:-1]).all(), "its atoms are not sorted")
        require(len(codes) <= _core.MOST_ATOMS, "it has too many atoms")
        space, atoms = space_for(kernel), Atoms(codes, texts, top)
        space.check(atoms)
        check_keys(keys, len(codes), space.kind)
        require((node > 0).all() and (node <= len(keys)).all(), "a feature is out of range")
        require(len(np.unique(node)) == len(node), "a feature is listed twice")
        require(len(names) > 0 and weights.shape == (len(node), len(names)), "its weights do not fit its features")
        require(np.isfinite(weights).all(), "a weight is not a number")
        made = cls(kernel, atoms, keys, node, weights, names)
        most = space.largest_order or _core.MOST_ORDER
        require((made.order <= most).all(), f"a feature has more than {most} atoms")
        return made
