"""Combinations of what arcs say, wherever the arcs are in their tree: the polynomial kernel over dependency trees.

``Power(Constant(1.0) + DependencySubtree(templates, max_arcs=1), degree)`` multiplies what single arcs share. An atom
is that of a subtree of one arc. A feature of order r is present in a tree if each of its r atoms is in some arc of it.
"""

from __future__ import annotations

from typing import Any, ClassVar

from espalier import _core
from espalier.errors import InputError
from espalier.jobs.schedule import Schedule
from espalier.kernels.algebra import Constant, Sum
from espalier.kernels.dependency_subtree import DependencySubtree
from espalier.kernels.inputs import Inputs
from espalier.spaces.grown import SETS, Atoms, GrownSpace, Integers, Locate, Path, Places
from espalier.spaces.grown_arcs import ArcSpace
from espalier.structures.interop import as_dependency_tree


class ArcSetSpace(GrownSpace):
    """The combinations of at most ``degree`` atoms that a power of single arcs counts, each atom once."""

    kind: ClassVar = SETS
    what: ClassVar = "combination of arcs"

    def __init__(self, kernel: Any) -> None:
        super().__init__(kernel)
        self._arcs = ArcSpace(_single_arcs(kernel))

    @property
    def largest_order(self) -> int:
        return int(self.kernel.exponent)

    def learned(self, inputs: Inputs, bounds: Integers, threshold: float, schedule: Schedule) -> Atoms:
        return self._arcs.learned(inputs, bounds, threshold, schedule)

    def graphs(self, inputs: Inputs, bounds: Integers, atoms: Atoms, schedule: Schedule) -> _core.SlotGraphs:
        return _core.arc_sets(self._arcs.graphs(inputs, bounds, atoms, schedule), schedule.n_threads)

    def templates_of(self, atoms: Atoms) -> Integers:
        return self._arcs.templates_of(atoms)

    def write(self, atoms: Atoms, path: Path) -> str:
        """The arcs, each by its template and texts."""
        return " & ".join(self._arcs.write(atoms, [(0, atom)]) for _, atom in path)

    def locator(self, atoms: Atoms, item: Any) -> Locate:
        """As for every space: a combination is in a tree once, and each place is the modifier of the first such arc."""
        with_atom = self._arcs.arcs_with(atoms, as_dependency_tree(item))

        def locate(path: Path) -> list[tuple[int, ...]]:
            tokens = [with_atom.get(atom) for _, atom in path]
            return [tuple(min(own) for own in tokens if own)] if all(tokens) else []

        return locate

    def shown(self, item: Any, places: Places) -> str:
        """The sentence, with the words that the arcs connect marked."""
        return self._arcs.shown(item, places)

    def item_of(self, inputs: Inputs, row: int) -> Any:
        return self._arcs.item_of(inputs, row)

    def _check_codes(self, atoms: Atoms) -> None:
        self._arcs.check(atoms)


def _single_arcs(kernel: Any) -> DependencySubtree:
    """The kernel of single arcs in a power of it and a constant."""
    inner, exponent = kernel.kernel, kernel.exponent
    parts = list(inner.terms) if isinstance(inner, Sum) else [inner]
    arcs = [part for part in parts if isinstance(part, DependencySubtree)]
    constants = [part for part in parts if isinstance(part, Constant)]
    if len(parts) != 2 or len(arcs) != 1 or len(constants) != 1 or arcs[0].max_arcs != 1 or exponent != int(exponent):
        raise InputError(
            f"Features of {kernel!r} cannot be selected. Of powers, only those of single arcs can: "
            "Power(Constant(1.0) + DependencySubtree(templates, max_arcs=1), 2), with any whole exponent."
        )
    return arcs[0]
