"""The trigram tagger from its definitions: all taggings of a sentence, deleted interpolation, endings of words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from statistics import stdev

START, END = "<start>", "<end>"
Sentence = Sequence[tuple[str, str]]


def all_taggings(
    words: Sequence[Mapping[str, float]], after: Callable[[str, str, str], float]
) -> list[tuple[tuple[str, ...], float]]:
    """Every sequence of tags with its weight, the best first.

    ``words`` gives, for each position, the tags of its word with log probabilities; ``after`` the log probability of
    the last of three tags.
    """
    listed = []
    for tags in product(*words):
        padded = [START, START, *tags, END]
        weight = sum(own[tag] for own, tag in zip(words, tags, strict=True))
        weight += sum(after(*padded[k : k + 3]) for k in range(len(padded) - 2))
        listed.append((tags, weight))
    return sorted(listed, key=lambda found: -found[1])


class Interpolated:
    """Trigrams smoothed as in figure 1 of Brants (2000), with one vote for each of the three to begin with."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.three: Counter[tuple[str, str, str]] = Counter()
        self.contexts: Counter[tuple[str, ...]] = Counter()
        self.two: Counter[tuple[str, str]] = Counter()
        self.one: Counter[str] = Counter()
        for sentence in sentences:
            tags = [START, START, *(tag for _, tag in sentence), END]
            for a, b, c in zip(tags, tags[1:], tags[2:], strict=False):
                self.three[a, b, c] += 1
                self.two[b, c] += 1
                self.one[c] += 1
                self.contexts.update([(a, b), (b,), ()])
        votes = [1.0, 1.0, 1.0]
        for (a, b, c), count in self.three.items():
            shares = [
                deleted(self.one[c], self.contexts[()]),
                deleted(self.two[b, c], self.contexts[b,]),
                deleted(count, self.contexts[a, b]),
            ]
            votes[shares.index(max(shares))] += count
        self.weights = [vote / sum(votes) for vote in votes]

    def probability(self, a: str, b: str, c: str) -> float:
        of_two = self.two[b, c] / self.contexts[b,]
        of_three = self.three[a, b, c] / self.contexts[a, b] if self.contexts[a, b] else of_two
        shares = [self.one[c] / self.contexts[()], of_two, of_three]
        return sum(weight * share for weight, share in zip(self.weights, shares, strict=True))


def deleted(part: int, whole: int) -> float:
    """A share as if what is counted had been seen once less."""
    return (part - 1) / (whole - 1) if whole > 1 else 0.0


def tag_shares(sentences: Sequence[Sentence], word: str, longest: int, rare: int) -> dict[str, float]:
    """How probable each tag is for an unknown word, by its ever longer endings."""
    tokens = [token for sentence in sentences for token in sentence]
    tags = Counter(tag for _, tag in tokens)
    shares = {tag: count / len(tokens) for tag, count in tags.items()}
    theta = stdev(shares.values())
    times = Counter(own for own, _ in tokens)
    like = [(own, tag) for own, tag in tokens if times[own] <= rare and own[0].isupper() == word[0].isupper()]
    for size in range(min(longest, len(word)) + 1):
        found = Counter(tag for own, tag in like if len(own) >= size and own.endswith(word[len(word) - size :]))
        if not found:
            break
        total = sum(found.values())
        shares = {tag: (found[tag] / total + theta * shares[tag]) / (1 + theta) for tag in tags}
    return shares


def word_weights(
    sentences: Sequence[Sentence], word: str, *, longest: int, rare: int, smoothing: float
) -> dict[str, float]:
    """The log probability of a word below each tag that it may have."""
    tags = Counter(tag for sentence in sentences for _, tag in sentence)
    seen = Counter(tag for sentence in sentences for own, tag in sentence if own == word)
    times = max(sum(seen.values()), 1)
    if not seen:
        smoothing = 1.0
        seen = Counter(tag for sentence in sentences for own, tag in sentence if own == word.lower())
    by_ending = tag_shares(sentences, word, longest, rare)
    total = sum(seen.values()) + smoothing
    shares = {tag: (seen[tag] + smoothing * by_ending[tag]) / total for tag in tags}
    return {tag: math.log(share * times / tags[tag]) for tag, share in shares.items() if share > 0}
