"""``NgramDictionary``: many words, n-grams and subsequences in little space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from espalier.corpus.sequences import Unit
from espalier.corpus.soundness import Require
from espalier.spaces.codes import Codes, coded
from espalier.structures.dependency import DependencyTree
from espalier.structures.fragment import Position
from espalier.structures.sequence import TaggedSequence
from espalier.structures.tree import Tree


@dataclass(frozen=True)
class Ngram:
    """A word, or several in their order; characters or tags.

    Examples
    --------
    >>> str(Ngram(("the", "cat"))), str(Ngram(("c", "a", "t"), "characters"))
    ('the cat', 'cat')
    """

    symbols: tuple[str, ...]
    of: Unit = "words"

    kind: ClassVar = "n-gram"

    def nodes(self, tree: Tree, root: Position) -> list[Position]:
        """The nodes of a drawn sequence that the n-gram covers if it begins at ``root``; of several ways, the first."""
        places = symbol_nodes(tree, self.of)
        found = [root]
        for place in places[places.index(root) + 1 :]:
            if len(found) < len(self.symbols) and tree[place].label == self.symbols[len(found)]:
                found.append(place)
        return found

    def roots(self, tree: Tree, *, gaps: bool) -> tuple[Position, ...]:
        """The nodes of a drawn sequence at which the n-gram begins, with gaps or without."""
        places = symbol_nodes(tree, self.of)
        labels = [tree[place].label for place in places]
        n, out = len(self.symbols), []
        for k, place in enumerate(places):
            rest = iter(labels[k + 1 :] if gaps else labels[k + 1 : k + n])
            if labels[k] == self.symbols[0] and all(symbol in rest for symbol in self.symbols[1:]):
                out.append(place)
        return tuple(out)

    def __str__(self) -> str:
        return ("" if self.of == "characters" else " ").join(self.symbols)


def drawn_sequence(item: object, symbols: Sequence[str], of: Unit) -> Tree:
    """A sequence as a tree to draw: as it is if it is a tree, tags above words, or symbols side by side."""
    if of != "characters":
        if isinstance(item, TaggedSequence | DependencyTree):
            return Tree("", [Tree(tag, [word]) for word, tag in zip(item.words, item.tags, strict=True)])
        if isinstance(item, Tree):
            return item
    return Tree("", list(symbols))


def symbol_nodes(tree: Tree, of: Unit) -> list[Position]:
    """The nodes of the symbols in the drawing of a sequence."""
    is_flat = tree.label == "" and not any(child.children for child in tree.children)
    if of == "tags" and not is_flat:
        return [place for place, node in zip(tree.positions(), tree, strict=True) if node.is_preterminal]
    return [place for place, node in zip(tree.positions(), tree, strict=True) if node.is_leaf and (place or tree.label)]


class NgramDictionary(Codes[Ngram]):
    """Words, n-grams and subsequences, numbered.

    Examples
    --------
    >>> dictionary = NgramDictionary.from_ngrams([["the"], ["the", "cat"]])
    >>> dictionary.names(), dictionary[1].symbols
    (['the', 'the cat'], ('the', 'cat'))
    """

    of: ClassVar[Unit] = "words"
    kind = "n-gram"

    @classmethod
    def from_ngrams(cls, ngrams: Iterable[Sequence[str]]) -> NgramDictionary:
        """Number n-grams, each a list of symbols; one that is given twice is numbered twice."""
        labels: dict[str, int] = {}
        codes = coded(ngrams, lambda ngram: [labels.setdefault(symbol, len(labels)) for symbol in ngram])
        return cls._of(list(labels), *codes)

    def _feature(self, row: int) -> Ngram:
        code = self.code[self.start[row] : self.start[row + 1]].tolist()
        return Ngram(tuple(self.labels[k] for k in code), self.of)

    def _check(self, require: Require) -> None:
        listed = ((self.code >= 0) & (self.code < len(self.labels))).all()
        require(listed, "an n-gram names a symbol that is not listed")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self):,} n-grams over {len(self.labels):,} symbols>"


class CharacterDictionary(NgramDictionary):
    """Runs and subsequences of characters, numbered."""

    of = "characters"


class TagDictionary(NgramDictionary):
    """Runs and subsequences of tags, numbered."""

    of = "tags"


DICTIONARIES: dict[Unit, type[NgramDictionary]] = {
    own.of: own for own in (NgramDictionary, CharacterDictionary, TagDictionary)
}
