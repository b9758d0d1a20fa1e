"""``PerceptronTagger``: an averaged perceptron over words, their endings and shapes, and the tags before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.errors import InputError
from espalier.jobs.progress import Report
from espalier.jobs.schedule import Schedule
from espalier.parsing.kbest import KBest, Tagged
from espalier.parsing.requests import HOW_MANY, check_unicode, words_and_tags
from espalier.parsing.sparse_weights import SparseWeights
from espalier.parsing.tagger import taggings_of
from espalier.parsing.token_numbers import word_shape
from espalier.parsing.treebank import tagged_sentence
from espalier.storage import State, Storable, require
from espalier.structures.numbers import whole_number

MAX_TAGS = 10_000
MAX_WIDTH = 1_000
MAX_SEED = 2**63 - 1
N_ENDS = 4  # the longest beginning and ending of a word that is looked at, in characters


@dataclass(frozen=True, eq=False, repr=False)
class PerceptronTagger(Storable):
    """A tagger that learns from its mistakes; make one with :meth:`from_sentences`.

    It goes from left to right and keeps the best few taggings so far, a beam. The score of a tag is a sum of learned
    weights: of the word and its neighbours, of its beginnings, endings and shape, and of the two tags before it. On
    new texts it makes fewer mistakes than the hidden Markov model of :class:`Tagger`; its scores are not probabilities.

    Joint tags, written ``UPOS|XPOS``, are learned like any others: ``read_conllu(path, tags="joint")``.

    Parameters
    ----------
    tags
        The names of the tags.
    weights
        What was learned, with a class for each tag.
    width
        The number of taggings in the beam.
    n_sentences, n_words
        The size of the training data.

    Examples
    --------
    >>> sentences = ["(S (D the) (N dog) (V barks))", "(S (D a) (N cat) (V sees) (D the) (N dog))"]
    >>> tagger = PerceptronTagger.from_sentences(sentences)
    >>> tagger.tag(["a", "dog", "sees", "the", "cat"])[0].sequence.tags
    ('D', 'N', 'V', 'D', 'N')
    """

    tags: Sequence[str]
    weights: SparseWeights
    width: int
    n_sentences: int
    n_words: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "tags", tuple(self.tags))

    @staticmethod
    def from_sentences(
        sentences: Iterable[object],
        *,
        epochs: int = 10,
        width: int = 4,
        random_state: int = 0,
        progress: Report | None = None,
    ) -> PerceptronTagger:
        """Learn from tagged sentences.

        Parameters
        ----------
        sentences
            As for :meth:`Tagger.from_sentences`.
        epochs
            The number of passes over the training data.
        width
            How many taggings the beam keeps, while it learns and later.
        random_state
            A seed for the order of sentences.
        progress
            As everywhere.

        Notes
        -----
        Learning goes through the sentences one by one, in one thread. Wherever the best tagging so far beats the right
        one, the weights are updated at the word where its lead is largest (Huang, Fayong and Guo 2012). The weights
        that remain are averaged over all steps (Collins 2002).
        """
        epochs, width = whole_number("epochs", epochs), whole_number("width", width, 1, MAX_WIDTH)
        seed = whole_number("random_state", random_state, 0, MAX_SEED)
        listed = [tagged_sentence(row, sentence) for row, sentence in enumerate(sentences)]
        for row, own in enumerate(listed):
            check_unicode(row, tag=own.tags)  # of words, only numbers are kept
        tags = sorted({tag for sentence in listed for tag in sentence.tags})
        if not tags:
            raise InputError("A tagger needs at least one sentence with words.")
        if len(tags) > MAX_TAGS:
            raise InputError(f"There are {len(tags):,} different tags, and a tagger takes {MAX_TAGS:,} at most.")
        number = {tag: n for n, tag in enumerate(tags)}
        start, word, attribute = _numbered([sentence.words for sentence in listed])
        tag = np.array([number[tag] for sentence in listed for tag in sentence.tags], np.int32)
        schedule = Schedule.of(1, progress=progress, what="learning to tag")
        arrays = _core.train_tagger(start, word, attribute, tag, len(tags), epochs, width, seed, schedule.tell)
        schedule.done()
        return PerceptronTagger(tags, SparseWeights(**arrays), width, len(listed), len(word))

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
        """Return the ``k`` best taggings left in the beam at the end of each sentence.

        Parameters
        ----------
        sentences
            Lists of words, known or not.
        k
            The largest number of taggings; there are at most as many as the beam is wide. A sentence without words has
            one.
        n_threads, progress
            As for every :class:`Proposer`.
        """
        schedule = Schedule.of(n_threads, progress=progress, what="tagging")
        given = (words_and_tags(row, sentence, pairs=False) for row, sentence in enumerate(sentences))
        listed = [tuple(word for word, _ in sentence) for sentence in given]
        most = whole_number("k", k, wanted=HOW_MANY)
        arrays = _core.tag_by_beam(
            self.weights.core,
            *_numbered(listed),
            len(self.tags),
            self.width,
            most,
            schedule.n_threads,
            schedule.tell,
        )
        return [taggings_of(self.tags, arrays, s, words, exact=False) for s, words in enumerate(listed)]

    def propose(
        self, sentences: Iterable[Sequence[str]], k: int = 1, *, beam: float | None = None, **options: Any
    ) -> list[KBest[Tagged]]:
        """Call :meth:`tag_all`; all proposers have this method. The beam of this tagger is set when it learns."""
        if beam is not None:
            raise ValueError(
                "The beam of a PerceptronTagger is its width, which is set when it learns. Leave beam out."
            )
        return self.tag_all(sentences, k, **options)

    def to_state(self) -> dict[str, object]:
        """Return the tags and the weights."""
        return {
            "tags": self.tags,
            "width": self.width,
            "sentences": self.n_sentences,
            "words": self.n_words,
            "weights": self.weights.to_state(),
        }

    @classmethod
    def from_state(cls, state: State) -> PerceptronTagger:
        """Make a tagger from the contents of a file."""
        tags = state.texts("tags")
        require(0 < len(tags) == len(set(tags)) <= MAX_TAGS, "its tags are not all different, or too many")
        weights = SparseWeights.from_part(state.part("weights"), len(tags))
        sizes = state.whole("width", 1, MAX_WIDTH), state.whole("sentences"), state.whole("words")
        return cls(tags, weights, *sizes)

    def trained_on(self) -> dict[str, object]:
        """How many sentences and words it learned from."""
        return {"rows": self.n_sentences, "items": "tagged sentences", "words": self.n_words}

    def __repr__(self) -> str:
        return f"<PerceptronTagger: {len(self.tags):,} tags, {len(self.weights.key):,} features>"


def _numbered(
    sentences: Sequence[Sequence[str]],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint64]]:
    """Where sentences start among all words, the number of each word, and the attributes of each different word."""
    number: dict[str, int] = {}
    word = [number.setdefault(word, len(number)) for sentence in sentences for word in sentence]
    start = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
    return start, np.array(word, np.int32), _attributes(list(number)).reshape(-1)


def _attributes(words: list[str]) -> NDArray[np.uint64]:
    """The attributes of each word, as the core lists them: form, lower case, shape, kinds, endings, beginnings.

    An ending that is longer than the word has the key 0, and counts as none.
    """
    lower = [word.lower() for word in words]
    columns = [words, lower, [word_shape(word) for word in words], [_kinds(word) for word in words]]
    columns += [[word[-n:] for word in lower] for n in range(1, N_ENDS + 1)]
    columns += [[word[:n] for word in lower] for n in range(1, N_ENDS + 1)]
    spelled = [[text.encode("utf-8", "surrogatepass") for text in column] for column in columns]
    keys = np.stack([_core.text_keys(column, kind) for kind, column in enumerate(spelled)], axis=1)
    length = np.array([len(word) for word in lower])
    for n in range(1, N_ENDS + 1):
        keys[length < n, 3 + n] = keys[length < n, 3 + N_ENDS + n] = 0
    return np.ascontiguousarray(keys)


def _kinds(word: str) -> str:
    """Which kinds of characters a word has, and whether it begins with a capital letter."""
    found = (
        any(map(str.isupper, word)),
        any(map(str.islower, word)),
        any(map(str.isdigit, word)),
        "-" in word,
        not word.isalnum(),
        word[:1].isupper(),
    )
    return "".join("01"[one] for one in found)
