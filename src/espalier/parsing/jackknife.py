"""Jackknifing: sentences are split into parts, and each part is tagged or parsed by a model of the other parts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from espalier.errors import InputError
from espalier.jobs.executor import Executor, run_jobs
from espalier.jobs.progress import Report, told_of
from espalier.parsing.kbest import Proposer
from espalier.parsing.perceptron_tagger import PerceptronTagger
from espalier.structures.dependency import DependencyTree
from espalier.structures.group import rows_by_sentence
from espalier.structures.numbers import whole_number
from espalier.structures.sequence import TaggedSequence

Sentence = TypeVar("Sentence", TaggedSequence, DependencyTree)


def held_out_rows(
    sentences: Sequence[Sequence[str]],
    folds: int,
    rng: np.random.Generator,
    documents: Sequence[Hashable] | None = None,
    *,
    name: str = "folds",
) -> list[list[int]]:
    """Split sentences, given as words, into parts at random, and return the rows of each part.

    Sentences with the same words go into one part, or those of one document if documents are given: no model is then
    tried on what it has seen.
    """
    if documents is None:
        together, what = rows_by_sentence(sentences), "different sentences"
    else:
        if len(documents) != len(sentences):
            raise InputError(f"There are {len(sentences):,} sentences, but documents has {len(documents):,} entries.")
        by_document: dict[Hashable, list[int]] = {}
        for row, document in enumerate(documents):
            by_document.setdefault(document, []).append(row)
        together, what = list(by_document.values()), "documents"
    if len(together) < 2:
        many = f"there is one, in {len(sentences):,} sentences" if together else "there are none"
        raise InputError(f"{name} divides {what} into parts, of which each is held out once, and {many}. Give more.")
    wanted = f"an integer from 2 to the number of {what}, {len(together)}"
    whole_number(name, folds, 2, len(together), wanted=wanted)
    order = rng.permutation(len(together)).tolist()
    return [sorted(row for n in order[fold::folds] for row in together[n]) for fold in range(folds)]


def jackknifed_taggings(
    sentences: Iterable[TaggedSequence | DependencyTree],
    k: int = 4,
    *,
    folds: int = 10,
    documents: Sequence[Hashable] | None = None,
    make: Callable[..., Proposer] = PerceptronTagger.from_sentences,
    n_threads: int | None = None,
    random_state: int = 0,
    progress: Report | None = None,
    executor: Executor | None = None,
    **options: object,
) -> list[Sequence[tuple[TaggedSequence, float]]]:
    """Return the ``k`` best taggings of each sentence by a tagger that has not seen it, as of new sentences.

    Parameters
    ----------
    sentences
        Tagged sequences or dependency trees.
    k
        How many taggings at most.
    folds, documents, make, n_threads, random_state, progress, executor, **options
        As for :func:`jackknifed_tags`.
    """
    listed = list(sentences)
    for row, sentence in enumerate(listed):
        if not isinstance(sentence, TaggedSequence | DependencyTree):
            raise TypeError(f"Sentence {row} must be a TaggedSequence or a DependencyTree, got {sentence!r:.80}.")
    k = whole_number("k", k)
    rng = np.random.default_rng(whole_number("random_state", random_state, 0))
    parts = held_out_rows([sentence.words for sentence in listed], folds, rng, documents)
    jobs = [_Part(listed, part, make, options, k, n_threads) for part in parts]
    out: dict[int, Sequence[tuple[TaggedSequence, float]]] = {}
    for job, found in zip(jobs, run_jobs(jobs, executor, told_of(progress, "jackknifed tags")), strict=True):
        out.update(zip(job.held_out, found, strict=True))
    return [out[row] for row in range(len(listed))]


def jackknifed_tags(
    sentences: Iterable[Sentence],
    *,
    folds: int = 10,
    documents: Sequence[Hashable] | None = None,
    make: Callable[..., Proposer] = PerceptronTagger.from_sentences,
    n_threads: int | None = None,
    random_state: int = 0,
    progress: Report | None = None,
    executor: Executor | None = None,
    **options: object,
) -> list[Sentence]:
    """Return the sentences tagged by a tagger that has not seen them, as new sentences will be.

    A parser that learns from gold tags trusts tags too much: on new sentences they come from a tagger, and some are
    wrong.

    Parameters
    ----------
    sentences
        Tagged sequences or dependency trees.
    folds
        The sentences are split into this many parts, and a tagger made from the other parts tags each part.
    documents
        For each sentence, the name or number of its document. The sentences of a document then stay in one part: they
        share words that a new document does not have, and a tagger that knows them looks better than it is.
    make
        Makes a tagger from sentences.
    n_threads, progress
        As everywhere.
    random_state
        A seed for the parts.
    executor
        Runs the parts elsewhere, such as in :class:`~espalier.jobs.Processes`.
    **options
        Given to ``make``, such as ``epochs=5``.
    """
    listed = list(sentences)
    found = jackknifed_taggings(
        listed,
        1,
        folds=folds,
        documents=documents,
        make=make,
        n_threads=n_threads,
        random_state=random_state,
        progress=progress,
        executor=executor,
        **options,
    )
    return [replace(sentence, tags=own[0][0].tags) for sentence, own in zip(listed, found, strict=True)]


@dataclass(frozen=True, eq=False)
class _Part:
    """A job: make a tagger from some sentences, and tag the others."""

    sentences: Sequence[Any]
    held_out: Sequence[int]
    make: Callable[..., Proposer]
    options: Mapping[str, object]
    k: int
    n_threads: int | None

    @property
    def cost(self) -> float:
        """The number of sentences to learn from."""
        return float(len(self.sentences) - len(self.held_out))

    def __call__(self) -> Sequence[Sequence[Any]]:
        held_out = set(self.held_out)
        tagger = self.make([own for row, own in enumerate(self.sentences) if row not in held_out], **self.options)
        words = [list(self.sentences[row].words) for row in self.held_out]
        return tagger.propose(words, self.k, n_threads=self.n_threads)
