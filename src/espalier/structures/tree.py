"""``Tree``: an immutable ordered tree with a label at every node.

Nothing here is recursive: a chain of 50,000 nodes is built, compared, hashed, printed, copied and freed
like any other tree. Equal subtrees may be one object; readers share them in this way.
What changes a tree lives in ``transforms``; what draws it in ``drawing``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, final

from espalier.structures import notation, transforms

if TYPE_CHECKING:
    from espalier.structures.dependency import DependencyTree

T = TypeVar("T")


@final
class Tree:
    """A label and an ordered sequence of subtrees.

    A node without children is a leaf; in language data, leaves are words. A leaf and an inner node
    with the same label are different.

    Parameters
    ----------
    label
        Any text without the NUL character; it may be empty.
    children
        Trees; a ``str`` stands for a leaf.

    Attributes
    ----------
    size
        The number of nodes, leaves included.
    height
        The number of edges on the longest way down; 0 for a leaf.

    Examples
    --------
    >>> tree = Tree("NP", [Tree("D", ["the"]), Tree("N", ["cat"])])
    >>> print(tree)
    (NP (D the) (N cat))
    >>> tree == Tree.from_brackets("(NP (D the) (N cat))")
    True
    >>> tree.words(), tree.size, tree.height
    (['the', 'cat'], 5, 2)
    """

    __slots__ = ("__weakref__", "_hash", "children", "height", "label", "size")

    label: str
    children: tuple[Tree, ...]
    size: int
    height: int
    _hash: int

    def __init__(self, label: str, children: Iterable[Tree | str] = ()) -> None:
        notation.check_label(label)
        if isinstance(children, str):
            raise TypeError(
                f"The children of {label!r} must be a sequence of trees, got the str {children!r}. "
                f"Write Tree({label!r}, [{children!r}]) for a node above one leaf."
            )
        _fill(self, label, tuple([_as_child(child, label) for child in children]))

    @staticmethod
    def from_brackets(text: str) -> Tree:
        """Read exactly one tree from text whose grammar ``notation`` describes; a TreeSyntaxError shows what is wrong.

        Examples
        --------
        >>> Tree.from_brackets("(NP (D the) (N cat))").label
        'NP'
        """
        if not isinstance(text, str):
            raise TypeError(f"Bracketed text must be a str, got {type(text).__name__}.")
        return tree_from_text(text, {})

    @staticmethod
    def from_python(source: str) -> Tree:
        """Parse Python source code into the tree of its syntax; ``as_tree`` describes the labels.

        Examples
        --------
        >>> print(Tree.from_python("x = 1"))
        (Module (body (Assign (targets (Name x)) (Constant 1))))
        """
        from espalier.structures.interop import python_tree

        return python_tree(source)

    def to_brackets(self, *, max_nodes: int | None = notation.MAX_NODES) -> str:
        r"""Write the tree on one line, so that ``from_brackets`` reads an equal tree back.

        A tree of more than ``max_nodes`` is refused, because a few shared subtrees can make a tree of any size. None
        means no limit. ``str``, ``repr``, ``words``, ``leaves``, ``positions`` and pickling have that of ten million.

        Examples
        --------
        >>> print(Tree("X", ["a b", "(", "", Tree("", ["c"])]).to_brackets())
        (X a\ b \( () ( (c)))
        """
        return notation.write(self, max_nodes)

    def to_state(self) -> dict[str, str]:
        """Return what a saved file holds of this tree."""
        return {"brackets": self.to_brackets(max_nodes=None)}

    @staticmethod
    def from_state(state: Any) -> Tree:
        """Make a tree of what a saved file holds."""
        return Tree.from_brackets(state.text("brackets"))

    def pretty(self, *, width: int = 80, max_nodes: int | None = notation.MAX_NODES) -> str:
        """Write the tree over several indented lines that ``from_brackets`` reads back.

        A subtree that fits into ``width`` characters is on one line. Indentation stops growing
        at half the width, so that deep trees stay readable and small. ``max_nodes`` is that of :meth:`to_brackets`.

        Examples
        --------
        >>> print(Tree.from_brackets("(S (NP (D the) (N cat)) (VP (V sat)))").pretty(width=30))
        (S
          (NP (D the) (N cat))
          (VP (V sat)))
        """
        return notation.write(self, max_nodes, width)

    @property
    def is_leaf(self) -> bool:
        """Whether the node has no children."""
        return not self.children

    @property
    def is_preterminal(self) -> bool:
        """Whether the node has exactly one child, a leaf: in language data, a tag above a word."""
        return len(self.children) == 1 and not self.children[0].children

    def __iter__(self) -> Iterator[Tree]:
        """Iterate over all nodes, each before its children, from left to right.

        A tree of more than ten million nodes is refused, as wherever nodes are visited one by one; a shared
        subtree counts as often as it occurs. :meth:`fold` visits each shared subtree once.
        """
        notation.check_size(self)
        return nodes(self)

    def leaves(self) -> list[Tree]:
        """The leaves, from left to right."""
        return [node for node in self if not node.children]

    def words(self) -> list[str]:
        """The labels of the leaves, from left to right."""
        return [node.label for node in self if not node.children]

    def positions(self) -> Iterator[tuple[int, ...]]:
        """The positions of all nodes, in the order of iteration.

        A position is the tuple of child indices on the way down from the root, ``()`` for the root
        itself; ``tree[position]`` is the node there.

        Examples
        --------
        >>> list(Tree.from_brackets("(S (NP cats) sleep)").positions())
        [(), (0,), (0, 0), (1,)]
        """
        notation.check_size(self)
        stack: list[tuple[Tree, tuple[int, ...]]] = [(self, ())]
        while stack:
            node, position = stack.pop()
            yield position
            last = len(node.children) - 1
            stack.extend((node.children[index], (*position, index)) for index in range(last, -1, -1))

    def __getitem__(self, position: int | tuple[int, ...]) -> Tree:
        """The node at a position: a child's index, or a tuple of them from the root down."""
        node = self
        steps = position if isinstance(position, tuple) else (position,)
        for depth, index in enumerate(steps):
            try:
                node = node.children[index]
            except IndexError:
                raise IndexError(
                    f"There is no node at position {position!r}: the node {node.label!r} at "
                    f"{steps[:depth]!r} has {len(node.children)} children."
                ) from None
            except TypeError:
                raise TypeError(f"A position is an int or a tuple of ints, got {position!r}.") from None
        return node

    def fold(self, combine: Callable[[Tree, list[T]], T]) -> T:
        """Compute a value bottom-up without recursion: ``combine`` takes a node and the values of its children.

        A subtree that is shared as one object is visited once, so ``combine`` should not depend on its position.

        Examples
        --------
        >>> tree = Tree.from_brackets("(S (NP cats) (VP sleep))")
        >>> tree.fold(lambda node, values: sum(values) if values else 1)
        2
        """
        done: dict[int, T] = {}
        stack = [self]
        while stack:
            node = stack[-1]
            if id(node) in done:
                stack.pop()
                continue
            missing = [child for child in node.children if id(child) not in done]
            if missing:
                stack.extend(reversed(missing))
            else:
                done[id(node)] = combine(node, [done[id(child)] for child in node.children])
                stack.pop()
        return done[id(self)]

    def to_dependencies(self, head_rules: Mapping[str, str] | None = None) -> DependencyTree:
        """Return the dependency tree of a constituency tree with a tag above each word.

        Remove traces, function tags and an outer label first, as :func:`espalier.parsing.plain` does.
        ``head_rules`` says by label which child is the head of a constituent, in the notation of
        :func:`espalier.structures.head_rules.to_dependencies`; None for the rules of Yamada and Matsumoto (2003).
        """
        from espalier.structures.head_rules import YAMADA_MATSUMOTO, to_dependencies

        return to_dependencies(self, YAMADA_MATSUMOTO if head_rules is None else head_rules)

    without_function_tags = transforms.strip_function_tags
    without_indices = transforms.strip_indices
    without_traces = transforms.strip_traces
    without_outer = transforms.drop_outer
    with_lower_case_leaves = transforms.lower_case_leaves
    with_tags_for_words = transforms.replace_words_by_tags
    collapsed = transforms.collapse_unaries
    expanded = transforms.expand_unaries
    binarized = transforms.binarize
    unbinarized = transforms.unbinarize
    escaped = transforms.escape_brackets
    unescaped = transforms.unescape_brackets

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Tree):
            return NotImplemented
        return _equal(self, other)

    def __str__(self) -> str:
        return self.to_brackets()

    def __repr__(self) -> str:
        return f"Tree.from_brackets({self.to_brackets()!r})"

    def _repr_svg_(self) -> str:
        from espalier.structures.drawing import tree_svg

        return tree_svg(self)

    def __copy__(self) -> Tree:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Tree:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return Tree.from_brackets, (self.to_brackets(),)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"A Tree cannot be changed; build a new one to give it another {name}.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"A Tree cannot be changed, so {name} cannot be deleted.")


def nodes(tree: Tree) -> Iterator[Tree]:
    """Iterate over all nodes, each before its children, without a limit: for callers that stop early."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


_set_label = Tree.__dict__["label"].__set__
_set_children = Tree.__dict__["children"].__set__
_set_size = Tree.__dict__["size"].__set__
_set_height = Tree.__dict__["height"].__set__
_set_hash = Tree.__dict__["_hash"].__set__


def _fill(tree: Tree, label: str, children: tuple[Tree, ...]) -> None:
    """Give a new node its parts; everything derived is computed here, once."""
    size, height = 1, 0
    for child in children:
        size += child.size
        if child.height >= height:
            height = child.height + 1
    _set_label(tree, label)
    _set_children(tree, children)
    _set_size(tree, size)
    _set_height(tree, height)
    _set_hash(tree, hash((label, children)))


def _as_child(child: object, label: str) -> Tree:
    if isinstance(child, Tree):
        return child
    if isinstance(child, str):
        return Tree(child)
    raise TypeError(
        f"A child of {label!r} must be a Tree or a str, got {child!r} of type "
        f"{type(child).__name__}. espalier.as_tree converts trees of other libraries."
    )


Known = dict[tuple[object, ...], Tree]  # subtrees by their label and the addresses of their children


def tree_from_text(text: str, known: Known) -> Tree:
    """Read exactly one tree; known subtrees are reused, and new ones are added to them."""
    arrays = notation.parse(text)
    n_trees = len(arrays[3])
    if n_trees == 0:
        raise notation.syntax_error("there is no tree in this text", text, len(text.rstrip(notation.BLANKS)))
    if n_trees > 1:
        message = f"one tree is expected here, and this text holds {n_trees}; read_brackets reads a file of many"
        raise notation.syntax_error(message, text, 0)
    return trees_from_arrays(arrays, known)[0]


def trees_from_arrays(arrays: notation.PostOrder, known: Known | None = None) -> list[Tree]:
    """Build the trees of parsed text; equal subtrees become one object, also those that were known before."""
    labels, label_ids, n_children, tree_end = arrays
    known = {} if known is None else known
    stack: list[Tree] = []
    for label_id, n in zip(label_ids.tolist(), n_children.tolist(), strict=True):
        label = labels[label_id]
        if n:
            children = tuple(stack[-n:])
            del stack[-n:]
            # Children are shared already, so their addresses stand for their content.
            key: tuple[object, ...] = (label, *map(id, children))
        else:
            children, key = (), (label,)
        tree = known.get(key)
        if tree is None:
            tree = Tree.__new__(Tree)
            _fill(tree, label, children)
            known[key] = tree
        stack.append(tree)
    assert len(stack) == len(tree_end)
    return stack


def _equal(a: Tree, b: Tree) -> bool:
    """Compare without recursion; a pair of shared subtrees is compared once."""
    stack, seen = [(a, b)], set()
    while stack:
        a, b = stack.pop()
        if a is b:
            continue
        if a._hash != b._hash or a.label != b.label or len(a.children) != len(b.children):
            return False
        pair = (id(a), id(b))
        if pair not in seen:
            seen.add(pair)
            stack.extend(zip(a.children, b.children, strict=True))
    return True
