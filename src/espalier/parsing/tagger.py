"""``Tagger``: a trigram hidden Markov model learned from tagged sentences, and the k best taggings of any sentence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.corpus.soundness import refuse
from espalier.errors import InputError
from espalier.jobs.progress import Report
from espalier.jobs.schedule import Schedule
from espalier.kept import kept
from espalier.parsing.kbest import KBest, Tagged, on_grid
from espalier.parsing.lexicon import are_counts
from espalier.parsing.requests import HOW_MANY, check_unicode, words_and_tags
from espalier.parsing.suffixes import SuffixLexicon
from espalier.parsing.treebank import tagged_sentence
from espalier.parsing.trigrams import count_trigrams, trigram_weights
from espalier.storage import State, Storable, require
from espalier.structures.columns import read_only
from espalier.structures.numbers import finite_number, whole_number
from espalier.structures.sequence import TaggedSequence

# The table of trigrams then takes 127 megabytes, and making it several times as much.
MAX_TAGS = 250


@dataclass(frozen=True, eq=False, repr=False)
class Tagger(Storable):
    """A trigram hidden Markov model of tags with a lexicon; make one with :meth:`from_sentences`.

    A tag depends on the two before it, and a word on its tag (Brants 2000, TnT). The end of a sentence is a tag too.
    Of equally probable taggings the first tag that differs decides, in the order of ``tags``.

    Parameters
    ----------
    tags
        The names of the tags.
    trigrams
        How often each tag followed two others; see :func:`espalier.parsing.trigrams.count_trigrams`.
    lexicon
        The words below the tags.

    Examples
    --------
    >>> tagger = Tagger.from_sentences(["(S (D the) (N dog) (V barks))", "(S (D a) (N cat) (V sees) (D the) (N dog))"])
    >>> tagger.tag(["a", "dog", "sees", "the", "cat"])[0].sequence.tags
    ('D', 'N', 'V', 'D', 'N')
    """

    tags: Sequence[str]
    trigrams: NDArray[np.int64]
    lexicon: SuffixLexicon

    def __post_init__(self) -> None:
        require = refuse("tagger", "Make a tagger with Tagger.from_sentences.")
        n, trigrams = len(self.tags), self.trigrams
        require(0 < n <= MAX_TAGS, f"there are {n:,} tags, and from 1 to {MAX_TAGS} are possible")
        sound = isinstance(trigrams, np.ndarray) and trigrams.dtype == np.int64 and trigrams.shape == (n + 1,) * 3
        require(sound, "trigrams must be a cube of int64 with one more place than there are tags")
        require(bool(np.all(trigrams >= 0)) and bool(np.all(trigrams.sum((0, 1)) > 0)), "a tag was never seen")
        require(self.lexicon.n_tags == n, f"the lexicon has {self.lexicon.n_tags} tags")
        object.__setattr__(self, "tags", tuple(self.tags))
        object.__setattr__(self, "trigrams", read_only(np.array(trigrams)))

    def __reduce__(self) -> tuple[object, ...]:
        return Tagger, (self.tags, self.trigrams, self.lexicon)

    @staticmethod
    def from_sentences(
        sentences: Iterable[object], *, suffix: int = 10, rare: int = 10, smoothing: float = 0.0
    ) -> Tagger:
        """Estimate a tagger by relative frequencies, with trigrams smoothed by deleted interpolation.

        Parameters
        ----------
        sentences
            Tagged sequences, dependency trees, lists of pairs of a word and its tag, or trees with a tag above each
            word, of which traces and function tags are left out.
        suffix
            The longest ending of an unknown word that is used, in characters.
        rare
            Words seen at most this many times supply the tags of unknown words.
        smoothing
            The weight of a known word's ending, as a number of observations. With 0 a known word has the tags
            that it was seen with, and no others.
        """
        suffix, rare = whole_number("suffix", suffix, 0), whole_number("rare", rare, 0)
        smoothing = finite_number("smoothing", smoothing, zero=True)
        listed = [tagged_sentence(row, sentence) for row, sentence in enumerate(sentences)]
        for row, own in enumerate(listed):
            check_unicode(row, word=own.words, tag=own.tags)
        tags = sorted({tag for sentence in listed for tag in sentence.tags})
        if not tags:
            raise InputError("A tagger needs at least one sentence with words.")
        if len(tags) > MAX_TAGS:
            raise InputError(
                f"There are {len(tags):,} different tags, such as {tags[0]!r} and {tags[-1]!r}, and a tagger takes "
                f"{MAX_TAGS} at most. Use coarser tags."
            )
        number = {tag: n for n, tag in enumerate(tags)}
        words: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for sentence in listed:
            for word, tag in zip(sentence.words, sentence.tags, strict=True):
                words[word][number[tag]] += 1
        trigrams = count_trigrams([[number[tag] for tag in sentence.tags] for sentence in listed], len(tags))
        return Tagger(tags, trigrams, SuffixLexicon(len(tags), dict(words), suffix, rare, smoothing))

    def knows(self, word: str) -> bool:
        """Say whether the word was in the training data."""
        return word in self.lexicon.words

    def tag(self, words: Sequence[str], k: int = 1, **options: Any) -> KBest[Tagged]:
        """Return the ``k`` best taggings of one sentence; the options are those of :meth:`tag_all`."""
        return self.tag_all([words], k, **options)[0]

    def tag_all(
        self,
        sentences: Iterable[Sequence[str]],
        k: int = 1,
        *,
        n_threads: int | None = None,
        progress: Report | None = None,
    ) -> list[KBest[Tagged]]:
        """Return exactly the ``k`` best taggings of each sentence.

        Parameters
        ----------
        sentences
            Lists of words, known or not.
        k
            The largest number of taggings; there are fewer if the tags of the words allow no more. A sentence without
            words has one.
        n_threads, progress
            As for every :class:`Proposer`.

        Notes
        -----
        A word that may have ``t`` tags, as its neighbours may, costs ``t`` cubed steps and ``t`` squared numbers of
        memory, once for the sentence, and ``t`` steps more for each of the ``k``.
        """
        schedule = Schedule.of(n_threads, progress=progress, what="tagging")
        given = (words_and_tags(row, sentence, pairs=False) for row, sentence in enumerate(sentences))
        listed = [tuple([word for word, _ in sentence]) for sentence in given]
        found = {word: self.lexicon.weights(word) for word in dict.fromkeys(w for words in listed for w in words)}
        each = [found[word] for words in listed for word in words]
        arrays = _core.tag_sentences(
            self._weights,
            len(self.tags),
            np.cumsum([0, *map(len, listed)], dtype=np.int64),
            np.cumsum([0, *(len(tags) for tags, _ in each)], dtype=np.int64),
            np.concatenate([np.zeros(0, np.int32), *(tags for tags, _ in each)]),
            on_grid(np.concatenate([np.zeros(0), *(weights for _, weights in each)])),
            whole_number("k", k, wanted=HOW_MANY),
            schedule.n_threads,
            schedule.tell,
        )
        return [taggings_of(self.tags, arrays, s, words) for s, words in enumerate(listed)]

    def propose(
        self, sentences: Iterable[Sequence[str]], k: int = 1, *, beam: float | None = None, **options: Any
    ) -> list[KBest[Tagged]]:
        """Call :meth:`tag_all`; all proposers have this method. A tagger has no beam."""
        if beam is not None:
            raise ValueError("A tagger finds its best taggings exactly: it has no beam. Leave beam out.")
        return self.tag_all(sentences, k, **options)

    def to_state(self) -> dict[str, object]:
        """Return the counts of trigrams and of words."""
        seen, lexicon = np.argwhere(self.trigrams).astype(np.int32), self.lexicon
        return {
            "tags": self.tags,
            "words": {
                word: {self.tags[tag]: count for tag, count in counts.items()} for word, counts in lexicon.words.items()
            },
            "suffix": lexicon.suffix,
            "rare": lexicon.rare,
            "smoothing": lexicon.smoothing,
            "trigram": seen,
            "count": self.trigrams[tuple(seen.T)],
        }

    @classmethod
    def from_state(cls, state: State) -> Tagger:
        """Make a tagger from the contents of a file."""
        tags = state.texts("tags")
        require(0 < len(tags) == len(set(tags)), "its tags are not all different")
        require(len(tags) <= MAX_TAGS, f"it has {len(tags)} tags, and {MAX_TAGS} are possible")
        number = {tag: n for n, tag in enumerate(tags)}
        words: Any = state.json("words")
        require(isinstance(words, dict) and all(map(are_counts, words.values())), "its words have no counts")
        require(all(tag in number for counts in words.values() for tag in counts), "a word has an unknown tag")
        total = sum(count for counts in words.values() for count in counts.values())
        require(total < 2**62, "its counts are too large")
        numbered = {word: {number[tag]: count for tag, count in counts.items()} for word, counts in words.items()}
        smoothing = state.number("smoothing", 0.0)
        lexicon = SuffixLexicon(len(tags), numbered, state.whole("suffix"), state.whole("rare"), smoothing)
        trigrams = _stored_trigrams(state, len(tags))
        agree = np.array_equal(trigrams.sum((0, 1))[:-1], lexicon.tag_counts)
        require(agree, "words and trigrams do not belong together")
        return cls(tags, trigrams, lexicon)

    def trained_on(self) -> dict[str, object]:
        """How many sentences and words it was estimated from."""
        ends = self.trigrams.sum((0, 1))
        return {"rows": int(ends[-1]), "items": "tagged sentences", "words": int(ends[:-1].sum())}

    @kept
    def _weights(self) -> NDArray[np.float64]:
        return read_only(on_grid(trigram_weights(self.trigrams).reshape(-1)))

    def __repr__(self) -> str:
        return f"<Tagger: {len(self.tags):,} tags, {len(self.lexicon.words):,} words>"


def taggings_of(
    tags: Sequence[str], arrays: dict[str, Any], s: int, words: tuple[str, ...], *, exact: bool = True
) -> KBest[Tagged]:
    """The taggings of one sentence, from arrays of all."""
    first, last = arrays["sentence_start"][s : s + 2].tolist()
    start = arrays["sequence_start"][first]
    numbers = arrays["tag"][start : start + (last - first) * len(words)].reshape(last - first, len(words))
    sequences = (TaggedSequence(words, [tags[n] for n in row]) for row in numbers.tolist())
    return KBest(tuple(map(Tagged, sequences, arrays["weight"][first:last].tolist())), exact=exact)


def _stored_trigrams(state: State, n_tags: int) -> NDArray[np.int64]:
    """The counts of trigrams in a file, which lists those that were seen."""
    trigram, count = state.array("trigram", np.int32, 2), state.array("count", np.int64)
    require(trigram.shape == (len(count), 3), "each trigram needs three tags and one count")
    require(np.all((trigram >= 0) & (trigram <= n_tags)), "a tag of a trigram is out of range")
    require(np.all((count > 0) & (count < 2**40)), "the count of a trigram is out of range")
    require(len(np.unique(trigram, axis=0)) == len(trigram), "a trigram stands there twice")
    out = np.zeros((n_tags + 1,) * 3, np.int64)
    out[tuple(trigram.T)] = count
    return out
