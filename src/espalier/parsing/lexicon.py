"""Words and their tags: how probable a word is below a tag, known or not."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_SUFFIXES = ("ing", "ion", "est", "ity", "ed", "er", "ly", "al", "s", "y")


def word_class(word: str, *, first: bool = False) -> str:
    """The class of a word that was seldom or never seen: its case, its signs and its ending.

    Parameters
    ----------
    word
        The word.
    first
        Whether it begins a sentence, where a capital letter says less.

    Examples
    --------
    >>> word_class("Espaliers"), word_class("re-trained"), word_class("1,200"), word_class("Growing", first=True)
    ('UNK-Capital-s', 'UNK-hyphen-ed', 'UNK-number', 'UNK-First-ing')
    """
    if re.fullmatch(r"[\d.,:/%$+-]*\d[\d.,:/%$+-]*", word):
        return "UNK-number"
    signs = ["UNK"]
    letters = [character for character in word if character.isalpha()]
    if letters and all(character.isupper() for character in letters) and len(letters) > 1:
        signs.append("CAPITALS")
    elif word[:1].isupper():
        signs.append("First" if first else "Capital")
    if not letters:
        signs.append("signs")
    if any(character.isdigit() for character in word):
        signs.append("digit")
    if "-" in word[1:-1]:
        signs.append("hyphen")
    ending = word.lower()
    if len(word) > 3:
        signs += [suffix for suffix in _SUFFIXES if ending.endswith(suffix)][:1]
    return "-".join(signs)


@dataclass(frozen=True)
class Lexicon:
    """Counts of words below tags, and of the classes of rare words.

    Parameters
    ----------
    tag_counts
        How often each tag was seen.
    word_counts
        By word, how often it was seen below each tag.
    class_counts
        By class, how often rare words of it were seen below each tag.
    smoothing
        How many observations the class of a word is worth beside those of the word itself.
    """

    tag_counts: Mapping[str, int]
    word_counts: Mapping[str, Mapping[str, int]] = field(repr=False)
    class_counts: Mapping[str, Mapping[str, int]] = field(repr=False)
    smoothing: float = 1.0

    @staticmethod
    def from_sentences(
        sentences: Iterable[Iterable[tuple[str, str]]], *, rare: int = 2, smoothing: float = 1.0
    ) -> Lexicon:
        """Count words and tags; words seen at most ``rare`` times also stand for their class."""
        if smoothing < 0 or rare < 1:
            raise ValueError(f"smoothing must not be negative and rare at least 1, got {smoothing!r} and {rare!r}.")
        listed = [list(sentence) for sentence in sentences]
        by_word: dict[str, Counter[str]] = {}
        tags: Counter[str] = Counter()
        for sentence in listed:
            for word, tag in sentence:
                by_word.setdefault(word, Counter())[tag] += 1
                tags[tag] += 1
        by_class: dict[str, Counter[str]] = {}
        for sentence in listed:
            for position, (word, tag) in enumerate(sentence):
                if sum(by_word[word].values()) <= rare:
                    by_class.setdefault(word_class(word, first=position == 0), Counter())[tag] += 1
        return Lexicon(tags, by_word, by_class, smoothing)

    def weights(self, words: list[str]) -> list[dict[str, float]]:
        """For each word the tags it may have, with the logarithm of how probable the word is below each."""
        return [self._weights(word, first=position == 0) for position, word in enumerate(words)]

    def _weights(self, word: str, *, first: bool) -> dict[str, float]:
        seen = self.word_counts.get(word, {})
        n_seen, n_all = sum(seen.values()), sum(self.tag_counts.values())
        likely = self._class_tags(word_class(word, first=first))
        share = self.smoothing if seen else 1.0
        out = {}
        for tag in {**seen, **likely} if share > 0.0 else seen:
            of_word = (seen.get(tag, 0) + share * likely.get(tag, 0.0)) / (n_seen + share)
            # P(word | tag) = P(tag | word) P(word) / P(tag); a word never seen counts as seen once.
            of_tag = of_word * max(n_seen, 1) / n_all / (self.tag_counts[tag] / n_all)
            if of_tag > 0.0:
                out[tag] = math.log(of_tag)
        return out

    def _class_tags(self, name: str) -> dict[str, float]:
        """How probable each tag is for a rare word of a class, or of the nearest that was seen."""
        while name not in self.class_counts and "-" in name:
            name = name.rsplit("-", 1)[0]
        counts = self.class_counts.get(name) or self._all_rare()
        total = sum(counts.values())
        return {tag: count / total for tag, count in counts.items()}

    def _all_rare(self) -> Mapping[str, int]:
        total: Counter[str] = Counter()
        for counts in self.class_counts.values():
            total.update(counts)
        return total or self.tag_counts
