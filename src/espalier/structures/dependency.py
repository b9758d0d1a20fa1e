"""``DependencyTree``, and the three ways to write one as a ``Tree``.

Heads are numbered as in CoNLL files: tokens from 1, and 0 for the root. The conversions follow
Croce, Moschitti and Basili (2011) in the spelling of KeLP: ``SYNT##`` relation, ``POS##`` tag,
``LEX##`` lemma with ``::`` and the first letter of its tag.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from espalier.errors import InputError
from espalier.structures.sequence import TaggedSequence, as_texts, check_equal_lengths
from espalier.structures.tree import Tree

_SEVERAL_ROOTS = "TOP"


@dataclass(frozen=True, slots=True)
class DependencyTree:
    """Words, each with a tag, the number of its head and the relation to it.

    Parameters
    ----------
    words, tags, relations
        One text per token; at least one token.
    heads
        For each token the number of its head, counted from 1; 0 for a root. Several roots are
        allowed, cycles are not.
    lemmas
        One text per token, if they are known.
    features
        For each token, the features of its arc: any number of texts.

    Examples
    --------
    >>> tree = DependencyTree(["Cats", "sleep"], ["NNS", "VBP"], [2, 0], ["nsubj", "root"],
    ...                       lemmas=["cat", "sleep"])
    >>> print(tree.grammatical_relation_tree())
    (SYNT##root (SYNT##nsubj (POS##NNS LEX##cat::n)) (POS##VBP LEX##sleep::v))
    >>> print(tree.lexical_tree(prefixes=False))
    (sleep (cat NNS nsubj) VBP root)
    """

    words: Sequence[str]
    tags: Sequence[str]
    heads: Sequence[int]
    relations: Sequence[str]
    lemmas: Sequence[str] | None = None
    features: Sequence[Sequence[str]] | None = None

    def __post_init__(self) -> None:
        columns: dict[str, Sequence[object]] = {}
        for name in ("words", "tags", "relations", "lemmas"):
            if getattr(self, name) is not None:
                columns[name] = as_texts(getattr(self, name), name)
        columns["heads"] = _as_heads(self.heads)
        if self.features is not None:
            columns["features"] = tuple(
                as_texts(values, f"features[{index}]") for index, values in enumerate(self.features)
            )
        check_equal_lengths(columns)
        for name, values in columns.items():
            object.__setattr__(self, name, values)
        _check_heads(self.heads, self.words)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def roots(self) -> list[int]:
        """The numbers of the tokens without a head, counted from 1."""
        return [token for token, head in enumerate(self.heads, 1) if head == 0]

    def tagged(self) -> TaggedSequence:
        """The words with their tags, without the arcs."""
        return TaggedSequence(self.words, self.tags)

    def grammatical_relation_tree(self, *, prefixes: bool = True) -> Tree:
        """Write relations as inner nodes (GRCT); the tag above its word is one of their children.

        With ``prefixes`` labels name their kind (``SYNT##nsubj``, ``POS##NNS``, ``LEX##cat::n``); otherwise they are
        plain (``nsubj``, ``NNS``, ``cat``). The word is written in lower case, as its lemma if lemmas are known.
        Several roots are put below a node ``TOP``.
        """
        return self._build(_relation_node, prefixes)

    def lexical_tree(self, *, prefixes: bool = True) -> Tree:
        """Write words as inner nodes (LCT): dependents first, then the tag and the relation.

        The place of the head among its dependents is not recorded. The rest is as in ``grammatical_relation_tree``.
        """
        return self._build(
            lambda relation, tag, word, before, after: Tree(word, [*before, *after, tag, relation]), prefixes
        )

    def location_tree(self, *, prefixes: bool = True) -> Tree:
        """Write only words (LOCT), each above its dependents; the rest is as in ``grammatical_relation_tree``."""
        return self._build(lambda relation, tag, word, before, after: Tree(word, [*before, *after]), prefixes)

    @staticmethod
    def from_grammatical_relation_tree(tree: Tree) -> DependencyTree:
        """Read a tree back that ``grammatical_relation_tree`` or KeLP wrote with prefixes.

        The words are the lemmas, because the tree contains nothing else.

        Examples
        --------
        >>> tree = Tree.from_brackets("(SYNT##root (SYNT##nsubj (POS##NNS LEX##cat::n)) "
        ...                           "(POS##VBP LEX##sleep::v))")
        >>> DependencyTree.from_grammatical_relation_tree(tree).heads
        (2, 0)
        """
        # Tags are numbered in reading order; each is the token of the relation node above it.
        roots = tree.children if tree.label == _SEVERAL_ROOTS else (tree,)
        tokens: list[tuple[str, str, str, int]] = []  # lemma, tag, relation, its relation node
        parents: list[int] = []  # of relation nodes, in the order in which they are met; -1 at a root
        token_of: dict[int, int] = {-1: 0}
        stack = [(root, -1, "") for root in reversed(roots)]
        while stack:
            node, above, relation = stack.pop()
            if node.label.startswith("SYNT##"):
                relation = node.label.removeprefix("SYNT##")
                stack.extend((child, len(parents), relation) for child in reversed(node.children))
                parents.append(above)
            elif node.label.startswith("POS##") and node.is_preterminal and above not in token_of:
                lemma = node.children[0].label.removeprefix("LEX##").rpartition("::")[0]
                tokens.append((lemma, node.label.removeprefix("POS##"), relation, above))
                token_of[above] = len(tokens)
            else:
                raise _not_a_relation_tree(f"the node {node.label!r} is out of place")
        if len(token_of) <= len(parents):
            raise _not_a_relation_tree("a SYNT## node has no POS## node among its children")
        lemmas, tags, relations, nodes = zip(*tokens, strict=True) if tokens else ((), (), (), ())
        heads = [token_of[parents[number]] for number in nodes]
        return DependencyTree(lemmas, tags, heads, relations, lemmas=lemmas)

    def _repr_svg_(self) -> str:
        from espalier.structures.arc_drawing import dependency_svg

        return dependency_svg(self)

    def relation_tree(self) -> Tree:
        """Write relations as inner nodes above tags and words, like ``grammatical_relation_tree``, words as they are.

        Examples
        --------
        >>> print(DependencyTree(["Cats", "sleep"], ["NNS", "VBP"], [2, 0], ["nsubj", "root"]).relation_tree())
        (root (nsubj (NNS Cats)) (VBP sleep))
        """
        return self._built(_relation_node, list(zip(self.relations, self.tags, self.words, strict=True)))

    def _build(self, node: _NodeMaker, prefixes: bool) -> Tree:
        return self._built(node, self._labels(prefixes))

    def _built(self, node: _NodeMaker, labels: Sequence[tuple[str, str, str]]) -> Tree:
        """Make the trees of dependents before those of their heads, each of its labels and of those around it."""
        below = dependents(self.heads)
        made: dict[int, Tree] = {}
        for token in reversed(_reachable(below)):
            before = [made.pop(other) for other in below[token] if other < token]
            after = [made.pop(other) for other in below[token] if other > token]
            made[token] = node(*labels[token - 1], before, after)
        trees = [made[root] for root in below[0]]
        return trees[0] if len(trees) == 1 else Tree(_SEVERAL_ROOTS, trees)

    def _labels(self, prefixes: bool) -> list[tuple[str, str, str]]:
        """How the relation, the tag and the word of each token are spelled in a tree."""
        words = (word.lower() for word in self.lemmas or self.words)
        parts = zip(self.relations, self.tags, words, strict=True)
        if not prefixes:
            return list(parts)
        return [
            (f"SYNT##{relation}", f"POS##{tag}", f"LEX##{word}::{tag[:1].lower()}") for relation, tag, word in parts
        ]


def sound_tree(
    words: tuple[str, ...], tags: tuple[str, ...], heads: tuple[int, ...], relations: tuple[str, ...]
) -> DependencyTree:
    """Make a tree of parts that are known to form one, such as those of a parser, without checking them again."""
    tree = object.__new__(DependencyTree)
    parts = {"words": words, "tags": tags, "heads": heads, "relations": relations, "lemmas": None, "features": None}
    for name, value in parts.items():
        object.__setattr__(tree, name, value)
    return tree


_NodeMaker = Callable[[str, str, str, list[Tree], list[Tree]], Tree]


def _relation_node(relation: str, tag: str, word: str, before: list[Tree], after: list[Tree]) -> Tree:
    return Tree(relation, [*before, Tree(tag, [word]), *after])


def _as_heads(heads: Sequence[int]) -> tuple[int, ...]:
    numbers = []
    for index, head in enumerate(heads):
        try:
            numbers.append(operator.index(head))
        except TypeError:
            raise TypeError(f"heads[{index}] must be an int, got {head!r}.") from None
    return tuple(numbers)


def _check_heads(heads: Sequence[int], words: Sequence[str]) -> None:
    """Refuse an empty sentence, a head that is not a token, and tokens that reach no root."""
    if not words:
        raise InputError("A DependencyTree needs at least one token, got none.")
    for token, head in enumerate(heads, 1):
        if not 0 <= head <= len(heads):
            raise InputError(
                f"Token {token} ({words[token - 1]!r}) has head {head}, but heads are numbered "
                f"from 1 to {len(heads)}, and 0 for a root."
            )
    reached = set(_reachable(dependents(heads)))
    if len(reached) < len(heads):
        token = next(token for token in range(1, len(heads) + 1) if token not in reached)
        path: dict[int, None] = {}  # ordered
        while token not in path:
            path[token] = None
            token = heads[token - 1]
        walk = list(path)
        cycle = [*walk[walk.index(token) :], token]
        chain = " -> ".join(f"{token} ({words[token - 1]!r})" for token in cycle)
        raise InputError(f"The heads form a circle: {chain}. Every token must reach a root, whose head is 0.")


def dependents(heads: Sequence[int]) -> list[list[int]]:
    """The dependents of each token by its number; those of 0 are the roots."""
    below: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for token, head in enumerate(heads, 1):
        below[head].append(token)
    return below


def _reachable(below: list[list[int]]) -> list[int]:
    """The tokens below a root, each after its head."""
    order = list(below[0])
    for token in order:
        order.extend(below[token])
    return order


def _not_a_relation_tree(reason: str) -> InputError:
    return InputError(
        f"This is not a grammatical relation tree: {reason}. Every SYNT## node must hold one POS## "
        "node, above one LEX## leaf, and otherwise SYNT## nodes."
    )
