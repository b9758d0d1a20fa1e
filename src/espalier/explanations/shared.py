"""The fragments two trees share: a kernel value as a readable list of its parts.

Every fragment that a pair of trees shares is rooted at a pair of nodes with equal productions, and is part
of the largest fragment that those two nodes share. So the subset-tree kernel is a sum over largest
fragments, and nothing is counted twice: the totals listed here add up to the kernel's value.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from espalier.errors import InputError, KernelOverflowError
from espalier.kernels.base import Kernel
from espalier.kernels.hyperparameters import fixed
from espalier.kernels.inputs import Inputs
from espalier.kernels.subset_tree import ProductionKernel, SubsetTree
from espalier.spaces.subset import by_label
from espalier.spaces.terms import Term, parts_of
from espalier.structures.fragment import Fragment, Position
from espalier.structures.numbers import finite_number, whole_number
from espalier.structures.tree import Tree

_Subtree = tuple[str, tuple[int, ...]]  # its label, and the numbers of its children
_Pair = tuple[int, int]  # two subtrees with equal productions, by number


@dataclass(frozen=True)
class SharedFragment:
    """A largest shared fragment, what it adds to the kernel, and where it occurs.

    Attributes
    ----------
    fragment
        The largest fragment that the nodes at these places share.
    weight
        What the fragments rooted at one pair of these places add to the kernel's value: this one and all
        that are parts of it.
    n_pairs
        The number of pairs of nodes of which it is the largest shared fragment.
    in_x, in_y
        The positions of its root in the first and in the second tree.
    """

    fragment: Fragment
    weight: float
    n_pairs: int
    in_x: tuple[Position, ...]
    in_y: tuple[Position, ...]

    @property
    def total(self) -> float:
        """What all fragments rooted at these places add to the kernel's value."""
        return self.weight * self.n_pairs

    def __str__(self) -> str:
        return self.fragment.to_brackets()


def shared_fragments(
    x: Tree,
    y: Tree,
    kernel: Kernel | None = None,
    *,
    decay: float | None = None,
    frontier: float | None = None,
    n: int | None = 5,
    max_pairs: int = 2_000_000,
) -> list[SharedFragment]:
    """List the heaviest fragments that two trees share.

    For each pair of nodes with equal productions there is one largest fragment rooted at both. Pairs with
    the same largest fragment are listed together, and weigh the same. With ``n=None`` the totals add up to
    ``kernel.value(x, y)``.

    Parameters
    ----------
    x, y
        The trees.
    kernel
        ``SubsetTree`` or ``Subtree``, alone, normalised and with a scale, without ``max_depth`` and ``lone_leaves``;
        ``SubsetTree()`` if None.
    decay, frontier
        Numbers in place of a kernel: those of ``SubsetTree(decay, frontier)``.
    n
        How many to list, the heaviest first, and among equal weights the largest total first; all if None.
    max_pairs
        The most pairs of distinct matching subtrees to consider; an InputError if the trees have more.

    Examples
    --------
    >>> x = Tree.from_brackets("(NP (D the) (N cat))")
    >>> y = Tree.from_brackets("(S (NP (D the) (N dog)) (VP (V sat)))")
    >>> for shared in shared_fragments(x, y, SubsetTree(decay=0.5)):
    ...     print(shared, shared.weight, shared.in_x, shared.in_y)
    (NP (D the) (N)) 0.75 ((),) ((0,),)
    (D the) 0.5 ((0,),) ((0, 0),)
    """
    for tree in (x, y):
        if not isinstance(tree, Tree):
            raise TypeError(f"shared_fragments compares two Trees, got {type(tree).__name__}.")
    if n is not None:
        whole_number("n", n, 0, math.inf, wanted="an integer of at least 0, or None for all")
    term = _term(kernel, decay, frontier)
    known: dict[_Subtree, int] = {}
    numbers_x, numbers_y = _numbered(x, known), _numbered(y, known)
    subtrees = list(known)
    counts_x, counts_y = _counts(x, numbers_x), _counts(y, numbers_y)
    pairs = _matching_pairs(subtrees, counts_x, counts_y, max_pairs)
    fragments, unexpanded, number_of, values = _largest(subtrees, pairs, term.kernel)
    if any(math.isinf(value) for value in values.values()):
        raise KernelOverflowError(
            f"The weight of the fragments these trees share is too large for a float64 with {term.kernel!r}; "
            "use a smaller decay."
        )
    norms = term.norm(Inputs.of([x, y] if term.column is None else {term.column: [x, y]}))
    factor = term.scale / float(norms.prod())
    weight: dict[int, float] = {}
    n_pairs: dict[int, int] = defaultdict(int)
    members: dict[int, list[_Pair]] = defaultdict(list)
    for pair in pairs:
        if values[pair] > 0:
            k = number_of[pair]
            weight[k] = factor * values[pair]
            n_pairs[k] += counts_x[pair[0]] * counts_y[pair[1]]
            members[k].append(pair)
    # Among fragments with equal weight and total, the one found last is the highest in the trees.
    chosen = sorted(weight, key=lambda k: (-weight[k], -n_pairs[k], -k))[:n]
    places_x = _places(x, numbers_x, {u for k in chosen for u, _ in members[k]})
    places_y = _places(y, numbers_y, {v for k in chosen for _, v in members[k]})
    return [
        SharedFragment(
            _fragment(fragments[k], unexpanded),
            weight[k],
            n_pairs[k],
            tuple(sorted(place for u in {u for u, _ in members[k]} for place in places_x[u])),
            tuple(sorted(place for v in {v for _, v in members[k]} for place in places_y[v])),
        )
        for k in chosen
    ]


def _term(kernel: Kernel | None, decay: float | None, frontier: float | None) -> Term:
    """The kernel of subset trees or subtrees, with its scale and norms."""
    if kernel is None:
        decay = finite_number("decay", 0.4 if decay is None else decay)
        frontier = finite_number("frontier", 1.0 if frontier is None else frontier, zero=True)
        kernel = SubsetTree(fixed(decay), fixed(frontier))
    elif decay is not None or frontier is not None:
        raise ValueError("The kernel has its own decay and frontier: give the kernel alone.")
    elif not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a kernel of Espalier such as SubsetTree(), got {kernel!r}.")
    terms, others = parts_of(kernel, _has_largest)
    if len(terms) != 1 or others:
        raise InputError(
            "Shared fragments are those of one SubsetTree or Subtree without max_depth and lone_leaves, alone, "
            f"normalised or with a scale, not those of {kernel!r}."
        )
    return terms[0]


def _has_largest(kernel: Kernel) -> bool:
    """Whether every pair of nodes with equal productions has one largest fragment, and there are no others."""
    return isinstance(kernel, ProductionKernel) and not kernel.max_depth and not kernel.lone_leaves


def _numbered(tree: Tree, known: dict[_Subtree, int]) -> dict[int, int]:
    """Number the distinct subtrees of a tree, children before parents; return the number of each node by its id."""
    numbers: dict[int, int] = {}

    def number(node: Tree, children: list[int]) -> int:
        numbers[id(node)] = known.setdefault((node.label, tuple(children)), len(known))
        return numbers[id(node)]

    tree.fold(number)
    return numbers


def _counts(tree: Tree, numbers: dict[int, int]) -> dict[int, int]:
    """How often each distinct inner subtree occurs in a tree."""
    return Counter(numbers[id(node)] for node in tree if node.children)


def _matching_pairs(
    subtrees: list[_Subtree], counts_x: Iterable[int], counts_y: Iterable[int], max_pairs: int
) -> list[_Pair]:
    """Pairs of distinct subtrees with equal productions, children before parents."""

    def production(u: int) -> tuple[object, ...]:
        label, children = subtrees[u]
        return (label, *((subtrees[child][0], bool(subtrees[child][1])) for child in children))

    of_y: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for v in sorted(counts_y):
        of_y[production(v)].append(v)
    matches = [(u, of_y.get(production(u), [])) for u in sorted(counts_x)]
    n_pairs = sum(len(found) for _, found in matches)
    if n_pairs > max_pairs:
        raise InputError(
            f"These trees have {n_pairs:,} pairs of distinct subtrees with equal productions, more than "
            f"max_pairs={max_pairs:,}. Compare smaller trees, or raise max_pairs."
        )
    # A child of either side has a smaller number than its parent, so the order of u suffices.
    return [(u, v) for u, found in matches for v in found]


def _largest(
    subtrees: list[_Subtree], pairs: list[_Pair], kernel: Kernel
) -> tuple[list[Tree], dict[str, Tree], dict[_Pair, int], dict[_Pair, float]]:
    """The largest shared fragments as trees, in which equal parts are one object, and their unexpanded nodes by label.

    Also for each pair the number of its largest shared fragment, and the node function of the kernel.
    """
    labels = list(dict.fromkeys(label for label, _ in subtrees))
    # The last value is for leaves.
    decay, frontier = (dict(zip(labels, own.tolist(), strict=False)) for own in by_label(kernel, labels))
    words, unexpanded = ({label: Tree(label) for label in labels} for _ in range(2))
    fragments: list[Tree] = []
    known: dict[tuple[object, ...], int] = {}
    number_of: dict[_Pair, int] = {}
    values: dict[_Pair, float] = {}
    for u, v in pairs:
        label, children = subtrees[u]
        value = decay[label]
        parts: list[Tree] = []
        for pair in zip(children, subtrees[v][1], strict=True):
            below, grandchildren = subtrees[pair[0]]
            if not grandchildren:
                parts.append(words[below])
                continue
            value *= frontier[label] + values.get(pair, 0.0)
            parts.append(fragments[number_of[pair]] if pair in number_of else unexpanded[below])
        k = known.setdefault((label, *map(id, parts)), len(fragments))
        if k == len(fragments):
            fragments.append(Tree(label, parts))
        number_of[u, v], values[u, v] = k, value
    return fragments, unexpanded, number_of, values


def _fragment(tree: Tree, unexpanded: dict[str, Tree]) -> Fragment:
    places = (place for place, leaf in enumerate(tree.leaves()) if leaf is unexpanded[leaf.label])
    return Fragment(tree, tuple(places))


def _places(tree: Tree, numbers: dict[int, int], wanted: set[int]) -> dict[int, list[Position]]:
    """The positions of the wanted subtrees; no others are written out."""
    places: dict[int, list[Position]] = {u: [] for u in wanted}
    path: list[int] = []
    stack: list[tuple[Tree, int, int]] = [(tree, 0, 0)]
    while stack:
        node, depth, index = stack.pop()
        if depth:
            del path[depth - 1 :]
            path.append(index)
        number = numbers[id(node)]
        if number in places:
            places[number].append(tuple(path))
        children = node.children
        stack.extend((children[k], depth + 1, k) for k in range(len(children) - 1, -1, -1))
    return places
