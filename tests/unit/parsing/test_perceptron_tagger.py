"""Weights and taggings against their definitions; files, threads, interruption, and sentences of every kind."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from tests.interruptions import Interruptible
from tests.reference.perceptron_tagger import beams, learned, mersenne_twister_64
from tests.saved_files import rewrite

import espalier as es
from espalier import DependencyTree, TaggedSequence
from espalier.errors import InputError
from espalier.parsing import PerceptronTagger, Tagger, tag_accuracy
from espalier.structures.conllu import read_conllu

WORDS = ["saw", "Saw", "the", "the", "fish", "Fishing", "éa", "İ", "x-1", "42", "!", "a"]


def random_sentences(seed, n=8, n_tags=3, longest=5):
    """Pairs of words and tags; a tag depends on the word, on the tag before, and on chance. Some have no words."""
    rng = np.random.default_rng(seed)
    sentences = []
    for _ in range(n):
        sentence = []
        for _ in range(int(rng.integers(0, longest + 1))):
            word = str(rng.choice(WORDS))
            before = int(sentence[-1][1][1:]) if sentence else 0
            number = (WORDS.index(word) + before + int(rng.integers(0, 2))) % n_tags
            sentence.append((word, f"T{number}"))
        sentences.append(sentence)
    return [*sentences, [("saw", "T1"), ("the", "T0")]]


def rows(weights):
    """The weights of each feature by tag, without the names of the features."""
    return sorted(tuple(sorted(by_tag.items())) for by_tag in weights.values())


def rows_of(tagger):
    own = tagger.weights
    named = [(tagger.tags[n], float(weight)) for n, weight in zip(own.of_class, own.weight, strict=True)]
    return sorted(tuple(sorted(named[first:last])) for first, last in itertools.pairwise(own.start.tolist()))


def test_the_twin_draws_the_numbers_of_the_standard():
    # C++ defines the generator by the 10,000th number of its default seed.
    assert next(itertools.islice(mersenne_twister_64(5489), 9_999, None)) == 9981545732273789042


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("seed", range(6))
def test_weights_and_taggings_are_those_of_the_definition(seed, width):
    sentences = random_sentences(seed, n_tags=2 + seed % 3)
    tagger = PerceptronTagger.from_sentences(sentences, epochs=3, width=width, random_state=seed)
    weights = learned(sentences, epochs=3, width=width, seed=seed)
    assert rows_of(tagger) == rows(weights) != []
    rng = np.random.default_rng(seed)
    for size in (1, 2, 3, 6):
        words = rng.choice([*WORDS, "unheard", "SAW", "ﬁsh"], size=size).tolist()
        expected = beams(words, tagger.tags, weights, width)[-1]
        for k in (1, 3, 100):
            found = tagger.tag(words, k)
            assert [(own.score, own.sequence.tags) for own in found] == expected[:k]  # exactly: all sums are exact
            assert not found.exact


def test_one_sentence_again_and_again():
    sentence = [("the", "D"), ("old", "A"), ("saw", "N"), ("saw", "V"), ("the", "D"), ("saw", "N")]
    tagger = PerceptronTagger.from_sentences([sentence], epochs=9, width=2, random_state=123)
    assert rows_of(tagger) == rows(learned([sentence], epochs=9, width=2, seed=7))  # there is nothing to shuffle
    assert tagger.tag([word for word, _ in sentence])[0].sequence.tags == tuple("DANVDN")


def test_the_same_seed_gives_the_same_tagger_and_another_seed_another():
    sentences = random_sentences(1, 30)
    one, same, other = (PerceptronTagger.from_sentences(sentences, epochs=2, random_state=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.weights.key, same.weights.key) and np.array_equal(one.weights.weight, same.weights.weight)
    assert rows_of(one) != rows_of(other)


@pytest.fixture(scope="module")
def tagger():
    return PerceptronTagger.from_sentences(random_sentences(3, 40), epochs=3)


def test_files_and_pickles_tag_as_before(tagger, tmp_path):
    path = tmp_path / "tagger.espalier"
    tagger.save(path)
    sentences = [["saw", "the", "Fish"], ["unheard", "éa"], []]
    expected = tagger.tag_all(sentences, 4)
    for again in (es.load(path), PerceptronTagger.load(path), pickle.loads(pickle.dumps(tagger))):
        assert again.tag_all(sentences, 4) == expected
        assert repr(again) == repr(tagger)
        for name in ("key", "start", "of_class", "weight"):
            own, old = getattr(again.weights, name), getattr(tagger.weights, name)
            assert own.dtype == old.dtype and own.tobytes() == old.tobytes()
        again.save(tmp_path / "again.espalier")
        assert (tmp_path / "again.espalier").read_bytes() == path.read_bytes()
    n_words = sum(map(len, random_sentences(3, 40)))
    assert tagger.trained_on() == {"rows": 41, "items": "tagged sentences", "words": n_words}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state, arrays: state["$file"].update(version=2), "version 2"),
        (lambda state, arrays: state["$file"].update(kind="Tagger"), "missing|Tagger"),
        (lambda state, arrays: state.update(tags=["T0", "T0", "T1"]), "tags are not all different"),
        (lambda state, arrays: state.update(tags=[]), "tags are not all different"),
        (lambda state, arrays: state.update(tags=["T0"]), "a class is out of range"),
        (lambda state, arrays: state.update(width=0), "width is out of range"),
        (lambda state, arrays: state.update(width=10**9), "width is out of range"),
        (lambda state, arrays: state.update(words=-1), "words is out of range"),
        (lambda state, arrays: arrays.update({"weights.key": arrays["weights.key"] * 0}), "have one key"),
        (lambda state, arrays: arrays.update({"weights.key": arrays["weights.key"][:-1]}), "rows do not fit"),
        (
            lambda state, arrays: arrays.update({"weights.start": arrays["weights.start"][::-1]}),
            "rows are out of order",
        ),
        (lambda state, arrays: arrays.update({"weights.start": arrays["weights.start"][:0]}), "rows do not fit"),
        (lambda state, arrays: arrays.update({"weights.weight": arrays["weights.weight"] * np.nan}), "not a number"),
        (lambda state, arrays: arrays.update({"weights.of_class": arrays["weights.of_class"] - 9}), "out of range"),
        (lambda state, arrays: arrays.pop("weights.of_class"), "missing"),
    ],
)
def test_damaged_files_are_refused(tagger, tmp_path, change, message):
    path = tmp_path / "tagger.espalier"
    tagger.save(path)
    rewrite(path, change)
    with pytest.raises(InputError, match=message):
        es.load(path)


def test_threads_change_nothing_and_progress_is_told(tagger):
    sentences = [["saw", "fish", "unheard", "!"], [], ["a"]] * 20
    one = tagger.tag_all(sentences, 4, n_threads=1)
    seen = []
    assert tagger.tag_all(sentences, 4, n_threads=3, progress=seen.append) == one
    assert tagger.propose(sentences, 4) == [tagger.tag(words, 4) for words in sentences] == one
    assert all(0.0 <= progress.fraction <= 1.0 and progress.what == "tagging" for progress in seen)


def test_learning_tells_its_progress():
    seen = []
    PerceptronTagger.from_sentences(random_sentences(0, 500), epochs=3, progress=seen.append)
    fractions = [float(one) for one in seen]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert {one.what for one in seen} == {"learning to tag"}


@pytest.mark.parametrize(
    "call",
    [
        "PerceptronTagger.from_sentences(sentences, epochs=1_000_000)",
        "PerceptronTagger.from_sentences([sentences[0] * 100], epochs=1_000_000)",
        "tagger.tag_all([[f'w{k}' for k in range(100)]] * 100_000, n_threads=2)",
        "tagger.tag(['w1', 'w2'] * 1_000_000)",
    ],
)
def test_an_interruption_ends_learning_and_tagging(call):
    setup = (
        "from espalier.parsing import PerceptronTagger\n"
        "sentences = [[(f'w{k * j % 97}', f'T{(k + j) % 40}') for k in range(20)] for j in range(200)]\n"
        "tagger = PerceptronTagger.from_sentences(sentences[:20], epochs=1, width=40)\n"
    )
    child = Interruptible()
    try:
        assert child.interrupt(setup, call) == "interrupted"
    finally:
        child.close()


def test_joint_tags_are_tags():
    trees = [DependencyTree(["dogs", "bark"], ["NOUN|NNS", "VERB|VBP"], [2, 0], ["nsubj", "root"])]
    tagger = PerceptronTagger.from_sentences(trees)
    assert tagger.tags == ("NOUN|NNS", "VERB|VBP")
    assert tagger.tag(["dogs", "bark"])[0].sequence == trees[0].tagged()


def test_sentences_of_every_kind(tagger):
    empty = tagger.tag([], 5)
    assert empty.candidates == [TaggedSequence([], [])] and empty.scores == [0.0]
    assert tagger.tag_all([]) == []
    for words in (["Flump"], ["42", "re-entries", "é", "😀", "日本語", "ß", "İİ"], ["\u00a0", " "]):
        found = tagger.tag(words, 3)
        assert found[0].sequence.words == tuple(words) and set(found[0].sequence.tags) <= set(tagger.tags)
    long = tagger.tag(["the", "unheard", "saw"] * 100, 100)
    assert len(long) == tagger.width == len(set(long.candidates))
    assert long.scores == sorted(long.scores, reverse=True)


def test_everything_that_has_tags():
    pairs = [[("the", "D"), ("cat", "N")], [("dogs", "N"), ("bark", "V")], []]
    expected = PerceptronTagger.from_sentences(pairs)
    sequences = [TaggedSequence([w for w, _ in own], [t for _, t in own]) for own in pairs]
    arcs = [DependencyTree(own.words, own.tags, [2, 0], ["x", "root"]) for own in sequences[:2]]
    trees = ["(S (NP (D the) (N cat)))", "(S (N dogs) (VP (V bark) (NP (-NONE- *T*-1))))"]
    assert rows_of(PerceptronTagger.from_sentences(sequences)) == rows_of(expected)
    for sentences in (arcs, trees):
        assert rows_of(PerceptronTagger.from_sentences([*sentences, []])) == rows_of(expected)


def test_with_one_tag_there_is_nothing_to_learn():
    tagger = PerceptronTagger.from_sentences([[("a", "N"), ("b", "N")]] * 3)
    assert tagger.tags == ("N",) and len(tagger.weights.key) == 0
    found = tagger.tag(["a", "c"], 5)
    assert found.candidates == [TaggedSequence(["a", "c"], ["N", "N"])] and found.scores == [0.0]


def test_a_wider_beam_than_there_are_taggings():
    tagger = PerceptronTagger.from_sentences([[("a", "N"), ("b", "V")]], width=100)
    assert len(tagger.tag(["a"], 1000)) == 2 and len(tagger.tag(["a", "b"], 1000)) == 4


SENTENCES = [[("the", "D"), ("cat", "N")]]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: PerceptronTagger.from_sentences([]), InputError, "needs at least one sentence with words"),
        (lambda: PerceptronTagger.from_sentences([[], []]), InputError, "needs at least one sentence with words"),
        (lambda: PerceptronTagger.from_sentences(["(S the (N cat))"]), InputError, "Sentence 0 has a word without a"),
        (lambda: PerceptronTagger.from_sentences([[("the", 3)]]), TypeError, r"tags\[0\] must be a str"),
        (lambda: PerceptronTagger.from_sentences([["the", "cat"]]), TypeError, "as_tree converts"),
        (
            lambda: PerceptronTagger.from_sentences([[("w", str(n)) for n in range(10_001)]]),
            InputError,
            "10,001 different tags, and a tagger takes 10,000",
        ),
        (lambda: PerceptronTagger.from_sentences(SENTENCES, epochs=0), ValueError, "epochs must be"),
        (lambda: PerceptronTagger.from_sentences(SENTENCES, width=0), ValueError, "width must be"),
        (lambda: PerceptronTagger.from_sentences(SENTENCES, random_state=-1), ValueError, "random_state must be"),
        (lambda: PerceptronTagger.from_sentences(SENTENCES).tag("the cat"), TypeError, r"Use text.split\(' '\)"),
        (lambda: PerceptronTagger.from_sentences(SENTENCES).tag(["the", 3]), InputError, "must contain words, got 3"),
        (lambda: PerceptronTagger.from_sentences(SENTENCES).tag(["the", ""]), InputError, "must contain words"),
        (lambda: PerceptronTagger.from_sentences(SENTENCES).tag(["the"], 0), ValueError, "k must be a positive"),
        (lambda: PerceptronTagger.from_sentences(SENTENCES).tag(["a"], n_threads=0), ValueError, "n_threads must be"),
        (
            lambda: PerceptronTagger.from_sentences(SENTENCES).propose([["the"]], beam=2.0),
            ValueError,
            "its width, which is set when it learns. Leave beam out",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_questions_about_flights(data):
    train, test = (read_conllu(data / f"atis_ud/en_atis-ud-{part}.conllu.gz") for part in ("train", "test"))
    words = [tree.words for tree in test]
    tagger = PerceptronTagger.from_sentences(train[:1500], epochs=4)
    trigrams = Tagger.from_sentences(train[:1500])
    found, other = ([own[0].sequence for own in one.tag_all(words)] for one in (tagger, trigrams))
    assert tag_accuracy(test, found) > max(98.0, tag_accuracy(test, other))
