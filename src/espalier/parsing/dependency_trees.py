"""What goes into a dependency parser and what comes out: checked trees, tagged sentences, and parses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from espalier.errors import InputError
from espalier.parsing.kbest import DependencyParse, KBest
from espalier.parsing.projective import restored
from espalier.parsing.requests import words_and_tags
from espalier.structures.dependency import DependencyTree, sound_tree
from espalier.structures.sequence import TaggedSequence


def parses_of(
    arrays: dict[str, Any], sentences: Sequence[TaggedSequence], relations: Sequence[str], *, restores: bool
) -> list[KBest[DependencyParse]]:
    """The best trees of each sentence, from arrays of all; with ``restores``, relations have marks of lifting."""
    starts, scores = arrays["sentence_start"].tolist(), arrays["score"].tolist()
    heads, labels = arrays["head"].tolist(), arrays["label"].tolist()
    narrowed = arrays["narrowed"].tolist()
    out, at = [], 0
    for s, sentence in enumerate(sentences):
        words, tags = tuple(sentence.words), tuple(sentence.tags)
        found = []
        for rank in range(starts[s], starts[s + 1]):
            to = at + len(words)
            named = tuple([relations[n] for n in labels[at:to]])
            found.append(DependencyParse(sound_tree(words, tags, tuple(heads[at:to]), named), scores[rank]))
            at = to
        if restores:
            found = _restored(found)
        out.append(KBest(tuple(found), exact=False, narrowed=bool(narrowed[s])))
    return out


def _restored(parses: list[DependencyParse]) -> list[DependencyParse]:
    """The parses with lifted arcs in their place; where that makes two equal, the first stays."""
    trees = [restored(parse.tree) for parse in parses]
    seen: dict[tuple[object, object], DependencyParse] = {}
    for tree, parse in zip(trees, parses, strict=True):
        seen.setdefault((tree.heads, tree.relations), DependencyParse(tree, parse.score))
    return list(seen.values())


def checked_trees(trees: Iterable[DependencyTree], least: int = 1) -> list[DependencyTree]:
    if isinstance(trees, DependencyTree):
        raise TypeError("trees must be several trees, got a single one. Write [tree].")
    listed = list(trees)
    for row, tree in enumerate(listed):
        if not isinstance(tree, DependencyTree):
            raise TypeError(f"Tree {row} must be a DependencyTree, got {tree!r:.80}.")
    if len(listed) < least:
        raise InputError("A dependency parser needs at least one tree.")
    return listed


def tagged_sequence(row: int, sentence: Any) -> TaggedSequence:
    """The words and tags of a sentence."""
    if isinstance(sentence, TaggedSequence):
        return sentence
    if isinstance(sentence, DependencyTree):
        return sentence.tagged()
    pairs = words_and_tags(row, sentence)
    tags = [tag for _, tag in pairs if tag is not None]
    if len(tags) < len(pairs):
        raise InputError(
            f"Sentence {row} has words without tags, and a dependency parser needs tags. Give pairs of a word and its "
            "tag, or tag the words first: tagger.tag(words)[0].sequence."
        )
    return TaggedSequence([word for word, _ in pairs], tags)
