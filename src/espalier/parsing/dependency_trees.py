"""What goes into a dependency parser and what comes out: checked trees, tagged sentences, and parses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from espalier.errors import InputError
from espalier.parsing.kbest import DependencyParse, KBest
from espalier.parsing.projective import restored
from espalier.parsing.requests import words_and_tags
from espalier.structures.dependency import DependencyTree, sound_tree
from espalier.structures.numbers import check_finite
from espalier.structures.sequence import TaggedSequence


def parses_of(
    arrays: dict[str, Any], sentences: Sequence[TaggedSequence], relations: Sequence[str], *, restores: bool
) -> list[KBest[DependencyParse]]:
    """The best trees of each sentence, from arrays of all; with ``restores``, relations have marks of lifting."""
    starts, scores, label_scores = (arrays[name].tolist() for name in ("sentence_start", "score", "label_score"))
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
        own = label_scores[starts[s] : starts[s + 1]]
        if restores:
            found, own = _restored(found, own)
        more = {"labels": tuple(own)}
        out.append(KBest(tuple(found), exact=False, narrowed=bool(narrowed[s]), more_scores=more))
    return out


def merged(
    parts: Sequence[KBest[DependencyParse]], behind: Sequence[float], k: int, tag_weight: float
) -> KBest[DependencyParse]:
    """The best of the trees of several taggings, given how far each tagging is behind the best one.

    A tree that several taggings have is there once, with the tagging that makes it best.
    """
    scored = [
        (DependencyParse(tree, score + tag_weight * own), (label, own))
        for part, own in zip(parts, behind, strict=True)
        for (tree, score), label in zip(part, part.more_scores["labels"], strict=True)
    ]
    scored.sort(key=lambda each: -each[0].score)
    distinct: dict[Any, Any] = {}
    for parse, more in scored:
        distinct.setdefault(parse.tree.heads, (parse, more))
    best = list(distinct.values())[:k]
    more_scores = {name: tuple(more[column] for _, more in best) for column, name in enumerate(("labels", "tags"))}
    narrowed = any(part.narrowed for part in parts)
    return KBest(tuple(parse for parse, _ in best), exact=False, narrowed=narrowed, more_scores=more_scores)


def _restored(
    parses: Sequence[DependencyParse], label_scores: Sequence[float]
) -> tuple[list[DependencyParse], list[float]]:
    """The parses with lifted arcs in their place; where that makes two equal, the first stays."""
    seen: dict[tuple[object, object], tuple[DependencyParse, float]] = {}
    for parse, score in zip(parses, label_scores, strict=True):
        tree = restored(parse.tree)
        seen.setdefault((tree.heads, tree.relations), (DependencyParse(tree, parse.score), score))
    return [parse for parse, _ in seen.values()], [score for _, score in seen.values()]


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


def taggings_of(row: int, sentence: Any) -> tuple[list[TaggedSequence], list[float] | None]:
    """The taggings of a sentence, and how far the score of each is behind the best; None if one was given alone."""
    several = isinstance(sentence, Sequence) and not isinstance(sentence, str | TaggedSequence) and len(sentence) > 0
    first = sentence[0] if several else None
    if not (isinstance(first, tuple) and len(first) == 2 and isinstance(first[0], TaggedSequence)):
        return [tagged_sequence(row, sentence)], None
    check_taggings(row, sentence)
    best = max(float(score) for _, score in sentence)
    return [tagging for tagging, _ in sentence], [float(score) - best for _, score in sentence]


def check_taggings(row: int, taggings: Any) -> None:
    """Refuse what are no taggings of one sentence with their scores."""
    if not isinstance(taggings, Sequence) or not len(taggings):
        raise InputError(f"Sentence {row} needs at least one tagging, as tagger.tag_all(words, 4) returns them.")
    for own in taggings:
        if not (isinstance(own, tuple) and len(own) == 2 and isinstance(own[0], TaggedSequence)):
            raise TypeError(
                f"The taggings of sentence {row} must be pairs of a TaggedSequence and its score, got {own!r:.80}."
            )
        check_finite("The score of a tagging", own[1])
        if tuple(own[0].words) != tuple(taggings[0][0].words):
            raise InputError(f"The taggings of sentence {row} have different words.")
