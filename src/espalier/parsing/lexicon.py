"""Words and their tags: how probable a word is below a tag, known or not."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from espalier.kept import kept
from espalier.parsing.markov import SeenWord, spelled
from espalier.storage import State, require
from espalier.structures.numbers import finite_number, is_whole, shown

_SUFFIXES = ("ing", "ion", "est", "ity", "ed", "er", "ly", "al", "s", "y")


def word_class(word: str, *, first: bool = False) -> str:
    """Return the class of a rare or unknown word: its case, its signs and its ending.

    Parameters
    ----------
    word
        The word.
    first
        Whether it begins a sentence, where a capital letter means less.

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


def are_counts(table: object) -> bool:
    """Say whether this is a mapping to positive counts, as a file should contain."""
    return isinstance(table, dict) and all(type(count) is int and count > 0 for count in table.values())


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
        The weight of the class of a word, as a number of observations beside those of the word itself.
    parts
        By tag, how often each of the symbols into which it is split was seen; empty if tags are not split.
    word_parts
        By word, how often it was seen below each of these.
    """

    tag_counts: Mapping[str, int]
    word_counts: Mapping[str, Mapping[str, int]] = field(repr=False)
    class_counts: Mapping[str, Mapping[str, int]] = field(repr=False)
    smoothing: float = 1.0
    parts: Mapping[str, Mapping[str, int]] = field(default_factory=dict, repr=False)
    word_parts: Mapping[str, Mapping[str, int]] = field(default_factory=dict, repr=False)

    def to_state(self) -> dict[str, object]:
        """Return all counts."""
        return {own.name: getattr(self, own.name) for own in fields(self)}

    @classmethod
    def from_state(cls, state: State) -> Lexicon:
        """Make a lexicon from the contents of a file."""
        found: dict[str, Any] = {name: state.json(name) for name in state.names() if name != "smoothing"}
        tags = found["tag_counts"]
        require(tags, "its tags have no counts")
        for name, table in {**found, "tag_counts": {"": tags}}.items():
            sound = isinstance(table, dict) and all(map(are_counts, table.values()))
            require(sound, f"{name!r} has no counts")
            largest = max((count for counts in table.values() for count in counts.values()), default=0)
            require(largest < 2**53, "a count is too large")
        known = [tag for name in ("word_counts", "class_counts") for counts in found[name].values() for tag in counts]
        require(set(known) <= set(tags), "a word has an unknown tag")
        require(all(found["parts"].values()) and set(found["parts"]) <= set(tags), "a tag has no parts, or is unknown")
        return cls(**found, smoothing=state.number("smoothing", 0.0))

    @staticmethod
    def from_sentences(
        sentences: Iterable[Iterable[tuple[str, str]]], *, rare: int = 2, smoothing: float = 1.0
    ) -> Lexicon:
        """Count words and tags; words seen at most ``rare`` times also train their class."""
        seen: Counter[SeenWord] = Counter()
        for sentence in sentences:
            for position, (word, tag) in enumerate(sentence):
                seen[word, (tag,), position == 0] += 1
        return Lexicon.from_counts(seen, rare=rare, smoothing=smoothing)

    @staticmethod
    def from_counts(
        seen: Mapping[SeenWord, int], *, rare: int = 2, smoothing: float = 1.0, split_tags: bool = False
    ) -> Lexicon:
        """The same from counts of words below symbols; with ``split_tags``, a tag is split into its symbols."""
        finite_number("smoothing", smoothing, zero=True)
        if not is_whole(rare) or rare < 1:
            raise ValueError(f"Words seen at most this many times are rare: at least 1, got {shown(rare)}.")
        tags: Counter[str] = Counter()
        by_word, by_class, parts, word_parts = (defaultdict[str, Counter[str]](Counter) for _ in range(4))
        for (word, symbol, _), count in seen.items():
            by_word[word][symbol[0]] += count
            tags[symbol[0]] += count
            if split_tags:
                parts[symbol[0]][spelled(symbol)] += count
                word_parts[word][spelled(symbol)] += count
        for (word, symbol, is_first), count in seen.items():
            if by_word[word].total() <= rare:
                by_class[word_class(word, first=is_first)][symbol[0]] += count
        return Lexicon(tags, dict(by_word), dict(by_class), smoothing, dict(parts), dict(word_parts))

    def weights(self, words: list[str]) -> list[dict[str, float]]:
        """Return for each word its possible tags, with the log probability of the word below each.

        If tags are split, these are their parts.
        """
        out = []
        for position, word in enumerate(words):
            found = self._weights(word, first=position == 0)
            if self.parts:
                found = {
                    part: weight + more for tag, weight in found.items() for part, more in self.split(word, tag).items()
                }
            out.append(found)
        return out

    def split(self, word: str, tag: str) -> dict[str, float]:
        """The parts of a tag, and how much more probable a word is below each than below the tag, as logarithms.

        The share of a part among a word's own observations is smoothed with its share of the tag.
        """
        parts = self.parts.get(tag)
        if parts is None:
            return {tag: 0.0}
        own, total = self.word_parts.get(word, {}), sum(parts.values())
        n_own, out = sum(own.get(part, 0) for part in parts), {}
        for part, count in parts.items():
            share = count / total
            of_word = (own.get(part, 0) + share) / (n_own + 1)
            out[part] = math.log(of_word / share)
        return out

    def _weights(self, word: str, *, first: bool) -> dict[str, float]:
        seen = self.word_counts.get(word, {})
        n_seen = sum(seen.values())
        likely = self._class_tags(word_class(word, first=first))
        share = self.smoothing if seen else 1.0
        out = {}
        for tag in {**seen, **likely} if share > 0.0 else seen:
            of_word = (seen.get(tag, 0) + share * likely.get(tag, 0.0)) / (n_seen + share)
            # P(word | tag) = P(tag | word) P(word) / P(tag); a word never seen counts as seen once.
            of_tag = of_word * max(n_seen, 1) / self.tag_counts[tag]
            if of_tag > 0.0:
                out[tag] = math.log(of_tag)
        return out

    def _class_tags(self, name: str) -> dict[str, float]:
        """How probable each tag is for a rare word of a class, or of the nearest that was seen."""
        while name not in self.class_counts and "-" in name:
            name = name.rsplit("-", 1)[0]
        counts = self.class_counts.get(name) or self._all_rare
        total = sum(counts.values())
        return {tag: count / total for tag, count in counts.items()}

    @kept
    def _all_rare(self) -> Mapping[str, int]:
        total: Counter[str] = Counter()
        for counts in self.class_counts.values():
            total.update(counts)
        return total or self.tag_counts
