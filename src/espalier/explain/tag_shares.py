"""Which tags of a tagged sequence push its value: every run of tags counts for its last one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from espalier.explain.explanation import TreeShares
from espalier.fragments.terms import Floats, parts_of
from espalier.gram.dual import DualForm
from espalier.kernels.inputs import Inputs
from espalier.kernels.schedule import Schedule
from espalier.kernels.tagging import Tagging
from espalier.structures.group import Candidate
from espalier.structures.sequence import TaggedSequence
from espalier.structures.tree import Tree


def tag_shares(
    dual: DualForm, examples: Inputs, candidates: Sequence[Candidate], schedule: Schedule
) -> tuple[TreeShares, ...]:
    """The shares of all tags of two sequences in the difference of their values; nothing for other kernels.

    What ends at a word is what a sequence has up to this word and not up to the word before.
    """
    terms, others = parts_of(dual.kernel, Tagging)
    if others or not terms:
        return ()
    options = {"n_threads": schedule.n_threads, "memory": schedule.memory}
    out = []
    for row, sign in enumerate((1.0, -1.0)):
        own = candidates[row]
        if not isinstance(own, TaggedSequence):
            return ()
        by_tag: Floats = np.zeros(len(own.words))
        starts = [TaggedSequence(own.words[:k], own.tags[:k]) for k in range(1, len(own.words) + 1)]
        inputs = Inputs.of(starts, like=dual.inputs, translates=True)
        for term in terms:
            beta = term.scale * dual.coefficients[0] / term.norm(dual.inputs, **options)
            values = beta @ term.kernel(dual.inputs, inputs, **options)
            by_tag += sign * np.diff(values, prepend=0.0) / term.norm(examples, **options)[row]
        shares = np.concatenate([[0.0], np.stack([by_tag, np.zeros_like(by_tag)], axis=1).ravel()])
        out.append(TreeShares(None, tags_as_tree(own), float(by_tag.sum()), shares, "end"))
    return tuple(out)


def tags_as_tree(sequence: TaggedSequence) -> Tree:
    """Tags above their words, below a node without a label.

    Examples
    --------
    >>> print(tags_as_tree(TaggedSequence(["the", "cat"], ["D", "N"])))
    ( (D the) (N cat))
    """
    return Tree("", [Tree(tag, [word]) for word, tag in zip(sequence.words, sequence.tags, strict=True)])
