"""Words, n-grams and subsequences: mined, listed and explained against all features, listed from the definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.reference.subsequence_weights import ngram_features, subsequence_features, word_features

import espalier as es
from candidate_groups import dependency_groups, groups_of, tagged_groups
from espalier import BagOfWords, KernelSVC, Normalized, PerLabel, Spectrum, Subsequence, fixed
from espalier.errors import MemoryBudgetError
from espalier.fragments import FragmentVectorizer, mine_fragments
from espalier.kernels import Idf
from espalier.kernels.inputs import Inputs
from espalier.spaces import NgramDictionary, Term

WORDS = ("the", "old", "cat", "dog", "sat")
MANY = 10**6


def texts(seed, n, longest=8):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, int(rng.integers(0, longest)))) for _ in range(n)]


IDF = Idf.fit(texts(99, 9))
DECAY = {"the": 0.3, "cat": 0.0}
MATCH = {"dog": 1.5}
CASES = {
    "words": (BagOfWords(), word_features()),
    "words, once": (BagOfWords("binary"), word_features(binary=True)),
    "words by rarity": (BagOfWords(idf=IDF), word_features(idf=IDF)),
    "words with weights": (
        BagOfWords(weight=PerLabel(2.0, values={"cat": 0.5})),
        word_features(lambda x: 0.5 if x == "cat" else 2.0),
    ),
    "bigrams": (Spectrum(2), ngram_features({2: 1.0})),
    "n-grams": (Spectrum(3, shortest=1, order_weights=(1.0, 0.5, 2.0)), ngram_features({1: 1.0, 2: 0.5, 3: 2.0})),
    "subsequences": (
        Subsequence(3, 0.5, 0.7, (1.0, 0.3, 2.0)),
        subsequence_features(lambda x: 0.5, lambda x: 0.7, (1.0, 0.3, 2.0)),
    ),
    "subsequences by symbol": (
        Subsequence(4, PerLabel(fixed(0.5), values=DECAY), PerLabel(0.7, values=MATCH)),
        subsequence_features(lambda x: DECAY.get(x, 0.5), lambda x: MATCH.get(x, 0.7), (1.0,) * 4),
    ),
    "runs as subsequences": (
        Subsequence(3, fixed(0), 0.7),
        subsequence_features(lambda x: 0.0, lambda x: 0.7, (1.0,) * 3),
    ),
}


def weights_of(features, rows, coefficients, norm=lambda f: 1.0):
    out = {}
    for row, coefficient in zip(rows, coefficients, strict=True):
        own = features(row.split())
        for name, value in own.items():
            out[name] = out.get(name, 0.0) + coefficient * value / norm(own)
    return out


def root(features):
    return math.sqrt(sum(value**2 for value in features.values())) or 1.0


@pytest.mark.parametrize("name", CASES)
def test_features_multiply_to_the_kernel(name):
    kernel, features = CASES[name]
    rows = texts(1, 7)
    listed = [features(row.split()) for row in rows]
    product = [[sum(value * b.get(key, 0.0) for key, value in a.items()) for b in listed] for a in listed]
    assert kernel(rows) == pytest.approx(np.array(product), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n", [3, MANY])
def test_mining_lists_the_heaviest(name, n):
    kernel, features = CASES[name]
    rows = texts(2, 9)
    coefficients = np.random.default_rng(3).normal(size=len(rows))
    coefficients[4] = 0.0
    true = weights_of(features, rows, coefficients)
    (mined,) = mine_fragments(coefficients, rows, n, kernel=kernel)
    found = {feature.symbols: weight for feature, weight in mined}
    assert len(found) == len(mined) == min(n, len([w for w in true.values() if w]))
    assert found == {name: pytest.approx(true[name], rel=1e-10) for name in found}
    heaviest = sorted(map(abs, true.values()), reverse=True)[:n]
    assert np.abs(mined.weights) == pytest.approx(heaviest[: len(mined)], rel=1e-10)
    assert mined.proven and mined.bound == (pytest.approx(heaviest[-1]) if n == 3 else 0.0)
    assert mined.fragments.names() == [" ".join(symbols) for symbols in found]


@pytest.mark.parametrize("name", CASES)
def test_listed_features_are_those_of_the_definition(name):
    kernel, features = CASES[name]
    rows = texts(4, 8)
    true = [features(row.split()) for row in rows]
    names = sorted({key for own in true for key in own} | {("unseen",), ("the", "unseen")})
    listed = NgramDictionary.from_ngrams(names)
    found = Term("", kernel).features(listed, Inputs.of(rows), "kernel", n_threads=1, memory=None).toarray()
    assert found == pytest.approx(np.array([[own.get(key, 0.0) for key in names] for own in true]), rel=1e-10)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("normal", [False, True])
def test_features_and_words_of_an_example_add_up_to_its_score(name, normal):
    kernel, features = CASES[name]
    rows, new = [row for row in texts(5, 20) if len(row.split()) > 2], "cat the dog sat on the old cat"
    norm = root if normal else (lambda own: 1.0)
    model = KernelSVC(2.0 * (Normalized(kernel) if normal else kernel)).fit(rows, [len(row) > 20 for row in rows])
    dual = model.dual_form()
    true = weights_of(features, [rows[k] for k in model.support_], 2.0 * dual.coefficients[0], norm)
    own = features(new.split())
    added = {key: true[key] * value / norm(own) for key, value in own.items() if true.get(key)}
    why = es.explain(model, new, n=MANY)
    score = float(model.decision_function([new])[0])
    assert why.value == pytest.approx(score)
    assert why.intercept + sum(added.values()) == pytest.approx(score)
    assert {reason.fragment.symbols: reason.contribution for reason in why} == pytest.approx(added, rel=1e-8)
    assert {reason.fragment.symbols: reason.weight for reason in why} == pytest.approx(
        {key: true[key] for key in added}, rel=1e-8
    )
    (shares,) = why.trees
    assert shares.total == pytest.approx(sum(added.values())) and not why.left_out and not why.elsewhere
    if len(kernel._subsequence_weights(["a"]).order) == 1 or name == "bigrams":
        last = shares.shares[1:]
        expected = np.zeros(8)
        for k, word in enumerate(new.split()):
            if name == "bigrams":
                for pair in (tuple(new.split()[k : k + 2]), tuple(new.split()[max(k - 1, 0) : k + 1])):
                    expected[k] += 0.5 * true.get(pair, 0.0) / norm(own)
            else:
                expected[k] = added.get((word,), 0.0) / new.split().count(word)
        assert last == pytest.approx(expected)


def test_trees_and_words_are_explained_side_by_side():
    trees = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(S (A c) (B c))"]
    model = KernelSVC(es.SubsetTree(0.5) + BagOfWords()).fit(trees, ["yes", "yes", "no", "no"])
    mined = mine_fragments(model, n=2)
    assert [part.fragments.names() for part in mined] == [["(A a)", "(A c)"], ["a", "c"]] and not mined.left_out
    why = es.explain(model, "(S (A a) (B b))")
    assert why.kind == "feature" and [own.item for own in why.trees] == ["tree", "text"]
    assert why.intercept + sum(own.total for own in why.trees) == pytest.approx(why.value)
    words = why.trees[1]
    assert [node.label for node, share in zip(words.tree, words.shares, strict=True) if share] == ["a", "b"]
    page = why.to_html()
    assert "The text" in page and "Every n-gram is shared equally by its words." in page


def test_a_page_shows_words_and_where_they_stand():
    rows = ["the cat sat", "the old cat", "a dog sat", "the dog"]
    why = es.explain(KernelSVC(BagOfWords()).fit(rows, ["cat", "cat", "dog", "dog"]), n=3)
    assert {str(reason.fragment) for reason in why} > {"cat", "dog"}
    assert "3 n-grams" in repr(why) and "n-gram" in why.to_html()
    assert all(reason.example.tree[reason.example.position].label == str(reason.fragment) for reason in why)
    assert why.to_frame()["fragment"].tolist() == [str(reason.fragment) for reason in why]


def test_soft_matches_have_no_features():
    table = es.kernels.SimilarityTable(("cat", "dog"), [[1.0, 0.5], [0.5, 1.0]])
    kernel = Subsequence(2, similarity=table)
    assert kernel.feature_space() is None
    with pytest.raises(es.InputError, match="cannot be listed"):
        mine_fragments([1.0], ["a cat"], kernel=kernel)


def test_too_many_subsequences_are_one_clear_error():
    text = [" ".join(f"w{k}" for k in range(60))]
    with pytest.raises(MemoryBudgetError, match="max_size"):
        mine_fragments([1.0], text, kernel=Subsequence(4), memory="1 MiB")
    (mined,) = mine_fragments([1.0], text, 10, kernel=Subsequence(4), max_size=2, memory="1 MiB")
    assert mined.proven and mined.n_visited == 60 + 60 * 59 // 2


def test_a_limit_of_visits_says_that_nothing_is_known():
    (mined,) = mine_fragments([1.0], ["a b c d"], kernel=Subsequence(4), max_visits=3)
    assert not mined.proven and mined.bound == np.inf


def test_words_make_vectors_that_multiply_to_the_kernel(tmp_path):
    rows = ["the cat sat", "the old cat", "a dog sat", "the dog", "a cat"]
    kernel = Normalized(Spectrum(2, shortest=1))
    vectorizer = FragmentVectorizer(kernel, by="frequency").fit(rows)
    found = vectorizer.transform(rows).toarray()
    assert found @ found.T == pytest.approx(kernel(rows))
    assert "the cat" in vectorizer.get_feature_names_out().tolist()
    counts = FragmentVectorizer(BagOfWords(idf=IDF), by="frequency", values="count").fit(rows)
    names = counts.get_feature_names_out().tolist()
    assert counts.transform(["cat the cat new"]).toarray()[0][names.index("cat")] == 2.0
    vectorizer.save(tmp_path / "words")
    again = FragmentVectorizer.load(tmp_path / "words")
    assert (again.transform(rows) != vectorizer.transform(rows)).nnz == 0


@pytest.mark.parametrize("of", ["characters", "tags"])
def test_characters_and_tags_are_named_and_located(of):
    items = [es.TaggedSequence(["the", "cat"], ["D", "N"]), es.TaggedSequence(["cats", "sat"], ["N", "V"])]
    model = KernelSVC(Spectrum(2, of=of)).fit(items, ["x", "y"])
    why = es.explain(model, items[0], n=3)
    named = {str(reason.fragment) for reason in why}
    assert named == ({"D N"} if of == "tags" else {"th", "he", "ec"})
    assert why.intercept + why.trees[0].total == pytest.approx(why.value)
    (mined,) = mine_fragments(model, n=50)
    drawn = why.trees[0].tree
    for feature, _ in mined:
        for place in Term("", Spectrum(2, of=of)).space.locate(feature, drawn):
            assert [drawn[node].label for node in feature.nodes(drawn, place)] == list(feature.symbols)


@pytest.mark.parametrize(
    ("kernel", "groups"),
    [
        (Spectrum(2, shortest=1, of="tags"), tagged_groups),
        (Normalized(Subsequence(3, of="tags")) + es.Tagging(), tagged_groups),
        (es.SubsetTree(0.4) + Spectrum(2, of="tags"), groups_of),
        (es.SubsetTree(0.4) + Spectrum(3, of="characters"), groups_of),
        (Spectrum(2, of="tags") + es.DependencySubtree(), dependency_groups),
    ],
    ids=["tags", "tags with gaps", "trees and tags", "trees and characters", "tags of dependency trees"],
)
def test_candidates_are_compared_by_their_ngrams(kernel, groups):
    model = es.VotedPerceptron(kernel, score_weight=0.2, random_state=0).fit(groups(0))
    for group in groups(1, 4):
        why = es.explain(model, group, winner=0, loser=1, n=MANY)
        values = model.decision_function([group])[0]
        assert why.value == pytest.approx(values[0] - values[1])
        assert why.from_score + why.of_trees + why.elsewhere == pytest.approx(why.value)
        for reason in why:
            for tree, places in zip(why.trees, (reason.in_winner, reason.in_loser), strict=True):
                if reason.fragment.kind == "n-gram" and reason.fragment.of == "tags":
                    for place in places:
                        nodes = reason.fragment.nodes(tree.tree, place)
                        assert tuple(tree.tree[node].label for node in nodes) == reason.fragment.symbols
        assert "<svg" in why.to_svg() and "<svg" in why.to_html()
