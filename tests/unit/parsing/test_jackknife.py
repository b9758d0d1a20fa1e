"""Jackknifed tags: who has seen what, what stays together, in which order, and what callers get wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest

from espalier import DependencyTree, TaggedSequence
from espalier.errors import InputError
from espalier.jobs import Processes
from espalier.parsing import KBest, PerceptronTagger, Tagged, Tagger, jackknifed_tags
from espalier.structures.conllu import read_conllu_documents


def sentences(n=23, n_different=20):
    """Tagged sentences; a few occur twice."""
    return [TaggedSequence([f"w{k % n_different}", "x"], ["A" if k % 2 else "B", "C"]) for k in range(n)]


class Recording:
    """A tagger that keeps what it was made from and what it was asked; it gives one tag to all words."""

    def __init__(self, known: Sequence[TaggedSequence], seen: list[tuple[list, list]], tag: str) -> None:
        self.known, self.seen, self.tag = list(known), seen, tag

    def propose(self, sentences: Iterable[Sequence[str]], k: int, **options: object) -> list[KBest[Tagged]]:
        asked = list(sentences)
        self.seen.append((self.known, asked))
        return [KBest((Tagged(TaggedSequence(words, [self.tag] * len(words)), 0.0),)) for words in asked]


def recorded(given, **options):
    """The sentences that come back, and for each part what its tagger was made from and asked."""
    seen = []
    found = jackknifed_tags(given, make=lambda known: Recording(known, seen, f"T{len(seen)}"), **options)
    return found, seen


@pytest.mark.parametrize("folds", [2, 7, 20])
def test_no_tagger_has_seen_the_words_that_it_tags(folds):
    given = sentences()
    found, seen = recorded(given, folds=folds)
    assert len(seen) == folds
    for known, asked in seen:
        assert known and asked
        assert not {own.words for own in known} & {tuple(words) for words in asked}
        assert len(known) + len(asked) == len(given)
        assert known == [own for own in given if list(own.words) not in asked]  # gold tags, in their order
    assert sorted(tuple(words) for _, asked in seen for words in asked) == sorted(own.words for own in given)
    assert [own.words for own in found] == [own.words for own in given]
    of_part = {tuple(words): f"T{part}" for part, (_, asked) in enumerate(seen) for words in asked}
    assert [own.tags for own in found] == [(of_part[own.words],) * 2 for own in given]


def test_documents_stay_together():
    given = [TaggedSequence([f"w{k}"], ["A"]) for k in range(30)]
    documents = [k // 3 % 5 for k in range(30)]  # document 0 goes on after others
    found, seen = recorded(given, folds=5, documents=documents)
    assert [own.words for own in found] == [own.words for own in given]
    for known, asked in seen:
        inside = {documents[int(words[0][1:])] for words in asked}
        assert len(inside) == 1 and not inside & {documents[int(own.words[0][1:])] for own in known}


def test_documents_of_a_file_stay_together(data):
    read = read_conllu_documents(data / "ewt_ud/en_ewt-ud-dev.conllu.gz")[:40]
    trees = [tree for document in read for tree in document]
    documents = [number for number, document in enumerate(read) for _ in document]
    found = jackknifed_tags(trees, folds=3, documents=documents, epochs=1)
    assert [(own.words, own.heads, own.lemmas) for own in found] == [
        (own.words, own.heads, own.lemmas) for own in trees
    ]
    same = [a == b for own, tree in zip(found, trees, strict=True) for a, b in zip(own.tags, tree.tags, strict=True)]
    assert 0.6 < np.mean(same) < 0.99


def test_dependency_trees_keep_all_but_their_tags():
    trees = [
        DependencyTree([f"w{k}", "x"], ["A", "B"], [2, 0], ["dep", "root"], lemmas=["w", "x"], features=[("F",), ()])
        for k in range(4)
    ]
    found, _ = recorded(trees, folds=2)
    for old, own in zip(trees, found, strict=True):
        assert own.tags in (("T0", "T0"), ("T1", "T1"))
        assert DependencyTree(own.words, old.tags, own.heads, own.relations, own.lemmas, own.features) == old


def test_the_seed_chooses_the_parts():
    one, same, other = (recorded(sentences(), folds=4, random_state=seed)[1] for seed in (1, 1, 2))
    assert [asked for _, asked in one] == [asked for _, asked in same] != [asked for _, asked in other]


def test_processes_and_threads_change_nothing():
    given = sentences(60, 60)
    here = jackknifed_tags(given, folds=3, epochs=2)
    assert jackknifed_tags(given, folds=3, epochs=2, n_threads=2) == here
    with Processes(2) as processes:
        assert jackknifed_tags(given, folds=3, epochs=2, executor=processes) == here
        trigrams = jackknifed_tags(given, folds=3, make=Tagger.from_sentences, executor=processes)
    assert trigrams == jackknifed_tags(given, folds=3, make=Tagger.from_sentences)


def test_progress_and_sentences_without_words():
    seen = []
    given = [TaggedSequence([], []), *sentences(12)]
    found = jackknifed_tags(given, folds=3, epochs=1, progress=seen.append)
    assert found[0] == given[0] and [own.words for own in found] == [own.words for own in given]
    fractions = [float(one) for one in seen]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert {one.what for one in seen} == {"jackknifed tags"}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: jackknifed_tags(sentences(), folds=1), ValueError, "folds must be an integer from 2 to the number of"),
        (lambda: jackknifed_tags(sentences(), folds=21), ValueError, "the number of different sentences, 20, got 21"),
        (
            lambda: jackknifed_tags(sentences(), folds=3, documents=[1] * 23),
            InputError,
            "divides documents .*, and there is one, in",
        ),
        (lambda: jackknifed_tags([], folds=2), InputError, "folds divides .*, and there are none"),
        (lambda: jackknifed_tags(sentences(), documents=[1, 2]), InputError, "but documents has 2 entries"),
        (lambda: jackknifed_tags(sentences(), random_state=-1), ValueError, "random_state must be"),
        (lambda: jackknifed_tags(sentences(), epochs=0), ValueError, "epochs must be"),
        (
            lambda: jackknifed_tags([[("a", "N")], [("b", "N")]]),
            TypeError,
            "Sentence 0 must be a TaggedSequence or a D",
        ),
        (lambda: jackknifed_tags([sentences()[0], None]), TypeError, "Sentence 1 must be a TaggedSequence or a Depend"),
    ],
)
def test_mistakes_of_the_caller(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_taggers_of_joint_tags():
    given = [TaggedSequence([f"w{k}", "runs"], ["NOUN|NN", "VERB|VBZ"]) for k in range(6)]
    assert jackknifed_tags(given, folds=3, make=PerceptronTagger.from_sentences) == given
