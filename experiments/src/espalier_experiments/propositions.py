"""Semantic roles as trees: for a predicate and a constituent, the minimal tree that covers both.

The trees are those that Moschitti, Pighin and Basili (2008) call AST with marks: all and only the words of the
predicate and of the candidate, what joins them, and a mark on both nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from espalier.corpus import Forest
from espalier.errors import InputError
from espalier.structures import Table, Tree, escape_label, read_brackets, read_text
from espalier_experiments.data import Part, data_folder

PREDICATE, CANDIDATE = "-P", "-B"  # marks behind a label

Span = tuple[int, int]


@dataclass(frozen=True)
class Proposition:
    """The word of a predicate, and the roles of the spans (first word, word after the last) that are its arguments."""

    predicate: int
    roles: Mapping[Span, str]


@cache
def role_candidates(folder: str | Path | None = None, part: Part = "train", n_sentences: int | None = None) -> Table:
    """All pairs of a predicate and a constituent of the English Web Treebank, in an order that is no file's.

    Candidates are all nodes of the sentence but the predicate's own and those above it. An argument is the highest
    node with exactly its words. ``n_sentences`` takes only the first sentences in that order.

    Returns
    -------
    table
        Columns ``tree`` (a Forest), ``role`` (such as ``ARG0``, or empty where the node is no argument) and
        ``sentence`` (a number).
    """
    place = data_folder(folder) / "ewt_srl"
    trees = read_brackets(place / f"{part}.mrg.gz")
    sentences = read_propositions(place / f"{part}.props.conll.gz")
    if len(trees) != len(sentences):
        raise InputError(f"{place}: {part} has {len(trees):,} trees and {len(sentences):,} sentences with roles.")
    texts: list[str] = []
    roles: list[str] = []
    numbers: list[int] = []
    order = sorted(range(len(trees)), key=lambda k: (trees[k].to_brackets(), str(sentences[k][1])))
    for number, k in enumerate(order[:n_sentences]):
        n_words, propositions = sentences[k]
        nodes = Nodes(trees[k])
        if nodes.n_words != n_words:
            raise InputError(f"{place}: sentence {k + 1} of {part} has {nodes.n_words} words in one file, {n_words}.")
        for proposition in propositions:
            for text, role in nodes.candidates(proposition):
                texts.append(text)
                roles.append(role)
                numbers.append(number)
    return Table(tree=Forest.from_brackets(texts), role=roles, sentence=np.array(numbers))


def read_propositions(path: str | Path) -> list[tuple[int, list[Proposition]]]:
    """Read columns as those of CoNLL 2005: for each sentence its number of words and its propositions."""
    blocks = [block for block in read_text(path).split("\n\n") if block.strip()]
    return [_sentence(block, f"{path}, sentence {number}") for number, block in enumerate(blocks, start=1)]


def _sentence(block: str, place: str) -> tuple[int, list[Proposition]]:
    rows = [line.split("\t") for line in block.split("\n") if line and not line.startswith("# ")]
    predicates = [k for k, row in enumerate(rows) if row[4] != "-"]
    widths = {len(row) for row in rows}
    if widths != {6 + len(predicates)}:
        raise InputError(f"{place}: expected {6 + len(predicates)} columns in every line, found {sorted(widths)}.")
    spans = [_spans([row[6 + k] for row in rows], place) for k in range(len(predicates))]
    return len(rows), [Proposition(word, roles) for word, roles in zip(predicates, spans, strict=True)]


def _spans(column: list[str], place: str) -> dict[Span, str]:
    found: dict[Span, str] = {}
    role, start = "", 0
    for k, cell in enumerate(column):
        if cell.startswith("("):
            role, start = cell[1 : cell.index("*")], k
        if cell.endswith(")"):
            if not role:
                raise InputError(f"{place}: a span ends at word {k} that did not begin.")
            if role not in ("V", "C-V"):
                found[start, k + 1] = role
            role = ""
    return found


class Nodes:
    """The nodes of a tree from the root down, children in order: labels, parents, spans and texts."""

    def __init__(self, tree: Tree) -> None:
        self.labels: list[str] = []
        self.parents: list[int] = []
        self.spans: list[Span] = []
        self._words: list[int] = []  # the node above each word
        self._text: list[str] = []  # what stands inside each node's brackets behind the label
        self._add(tree, -1)

    @property
    def n_words(self) -> int:
        """How many words the tree has."""
        return len(self._words)

    @cached_property
    def _highest(self) -> dict[Span, int]:
        # Nodes come from the root down, so the first of a span is the highest.
        return {span: node for node, span in reversed(list(enumerate(self.spans)))}

    def candidates(self, proposition: Proposition) -> Iterator[tuple[str, str]]:
        """Yield the minimal tree of the predicate and each candidate, as brackets, and its role."""
        predicate = self._words[proposition.predicate]
        above: dict[int, str] = {}  # for each node above the predicate, the branch that leads down to it
        branch, node = self._marked(predicate, PREDICATE), self.parents[predicate]
        while node >= 0:
            above[node] = branch
            branch, node = f"({self.labels[node]} {branch})", self.parents[node]
        arguments = {}
        for span, role in proposition.roles.items():
            node = self._highest.get(span, -1)
            while node in above:  # a unary chain may lead down from above the predicate
                node = next((k for k in range(node + 1, len(self.spans)) if self.spans[k] == span), -1)
            arguments[node] = role
        for node, (start, _) in enumerate(self.spans):
            if node == predicate or node in above:
                continue
            branch, top = self._marked(node, CANDIDATE), self.parents[node]
            while top not in above:
                branch, top = f"({self.labels[top]} {branch})", self.parents[top]
            both = (branch, above[top]) if start < proposition.predicate else (above[top], branch)
            yield f"({self.labels[top]} {both[0]} {both[1]})", arguments.get(node, "")

    def _marked(self, node: int, mark: str) -> str:
        return f"({self.labels[node]}{mark} {self._text[node]})"

    def _add(self, tree: Tree, parent: int) -> str:
        node = len(self.labels)
        self.labels.append(escape_label(tree.label))
        self.parents.append(parent)
        self.spans.append((0, 0))
        self._text.append("")
        start = len(self._words)
        parts = []
        for child in tree.children:
            if child.is_leaf:
                self._words.append(node)
                parts.append(escape_label(child.label))
            else:
                parts.append(self._add(child, node))
        self.spans[node] = (start, len(self._words))
        self._text[node] = " ".join(parts)
        return f"({self.labels[node]} {self._text[node]})"
