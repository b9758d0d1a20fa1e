"""The shares of words of tagged sequences and dependency trees, for kernels that have no fragments to list.

Every run of tags counts for its last one, every subtree of arcs for its head.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.blas import blas_threads
from espalier.explanations.explanation import TreeShares
from espalier.gram.forms import DualForm
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Reads
from espalier.kernels.inputs import Inputs
from espalier.spaces.space import Floats
from espalier.spaces.terms import parts_of
from espalier.structures.dependency import DependencyTree, dependents
from espalier.structures.group import Candidate, words_of
from espalier.structures.interop import as_tree
from espalier.structures.sequence import TaggedSequence
from espalier.structures.tree import Tree


class _Way(NamedTuple):
    """How the value of a candidate is shared by its words.

    There is one piece of the candidate for each word. The share of a word is the value of its piece less those of the
    pieces that this one contains; ``pieces`` also returns, for each piece, the one that contains it, or -1.
    """

    split: str
    reads: Reads  # the kernels that are shared in this way
    pieces: Callable[[Any], tuple[list[Candidate], list[int]]]


@blas_threads()
def word_shares(
    dual: DualForm, examples: Inputs, candidates: Sequence[Candidate], schedule: Schedule
) -> tuple[TreeShares, ...]:
    """The shares of all words of two candidates in the difference of their values; nothing for other kernels."""
    way = _WAYS.get(type(candidates[0]))
    if way is None:
        return ()
    # The subtrees below ROOT belong to no word, so a kernel that counts them is not shared.
    terms, others = parts_of(
        dual.kernel, lambda kernel: kernel.reads() == way.reads and not getattr(kernel, "root", False)
    )
    if others or not terms:
        return ()
    out = []
    for row, (own, sign) in enumerate(zip(candidates, (1.0, -1.0), strict=True)):
        by_word: Floats = np.zeros(len(words_of(own)))
        pieces, containing = way.pieces(own)
        inputs = Inputs.of(pieces, like=dual.inputs, translates=True)
        for term in terms:
            beta = term.scale * dual.coefficients[0] / term.norm(dual.inputs, **schedule.options)
            values = beta @ term.kernel(dual.inputs, inputs, **schedule.options)
            shares: Floats = values.copy()
            for piece, whole in enumerate(containing):
                if whole >= 0:
                    shares[whole] -= values[piece]
            by_word += sign * shares / term.norm(examples, **schedule.options)[row]
        tree = drawn(own)
        by_node = np.zeros(len(list(tree)))
        by_node[word_nodes(own)] = by_word
        out.append(TreeShares(None, tree, float(by_word.sum()), by_node, way.split))
    return tuple(out)


def drawn(candidate: Candidate) -> Tree:
    """A candidate as the tree that is drawn: tags above their words, relations above tags.

    Examples
    --------
    >>> print(drawn(TaggedSequence(["the", "cat"], ["D", "N"])))
    ( (D the) (N cat))
    """
    if isinstance(candidate, TaggedSequence):
        return Tree("", [Tree(tag, [word]) for word, tag in zip(candidate.words, candidate.tags, strict=True)])
    if isinstance(candidate, DependencyTree):
        return candidate.relation_tree()
    return as_tree(candidate)


def word_nodes(candidate: Candidate) -> NDArray[np.int64]:
    """The node of each word's tag or relation in the drawing; nodes are numbered before their children."""
    if isinstance(candidate, TaggedSequence):
        return 1 + 2 * np.arange(len(candidate.words))
    assert isinstance(candidate, DependencyTree)
    n = len(candidate)
    numbered = replace(candidate, words=["w"] * n, tags=["t"] * n, relations=[str(k) for k in range(n)])
    place = {node.label: k for k, node in enumerate(numbered.relation_tree())}
    return np.array([place[str(k)] for k in range(n)], np.int64)


def together(trees: Sequence[TreeShares], candidates: Sequence[Candidate]) -> Floats:
    """What each word adds to the lead: both candidates have the same words, and equal shares of a word cancel."""
    shares = [own.shares[word_nodes(one)] for own, one in zip(trees, candidates, strict=True)]
    return np.asarray(shares[0] + shares[1])


def _beginnings(sequence: TaggedSequence) -> tuple[list[Candidate], list[int]]:
    """For each word, the sequence up to this word."""
    n = len(sequence.words)
    pieces: list[Candidate] = [TaggedSequence(sequence.words[:k], sequence.tags[:k]) for k in range(1, n + 1)]
    return pieces, [*range(1, n), -1]


def _below(tree: DependencyTree) -> tuple[list[Candidate], list[int]]:
    """For each word, the tree with only the arcs below it; all other words are roots, which do not count."""
    children = dependents(tree.heads)
    out: list[Candidate] = []
    for word in range(1, len(tree) + 1):
        heads, waiting = [0] * len(tree), [word]
        while waiting:
            head = waiting.pop()
            for token in children[head]:
                heads[token - 1] = head
                waiting.append(token)
        out.append(replace(tree, heads=heads))
    return out, [head - 1 for head in tree.heads]


_WAYS: dict[type, _Way] = {
    TaggedSequence: _Way("end", "tagged words", _beginnings),
    DependencyTree: _Way("head", "arcs", _below),
}
