"""The k best taggings against a list of all; models against their definitions; sentences of every kind."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from tests.reference.tagger import END, START, Interpolated, all_taggings, tag_shares, word_weights
from tests.saved_files import rewrite

from espalier import DependencyTree, TaggedSequence, Tree, _core
from espalier.errors import InputError
from espalier.parsing import Tagger, tag_accuracy
from espalier.parsing.trigrams import count_trigrams, interpolation_weights
from espalier.structures.conllu import read_conllu

TREES = [
    "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog))))",
    "(S (NP (D the) (N dog)) (VP (VP (V saw) (NP (N cats))) (PP (P with) (NP (N glasses)))))",
    "(S (NP (NP (N dogs)) (PP (P with) (NP (N cats)))) (VP (V sleep)))",
    "(S (NP (D The) (N saw)) (VP (V sleeps)))",
    "(FRAG (NP (N Dogs)))",
]


def random_sentences(seed, n=30):
    """Pairs of words and tags; words of several tags, rare ones and capital letters among them."""
    rng = np.random.default_rng(seed)
    endings = {"N": ["er", "ing", "s"], "V": ["ed", "ing", "s"], "D": ["e", ""]}
    sentences = []
    for _ in range(n):
        sentence = []
        for tag in rng.choice(list(endings), size=int(rng.integers(0, 7))).tolist():
            word = "".join(rng.choice(list("ab"), size=int(rng.integers(1, 3)))) + str(rng.choice(endings[tag]))
            sentence.append((word.capitalize() if rng.random() < 0.3 else word, tag))
        sentences.append(sentence)
    return sentences


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_the_best_taggings_are_the_best_of_all(seed, smoothing):
    sentences = random_sentences(seed)
    tagger = Tagger.from_sentences(sentences, suffix=3, rare=4, smoothing=smoothing)
    model = Interpolated(sentences)
    known = [word for sentence in sentences for word, _ in sentence]
    rng = np.random.default_rng(seed)
    for size in range(6):
        words = [str(rng.choice([*known, "abber", "Zing", "BAED", "x"])) for _ in range(size)]
        lexicon = [word_weights(sentences, word, longest=3, rare=4, smoothing=smoothing) for word in words]
        expected = all_taggings(lexicon, lambda a, b, c: math.log(model.probability(a, b, c)))
        for k in (1, 7, 10_000):
            found = tagger.tag(words, k)
            assert len(found) == min(k, len(expected))
            assert [score for _, score in found] == pytest.approx([weight for _, weight in expected[:k]])
            by_tags = dict(expected)
            assert len({sequence.tags for sequence in found.candidates}) == len(found)
            assert all(by_tags[own.sequence.tags] == pytest.approx(own.score) for own in found)
            assert all(sequence.words == tuple(words) for sequence in found.candidates)


@pytest.mark.parametrize("seed", range(30))
def test_ties_and_impossible_tags(seed):
    # Weights of few bits: sums are exact, and many sequences weigh the same.
    rng = np.random.default_rng(seed)
    names = ["x", "y", "z"]
    table = -rng.integers(0, 3, (4, 4, 4)) / 4.0
    table[rng.random((4, 4, 4)) < 0.15] = -np.inf
    number = {name: n for n, name in enumerate(names)} | {START: 3, END: 3}
    words = [{name: -float(rng.integers(0, 3)) / 4.0 for name in names[: rng.integers(1, 4)]} for _ in range(5)]
    listed = all_taggings(words, lambda a, b, c: float(table[number[a], number[b], number[c]]))
    expected = [(tags, weight) for tags, weight in listed if weight > -np.inf]
    arrays = (
        np.array([0, 5]),
        np.cumsum([0, *map(len, words)]),
        np.array([number[name] for word in words for name in word], np.int32),
        np.array([weight for word in words for weight in word.values()]),
    )
    expected.sort(key=lambda own: (-own[1], own[0]))  # equal ones by the first tag that differs
    for k in (1, 2, 3, 20, 1000):
        found = _core.tag_sentences(table.reshape(-1), 3, *arrays, k, 1, None)
        assert found["weight"].tolist() == [weight for _, weight in expected[:k]]
        assert [tuple(names[n] for n in row) for row in found["tag"].reshape(-1, 5)] == [
            tags for tags, _ in expected[:k]
        ]


def test_the_best_taggings_begin_every_longer_list():
    tagger = Tagger.from_sentences([[("the", "D"), ("saw", tag), ("the", "D")] for tag in "NVNX"])
    words = ["the", "the", "saw"] * 4 + ["the"]  # each saw may have each tag, at the same price
    found = tagger.tag(words, 100)
    scores = [own.score for own in found]
    assert scores == sorted(scores, reverse=True) and len(set(scores)) < len(scores) == 3**4
    for own, after in itertools.pairwise(found):
        assert own.score > after.score or own.sequence.tags < after.sequence.tags
    for k in range(1, 81):
        assert tagger.tag(words, k).best == found[:k]


@pytest.mark.parametrize("seed", range(10))
def test_interpolation_is_the_deleted_one(seed):
    sentences = random_sentences(seed, 1 + 5 * seed)
    sentences.append([("a", "D"), ("b", "N"), ("c", "V")])
    tagger = Tagger.from_sentences(sentences)
    model = Interpolated(sentences)
    assert interpolation_weights(tagger.trigrams) == pytest.approx(model.weights)
    n = len(tagger.tags)
    table = np.exp(tagger._weights).reshape((n + 1,) * 3)
    for a, first in enumerate([*tagger.tags, START]):
        for b, second in enumerate([*tagger.tags, START]):
            if first == START or second != START:
                expected = [model.probability(first, second, third) for third in [*tagger.tags, END]]
                assert table[a, b] == pytest.approx(expected)
                assert sum(expected) == pytest.approx(1.0)


def test_interpolation_by_hand():
    # Two sentences x y: of each trigram the whole context says all, once one is taken away.
    counts = count_trigrams([[0, 1], [0, 1]], 2)
    # start start x: 1/5, 1/3, 1; start x y: 1/5, 1, 1, a tie for two tags; x y end: 1/5, 1, 1.
    # "start" precedes x twice among two: (2 - 1) / (2 - 1).
    assert counts.sum() == 6 and counts[2, 2, 0] == counts[2, 0, 1] == counts[0, 1, 2] == 2
    assert interpolation_weights(counts) == pytest.approx((1 / 9, 7 / 9, 1 / 9))


def test_endings_by_hand():
    sentences = [[("walking", "V"), ("king", "N"), ("The", "D"), ("the", "D"), ("the", "D")]]
    lexicon = Tagger.from_sentences(sentences, suffix=3, rare=1).lexicon
    shares = np.array([0.6, 0.2, 0.2])  # D, N, V
    theta = shares.std(ddof=1)
    for _ in range(4):  # "", "g", "ng" and "ing" all have one N and one V
        shares = (np.array([0.0, 0.5, 0.5]) + theta * shares) / (1 + theta)
    assert lexicon.tag_shares("ring") == pytest.approx(shares)
    capital = (np.array([1.0, 0.0, 0.0]) + theta * np.array([0.6, 0.2, 0.2])) / (1 + theta)
    assert lexicon.tag_shares("Ring") == pytest.approx(capital)
    assert lexicon.tag_shares("ring") == pytest.approx([tag_shares(sentences, "ring", 3, 1)[tag] for tag in "DNV"])


def test_words_of_capital_letters_have_the_tags_of_small_ones():
    tagger = Tagger.from_sentences(TREES)
    tags, weights = tagger.lexicon.weights("WITH")
    assert tagger.tags[tags[np.argmax(weights)]] == "P"
    assert not tagger.knows("WITH") and tagger.knows("with")


def test_sentences_of_every_kind():
    tagger = Tagger.from_sentences(TREES)
    empty = tagger.tag([], 5)
    assert empty.candidates == [TaggedSequence([], [])]
    n = len(tagger.tags)
    assert empty[0].score == tagger._weights.reshape((n + 1,) * 3)[n, n, n] > -math.inf
    assert tagger.tag(["Flump", "42", "re-entries", "é", "😀"], 3)[0].sequence.words[1] == "42"
    long = tagger.tag(["the", "unheard", "saw"] * 100, 100)
    assert len(long) == 100 and len(set(long.candidates)) == 100
    assert tagger.tag_all([]) == []
    assert [tagged.score for tagged in long] == sorted((score for _, score in long), reverse=True)


def test_everything_that_has_tags():
    pairs = [[("the", "D"), ("cat", "N")], [("dogs", "N"), ("bark", "V")]]
    expected = Tagger.from_sentences(pairs)
    trees = ["(S (NP (D the) (N cat)))", Tree.from_brackets("(S (NP (N dogs)) (VP (V bark) (NP (-NONE- *T*-1))))")]
    sequences = [TaggedSequence(*zip(*sentence, strict=True)) for sentence in pairs]
    arcs = [DependencyTree(own.words, own.tags, [2, 0], ["x", "root"]) for own in sequences]
    for sentences in (trees, sequences, arcs, [tuple(pairs[0]), [["dogs", "N"], ["bark", "V"]]]):
        tagger = Tagger.from_sentences(sentences)
        assert tagger.tags == expected.tags and tagger.lexicon == expected.lexicon
        assert np.array_equal(tagger.trigrams, expected.trigrams)


def test_nltk_trees_have_tags():
    nltk = pytest.importorskip("nltk")
    tagger = Tagger.from_sentences([nltk.Tree.fromstring(TREES[0])])
    assert tagger.tags == ("D", "N", "V")


@pytest.mark.parametrize("seed", range(5))
def test_nltk_finds_the_same_best_tagging(seed):
    # A trigram model is a bigram model of pairs of tags; the end is a word of its own.
    probability = pytest.importorskip("nltk.probability")
    hmm = pytest.importorskip("nltk.tag.hmm")
    sentences = random_sentences(seed)
    tagger = Tagger.from_sentences(sentences, suffix=3)
    n = len(tagger.tags)
    table = np.exp(tagger._weights).reshape((n + 1,) * 3)
    pairs = [(a, b) for a in range(n + 1) for b in range(n + 1)]
    words = [*[word for sentence in sentences[:6] for word, _ in sentence][:7], "Zing", "abber"]
    output = {tag: {"END": 0.0} for tag in range(n)} | {n: {"END": 1.0}}
    for word in words:
        for tag, weight in zip(*tagger.lexicon.weights(word), strict=True):
            output[int(tag)][word] = math.exp(weight)
    distribution = probability.DictionaryProbDist
    model = hmm.HiddenMarkovModelTagger(
        [*words, "END"],
        pairs,
        probability.DictionaryConditionalProbDist(
            {(a, b): distribution({(b, c): table[a, b, c] for c in range(n + 1)}) for a, b in pairs}
        ),
        probability.DictionaryConditionalProbDist({(a, b): distribution(output[b]) for a, b in pairs}),
        distribution({(n, c): table[n, n, c] for c in range(n + 1)}),
    )
    found = model.best_path_simple([*words, "END"])
    assert tagger.tag(words)[0].sequence.tags == tuple(tagger.tags[tag] for _, tag in found[:-1])


def test_threads_and_progress():
    tagger = Tagger.from_sentences(random_sentences(1))
    sentences = [["Zing", "aed", "bs", "xyz"], [], ["ae"]] * 5
    one = tagger.tag_all(sentences, 20, n_threads=1)
    seen = []
    assert tagger.tag_all(sentences, 20, n_threads=3, progress=seen.append) == one
    assert tagger.tag_all(sentences, 20) == one == tagger.propose(sentences, 20)
    assert all(0.0 <= progress.fraction <= 1.0 and progress.what == "tagging" for progress in seen)
    assert [own[0] for own in one] == [own[0] for own in tagger.tag_all(sentences)]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Tagger.from_sentences([]), InputError, "needs at least one sentence"),
        (lambda: Tagger.from_sentences([[], TaggedSequence([], [])]), InputError, "needs at least one sentence"),
        (lambda: Tagger.from_sentences(["(S the (N cat))"]), InputError, "Sentence 0 has a word without a tag"),
        (lambda: Tagger.from_sentences([[("the", 3)]]), TypeError, r"tags\[0\] must be a str"),
        (lambda: Tagger.from_sentences([["the", "cat"]]), TypeError, "as_tree converts"),
        (lambda: Tagger.from_sentences([[("w", str(n)) for n in range(500)]]), InputError, "500 different tags"),
        (
            lambda: Tagger.from_sentences(TREES, suffix=-1),
            ValueError,
            "suffix must be an integer of at least 0, got -1",
        ),
        (lambda: Tagger.from_sentences(TREES, smoothing=math.nan), ValueError, "smoothing must be"),
        (lambda: Tagger.from_sentences(TREES).tag("the cat"), TypeError, r"Use text.split\(' '\)"),
        (lambda: Tagger.from_sentences(TREES).tag(["the", 3]), InputError, "Sentence 0 must contain words, got 3"),
        (lambda: Tagger.from_sentences(TREES).tag(["the", ""]), InputError, "Sentence 0 must contain words"),
        (lambda: Tagger.from_sentences(TREES).tag(["the"], 0), ValueError, "k must be a positive integer.*got 0"),
        (lambda: Tagger.from_sentences(TREES).tag(["the"], 1.5), ValueError, "k must be a positive integer"),
        (lambda: Tagger.from_sentences(TREES).tag(["the"], True), ValueError, "k must be a positive integer"),
        (lambda: Tagger.from_sentences(TREES).tag(["the"], 10**30), ValueError, "k must be a positive integer"),
        (lambda: Tagger.from_sentences(TREES).tag(["the"], n_threads=-3), ValueError, "n_threads must be a positive"),
        (
            lambda: tag_accuracy([TaggedSequence(["a"], ["N"])], []),
            InputError,
            "1 gold sentences and 0 tagged ones",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_saved_taggers_tag_the_same(tmp_path):
    tagger = Tagger.from_sentences(random_sentences(3), suffix=np.int64(2), rare=3, smoothing=1)
    tagger.save(tmp_path / "tagger.safetensors")
    again = Tagger.load(tmp_path / "tagger.safetensors")
    sentence = ["Zing", "aed", "bs", "xyz"]
    assert again.tag(sentence, 50) == tagger.tag(sentence, 50)
    assert repr(again) == repr(tagger) and again.lexicon == tagger.lexicon


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays, header: header["$file"].update(version=2), "version 2"),
        (lambda arrays, header: header["$file"].update(kind="PCFG"), "holds a PCFG, no Tagger"),
        (lambda arrays, header: header.update(tags=["N", "N"]), "not all different"),
        (lambda arrays, header: header.update(tags=[str(n) for n in range(500)]), "500 tags"),
        (lambda arrays, header: header.update(suffix=-1), "suffix is out of range"),
        (lambda arrays, header: header.update(rare=True), "rare is out of range"),
        (lambda arrays, header: header.update(smoothing="1"), "smoothing is out of range"),
        (lambda arrays, header: header.update(words=None), "no counts"),
        (lambda arrays, header: header["words"].update(cat={"Z": 1}), "unknown tag"),
        (lambda arrays, header: header["words"].update(cat={"N": 2**63}), "too large"),
        (lambda arrays, header: header["words"].update(cat={"N": 7}), "do not belong together"),
        (lambda arrays, header: arrays.update(trigram=arrays["trigram"] + 10), "out of range"),
        (lambda arrays, header: arrays.update(count=arrays["count"][:-1]), "three tags and one count"),
        (lambda arrays, header: arrays.update(count=-arrays["count"]), "count of a trigram"),
        (lambda arrays, header: arrays.update(trigram=arrays["trigram"] * 0), "stands there twice"),
        (lambda arrays, header: arrays.pop("trigram"), "missing"),
    ],
)
def test_damaged_files(tmp_path, change, message):
    path = tmp_path / "tagger.safetensors"
    Tagger.from_sentences(TREES).save(path)
    rewrite(path, lambda state, arrays: change(arrays, state))
    with pytest.raises(InputError, match=message):
        Tagger.load(path)


def test_accuracy():
    gold = [TaggedSequence(["a", "b"], ["x", "y"]), TaggedSequence(["c"], ["x"]), TaggedSequence([], [])]
    found = [TaggedSequence(["a", "b"], ["x", "x"]), TaggedSequence(["c"], ["x"]), TaggedSequence([], [])]
    assert tag_accuracy(gold, found) == pytest.approx(200 / 3)
    assert tag_accuracy(gold, found, among="b".__eq__) == 0.0
    assert tag_accuracy([], []) == 0.0
    with pytest.raises(InputError, match="Sentence 0: the tagged words are others"):
        tag_accuracy(gold[:1], gold[1:2])


def test_questions_about_flights(data):
    train, test = (read_conllu(data / f"atis_ud/en_atis-ud-{part}.conllu.gz") for part in ("train", "test"))
    tagger = Tagger.from_sentences(train)
    found = tagger.tag_all([tree.words for tree in test], 20)
    assert tag_accuracy(test, [own[0].sequence for own in found]) > 98.0
    best = [max(own.candidates, key=lambda x: tag_accuracy([tree], [x])) for tree, own in zip(test, found, strict=True)]
    assert tag_accuracy(test, best) > 99.5
