"""Words, and their tags by the endings of words: the tagger's lexicon (Brants 2000)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from espalier.kept import kept

Probabilities = NDArray[np.float64]


@dataclass(frozen=True)
class SuffixLexicon:
    r"""Counts of words below tags; unknown words get the tags of rare words with the same ending.

    With :math:`\hat P` for shares among rare words and :math:`s_i` for the last :math:`i` characters of a word, up to
    the longest that a rare word has,

    .. math:: P(t \mid s_i) = \frac{\hat P(t \mid s_i) + \theta P(t \mid s_{i-1})}{1 + \theta}

    from the shares of tags in all data on. Words that begin with a capital letter and words that do not are kept apart,
    and :math:`\theta` is the standard deviation of the shares of tags. One step is not in the paper: a word that was
    seen in small letters only has the tags that it had there, beside which its ending counts as one observation.

    Parameters
    ----------
    n_tags
        The number of tags.
    words
        By word, how often it was seen below each tag.
    suffix
        The longest ending, in characters.
    rare
        Words seen at most this many times are rare.
    smoothing
        The weight of a known word's ending, as a number of observations beside those of the word itself.
    """

    n_tags: int
    words: Mapping[str, Mapping[int, int]] = field(repr=False)
    suffix: int = 10
    rare: int = 10
    smoothing: float = 0.0

    @kept
    def tag_counts(self) -> NDArray[np.int64]:
        """How often each tag was seen."""
        counts = np.zeros(self.n_tags, np.int64)
        for tags in self.words.values():
            counts[list(tags)] += list(tags.values())
        return counts

    @kept
    def suffix_counts(self) -> dict[tuple[bool, str], Counter[int]]:
        """By case and ending, how often rare words were seen below each tag."""
        found: defaultdict[tuple[bool, str], Counter[int]] = defaultdict(Counter)
        for word, tags in self.words.items():
            if sum(tags.values()) <= self.rare:
                for ending in self._endings(word):
                    found[ending].update(tags)
        return dict(found)

    def tag_shares(self, word: str) -> Probabilities:
        """Return the probability of each tag for a word of which only the ending is known."""
        shares: Probabilities = self.tag_counts / self.tag_counts.sum()
        theta = float(np.std(shares, ddof=1)) if self.n_tags > 1 else 0.0
        for ending in self._endings(word):
            counts = self.suffix_counts.get(ending)
            if counts is None:
                break
            shares = theta * shares
            shares[list(counts)] += np.array(list(counts.values())) / sum(counts.values())
            shares /= 1.0 + theta
        return shares

    def weights(self, word: str) -> tuple[NDArray[np.int32], Probabilities]:
        """Return the possible tags of a word, with the log probability of the word below each."""
        seen, smoothing = self.words.get(word, {}), self.smoothing
        # A word never seen counts as seen once.
        n_seen = sum(seen.values()) or 1
        if not seen:
            seen, smoothing = self.words.get(word.lower(), {}), 1.0
        of_word = np.zeros(self.n_tags)
        of_word[list(seen)] = list(seen.values())
        if smoothing > 0.0:
            of_word += smoothing * self.tag_shares(word)
        tags = np.flatnonzero(of_word).astype(np.int32)
        # P(word | tag) = P(tag | word) P(word) / P(tag)
        return tags, np.log(of_word[tags] / of_word.sum() * n_seen / self.tag_counts[tags])

    def _endings(self, word: str) -> list[tuple[bool, str]]:
        """The endings of a word with its case, from the empty one on."""
        longest = min(self.suffix, len(word))
        return [(word[:1].isupper(), word[len(word) - size :]) for size in range(longest + 1)]
