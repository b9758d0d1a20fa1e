"""Trees as sparse vectors: the kernel as a product of features, streams, files, and linear models."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from tests.random_trees import random_trees
from tests.reference.fragment_weights import brackets
from tests.reference.subset_tree import count_fragments
from tests.saved_files import rewrite

import espalier as es
from espalier.demo import generate
from espalier.fragments import FragmentVectorizer
from espalier.jobs import Processes

TREES, NEW = (
    [tree for tree in random_trees(seed, 80, max_size=11) if tree.children][:n] for seed, n in ((3, 30), (4, 10))
)
LABELS = np.array(["many" if str(tree).count("N") > 1 else "few" for tree in TREES])
DEMO = generate(160, seed=2)


# Features


@pytest.mark.parametrize(
    "kernel",
    [
        es.SubsetTree(0.3),
        es.SubsetTree(es.PerLabel(0.5, values={"S": 1.3}), 0.7, lone_leaves=True),
        es.Subtree(0.6),
        es.Normalized(es.SubsetTree(0.5, 1.4, max_depth=2)),
        2.0 * es.Normalized(es.SubsetTree(0.5)) + es.Subtree(0.2),
        es.Normalized(es.SubsetTree(0.3) + 0.5 * es.Subtree(0.9)),
        es.Normalized(es.PartialTree(0.4, 0.3)),
        es.PartialTree(es.PerLabel(0.4, values={"S": 1.2}), 0.5) + 2.0 * es.SubsetTree(0.3),
    ],
    ids=repr,
)
def test_the_product_of_all_features_is_the_kernel(kernel):
    vectorizer = FragmentVectorizer(kernel, by="frequency", n_fragments=10**6, max_size=11).fit(TREES + NEW)
    known, new = vectorizer.transform(TREES), vectorizer.transform(NEW)
    assert issparse(known) and known.shape == (len(TREES), vectorizer.n_features_out_)
    assert (known @ known.T).toarray() == pytest.approx(kernel(TREES), rel=1e-9, abs=1e-12)
    assert (new @ known.T).toarray() == pytest.approx(kernel(NEW, TREES), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("values", ["kernel", "count", "binary"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_weights_are_summed_without_the_features(values, n_threads):
    kernel = es.Normalized(es.SubsetTree(0.4, on="a")) + 2.0 * es.PartialTree(on="b")
    table = {"a": TREES, "b": TREES[::-1]}
    vectorizer = FragmentVectorizer(kernel, n_fragments=40, max_size=3, values=values, n_threads=n_threads)
    vectorizer.fit(table, LABELS)
    twice = [es.Tree("S", [tree, tree]) for tree in TREES[:5]]  # the same subtree more than once
    new = {"a": [*NEW, "(S unseen (NEW words))", *twice], "b": [*NEW[::-1], "(S unseen)", *twice]}
    weights = np.random.default_rng(0).normal(size=(vectorizer.n_features_out_, 3))
    features = vectorizer.transform(new)
    np.testing.assert_allclose(vectorizer.weighed(new, weights), features @ weights, rtol=1e-12, atol=1e-12)
    one = vectorizer.weighed(new, weights[:, 1])
    assert one.shape == (len(NEW) + 6,)
    np.testing.assert_allclose(one, features @ weights[:, 1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(3,), (3, 1), ()])
def test_weights_must_fit_the_features(shape):
    vectorizer = FragmentVectorizer(n_fragments=5).fit(TREES, LABELS)
    with pytest.raises(ValueError, match="one row for each of 5 features"):
        vectorizer.weighed(NEW, np.zeros(shape))


def test_columns_stand_side_by_side_under_their_names():
    table = {"a": TREES, "b": TREES[::-1]}
    kernel = es.SubsetTree(0.3, on="a") + es.Subtree(0.4, on="b")
    vectorizer = FragmentVectorizer(kernel, by="frequency", n_fragments=10**6).fit(table)
    features = vectorizer.transform(table)
    assert (features @ features.T).toarray() == pytest.approx(kernel(table), rel=1e-9)
    names = vectorizer.get_feature_names_out()
    assert len(names) == features.shape[1] and {name.split(":")[0] for name in names} == {"a", "b"}


@pytest.mark.parametrize(("limits", "keep"), [({"max_size": 2}, 2), ({}, 3)])
def test_fragments_by_frequency_are_those_of_listing(limits, keep):
    kernel = es.SubsetTree(0.3, max_depth=None if limits else 2)
    vectorizer = FragmentVectorizer(kernel, by="frequency", n_fragments=10**6, values="count", **limits).fit(TREES)
    total: dict[str, int] = {}
    for tree in TREES:
        for fragment, count in count_fragments(tree, None if limits else 2, False).items():
            text = brackets(fragment)
            if not limits or es.Fragment.from_brackets(text).n_productions <= keep:
                total[text] = total.get(text, 0) + count
    found = dict(zip(vectorizer.get_feature_names_out(), vectorizer.transform(TREES).sum(axis=0).A1, strict=True))
    assert found == total
    few = FragmentVectorizer(kernel, by="frequency", n_fragments=5, **limits).fit(TREES)
    assert sorted((total[name] for name in few.get_feature_names_out()), reverse=True) == sorted(total.values())[:-6:-1]


def test_binary_features_say_whether():
    vectorizer = FragmentVectorizer(by="frequency", n_fragments=20, values="binary").fit(TREES)
    assert set(vectorizer.transform(TREES).data) == {1.0}


# Learning


def test_parts_are_mined_apart_and_joined():
    learner = es.KernelSVC(es.SubsetTree(0.4), C=10.0)
    with Processes(2) as executor:
        vectorizer = FragmentVectorizer(learner=learner, n_fragments=20, n_splits=3)
        vectorizer.fit(TREES, LABELS, executor=executor)
    assert len(vectorizer.mined_) == 3
    names = {name for mined in vectorizer.mined_ for part in mined for name in part.fragments.names()}
    assert set(vectorizer.get_feature_names_out()) == names
    again = FragmentVectorizer(learner=learner, n_fragments=20, n_splits=3).fit(TREES, LABELS)
    assert (again.get_feature_names_out() == vectorizer.get_feature_names_out()).all()


def test_each_class_has_columns():
    labels = [str(tree.label) for tree in TREES]
    vectorizer = FragmentVectorizer(n_fragments=15).fit(TREES, labels)
    (mined,) = vectorizer.mined_
    names = vectorizer.get_feature_names_out()
    for part in mined:
        assert set(names[vectorizer.columns_of(part.name)]) == set(part.fragments.names())
    with pytest.raises(KeyError, match="Nothing was mined for 'X'"):
        vectorizer.columns_of("X")


@pytest.mark.parametrize("learner", [es.KernelSVR(es.SubsetTree(0.3)), es.GPRegressor(es.SubsetTree(0.3))], ids=repr)
def test_any_dual_learner_will_do(learner):
    y = np.array([tree.size for tree in TREES], float)
    pipeline = make_pipeline(FragmentVectorizer(learner=learner, n_fragments=200), Ridge(0.01)).fit(TREES, y)
    assert np.corrcoef(pipeline.predict(TREES), y)[0, 1] > 0.9


def test_pipelines_and_searches_work():
    pipeline = make_pipeline(FragmentVectorizer(n_fragments=300), LinearSVC(C=10.0))
    search = GridSearchCV(pipeline, {"fragmentvectorizer__values": ["kernel", "binary"]}, cv=3)
    search.fit(DEMO["tree"], DEMO["label"])
    assert search.best_score_ > 0.8
    assert clone(pipeline).get_params()["fragmentvectorizer__n_fragments"] == 300


def test_an_iterator_is_read_in_chunks():
    vectorizer = FragmentVectorizer(n_fragments=300, chunk_size=7).fit(DEMO["tree"], DEMO["label"])
    whole = vectorizer.transform(DEMO["tree"])
    assert abs(vectorizer.transform(iter(DEMO["tree"])) - whole).max() < 1e-12
    assert vectorizer.transform(iter([])).shape == (0, whole.shape[1])
    blocks = list(vectorizer.stream(iter(DEMO["tree"])))
    assert [block.shape[0] for block in blocks] == [7] * 22 + [6]
    model = SGDClassifier(random_state=0)
    labels = np.array(DEMO["label"])
    for k, block in enumerate(blocks):
        model.partial_fit(block, labels[7 * k : 7 * k + 7], classes=np.unique(labels))
    assert (model.predict(whole) == labels).mean() > 0.5


def test_unseen_labels_and_productions_are_no_features():
    vectorizer = FragmentVectorizer(n_fragments=50).fit(TREES, LABELS)
    assert vectorizer.transform(["(Q (R s))"]).nnz == 0


# Files


@pytest.fixture
def saved(tmp_path):
    kernel = (
        2.0 * es.Normalized(es.SubsetTree(es.PerLabel(0.3, values={"S": 0.5})))
        + es.Subtree(0.3, lone_leaves=True)
        + es.PartialTree(0.2)
    )
    vectorizer = FragmentVectorizer(kernel, n_fragments=60).fit(TREES, LABELS)
    path = tmp_path / "fragments.safetensors"
    vectorizer.save(path)
    return vectorizer, path


def test_a_saved_vectorizer_transforms_the_same(saved):
    vectorizer, path = saved
    for again in (FragmentVectorizer.load(path), pickle.loads(pickle.dumps(vectorizer))):
        assert (again.get_feature_names_out() == vectorizer.get_feature_names_out()).all()
        assert (again.transform(NEW) != vectorizer.transform(NEW)).nnz == 0
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def put(place, key, value):
    place[key] = value


DAMAGES = {
    "another version": (lambda h, a: put(h["$file"], "version", 99), "version 99"),
    "another format": (lambda h, a: put(h["$file"], "format", "x"), "not one that Espalier saved"),
    "a kernel that runs code": (lambda h, a: put(h["terms"][0]["kernel"], "$kind", "exit"), "holds a 'exit'"),
    "a kernel over vectors": (lambda h, a: put(h["terms"][0], "kernel", {"$kind": "RBF"}), "cannot be listed"),
    "no labels": (lambda h, a: h["terms"][0].pop("labels"), "damaged"),
    "too few labels": (lambda h, a: put(h["terms"][0], "labels", ["S"]), "a label that is not listed"),
    "no settings": (lambda h, a: h.pop("settings"), "damaged"),
    "other numbers": (lambda h, a: put(a, "terms[0].code", a["terms[0].code"].astype(np.int64)), "vector of int32"),
    "a production out of range": (lambda h, a: put(a["terms[0].code"], 0, 10**6), "a production that is not listed"),
    "a code below -1": (lambda h, a: put(a["terms[0].code"], 0, -7), "a production that is not listed"),
    "a fragment cut off": (lambda h, a: put(a["terms[0].start"], 1, a["terms[0].start"][1] + 1), "cut"),
    "a root left unexpanded": (lambda h, a: put(a["terms[0].code"], 0, -1), "cut off"),
    "starts that fall": (lambda h, a: put(a["terms[0].start"], 1, -5), "does not cut"),
    "an array missing": (lambda h, a: a.pop("terms[0].code"), "damaged"),
    "a node two below another": (lambda h, a: put(a["terms[2].code"], 2, 2), "not a tree"),
    "a root below a root": (lambda h, a: put(a["terms[2].code"], 0, 1), "not a tree"),
    "a label of partial trees": (lambda h, a: put(a["terms[2].code"], 1, 10**6), "a label that is not listed"),
    "a negative part": (lambda h, a: put(a["terms[0].production_part"], 1, -3), "damaged"),
    "starts that wrap around": (lambda h, a: _wrap_around(a, "terms[0].start"), "does not cut"),
    "production starts that wrap around": (lambda h, a: _wrap_around(a, "terms[0].production_start"), "does not cut"),
    "another label's production": (lambda h, a: _rename_head(h, a), "a production of another label"),
    "a label twice": (lambda h, a: put(h["terms"][0]["labels"], 0, h["terms"][0]["labels"][1]), "listed twice"),
    "no terms": (lambda h, a: put(h, "terms", []), "no fragments"),
    "terms by name": (lambda h, a: put(h, "terms", {"0": h["terms"][0]}), "damaged"),
    "a negative scale": (lambda h, a: put(h["terms"][0], "scale", -1.0), "scale is out of range"),
    "a scale that is no number": (lambda h, a: put(h["terms"][0], "scale", math.nan), "scale is out of range"),
    "a scale beyond numbers": (lambda h, a: put(h["terms"][0], "scale", 10**400), "damaged"),
    "values that nobody knows": (lambda h, a: put(h["settings"], "values", ["kernel"]), "damaged"),
}


def _wrap_around(arrays, name):
    # Every difference is positive to whoever subtracts in 64 bits.
    arrays[name] = np.array([0, 2**63 - 1, -(2**63), -1, arrays[name][-1]])


def _rename_head(header, arrays):
    """Give a production that stands below a root a label of its own."""
    labels = header["terms"][0]["labels"]
    labels.append("NEW")
    code = arrays["terms[0].code"]
    is_root = np.isin(np.arange(len(code)), arrays["terms[0].start"])
    below = code[(code >= 0) & ~is_root][0]
    arrays["terms[0].production_part"][arrays["terms[0].production_start"][below]] = len(labels) - 1


def test_partial_trees_that_told_words_from_nodes_load_with_a_warning(tmp_path):
    old, path = Path(__file__).parents[2] / "golden" / "files" / "partial.safetensors", tmp_path / "x"
    path.write_bytes(old.read_bytes())

    def mark_words(header, arrays):
        code, start = arrays["2.code"], arrays["2.start"]
        code[start[1:] - 1] |= 1  # the last node of a fragment has no children

    rewrite(path, mark_words)
    with pytest.warns(UserWarning, match="holds partial trees of Espalier 0.1.*Fit the model again"):
        again = FragmentVectorizer.load(path)
    assert np.array_equal(again.get_feature_names_out(), FragmentVectorizer.load(old).get_feature_names_out())


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_files_are_one_clear_error(saved, name):
    change, message = DAMAGES[name]
    rewrite(saved[1], change)
    with pytest.raises(es.InputError, match=message):
        FragmentVectorizer.load(saved[1])


def test_a_file_of_something_else_is_one_clear_error(tmp_path):
    from safetensors.numpy import save

    path = tmp_path / "x"
    path.write_bytes(b"not a file of arrays")
    with pytest.raises(es.InputError, match="not a safetensors file"):
        FragmentVectorizer.load(path)
    for header in ("", "no JSON", "[]", "[" * 100_000):
        path.write_bytes(save({"0.code": np.zeros(2, np.int32)}, metadata={"espalier": header}))
        with pytest.raises(es.InputError, match="not one that Espalier saved"):
            FragmentVectorizer.load(path)
    # bfloat16, which numpy does not have
    path.write_bytes(save({"0.code": np.zeros(2, np.float16)}).replace(b'"F16"', b'"BF16"').replace(b"}} ", b"}}"))
    with pytest.raises(es.InputError, match=r"not a file that Espalier saved: it has numbers of type .*BF16"):
        FragmentVectorizer.load(path)


def test_hyperparameters_are_saved_with_bounds_and_priors(tmp_path):
    from espalier.gp import LogNormal

    decay = es.Learned(0.3, bounds=(0.1, 0.9), prior=LogNormal(0.4, 1.0))
    kernel = es.Normalized(es.SubsetTree(es.PerLabel(decay, values={"S": 0.5}), decay)) + es.kernels.Scaled(
        es.Subtree(), decay
    )
    vectorizer = FragmentVectorizer(kernel, by="frequency", n_fragments=20, max_size=3).fit(TREES)
    vectorizer.save(tmp_path / "x")
    again = FragmentVectorizer.load(tmp_path / "x")
    assert [own.term for own in again.terms_] == [own.term for own in vectorizer.terms_]
    assert (again.transform(NEW) != vectorizer.transform(NEW)).nnz == 0


def test_a_kernel_that_no_file_can_name_is_one_clear_error(tmp_path):
    @dataclass(frozen=True, repr=False)
    class Same(es.Kernel):
        def pair(self, x, y):
            return float(x == y)

    kernel = es.Normalized(es.SubsetTree() + Same())
    vectorizer = FragmentVectorizer(kernel, by="frequency", n_fragments=20, max_size=3).fit(TREES)
    with pytest.raises(es.InputError, match=r"Same is not a class that Espalier can save"):
        vectorizer.save(tmp_path / "x")
    assert not list(tmp_path.iterdir())


# Mistakes


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"n_fragments": 0}, LABELS, "n_fragments must be a positive integer, got 0"),
        ({"n_splits": True}, LABELS, "n_splits must be a positive integer"),
        ({"by": "size"}, LABELS, "by must be 'weight' or 'frequency'"),
        ({"values": "tfidf"}, LABELS, "values must be 'kernel', 'count' or 'binary'"),
        ({"strategy": "best"}, LABELS, "strategy must be"),
        ({}, None, "pass y, or use by='frequency'"),
        ({"kernel": es.RBF()}, LABELS, "cannot be listed"),
        ({"kernel": es.SmoothedPartialTree(es.kernels.Exact())}, LABELS, "cannot be listed"),
        ({"kernel": es.SubsetTree() * es.Subtree()}, LABELS, "not those of products"),
    ],
)
def test_mistakes_are_one_clear_error(options, y, message):
    with pytest.raises(ValueError, match=message):
        FragmentVectorizer(**options).fit(TREES, y)


def test_a_kernel_must_be_one():
    with pytest.raises(TypeError, match="kernel must be a kernel"):
        FragmentVectorizer("SubsetTree").fit(TREES, LABELS)


def test_trees_without_productions_have_no_fragments():
    with pytest.raises(es.InputError, match="No fragment was found"):
        FragmentVectorizer(es.SubsetTree(), by="frequency").fit(["(a)", "(b)"])


def test_nothing_works_before_fitting(tmp_path):
    for call in (
        lambda v: v.transform(TREES),
        lambda v: v.get_feature_names_out(),
        lambda v: v.save(tmp_path / "x"),
        lambda v: next(v.stream(TREES)),
    ):
        with pytest.raises(NotFittedError):
            call(FragmentVectorizer())


@pytest.mark.parametrize("n_splits", [1, 2])
def test_masked_targets_are_refused(n_splits):
    masked = np.ma.masked_array(LABELS, mask=np.arange(len(LABELS)) == 3)
    with pytest.raises(es.InputError, match=r"y is masked in 1 rows, the first is row 3"):
        FragmentVectorizer(n_fragments=10, n_splits=n_splits).fit(TREES, masked)
    FragmentVectorizer(n_fragments=10, max_size=2, by="frequency").fit(TREES, masked)  # which does not read targets


def test_masked_weights_are_refused():
    vectorizer = FragmentVectorizer(n_fragments=10).fit(TREES, LABELS)
    weights = np.ma.masked_array(np.ones(vectorizer.n_features_out_), mask=True)
    with pytest.raises(es.InputError, match="weights is masked in"):
        vectorizer.weighed(TREES, weights)


@pytest.mark.parametrize("n_splits", [1, 2])
def test_missing_targets_are_refused(n_splits):
    labels = LABELS.tolist()
    labels[3] = None
    with pytest.raises(es.InputError, match=r"Row 3 of y has no label, got None"):
        FragmentVectorizer(n_fragments=10, n_splits=n_splits).fit(TREES, labels)


@pytest.mark.parametrize("n_splits", [1, 3])
@pytest.mark.parametrize("by", ["weight", "frequency"])
def test_progress_rises_to_one(n_splits, by):
    told = []
    FragmentVectorizer(by=by, n_splits=n_splits, n_fragments=20, max_size=3, progress=told.append).fit(TREES, LABELS)
    fractions = [done.fraction for done in told]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert {done.what for done in told} == {"fitting FragmentVectorizer"}


def test_loaded_vectorizer_knows_its_settings_and_its_training(tmp_path):
    kernel = es.Normalized(es.SubsetTree(0.3))
    vectorizer = FragmentVectorizer(kernel, n_fragments=20, max_size=3, n_threads=1).fit(TREES, LABELS)
    vectorizer.save(tmp_path / "v")
    loaded = es.load(tmp_path / "v")
    assert (loaded.kernel, loaded.n_fragments, loaded.max_size) == (kernel, 20, 3) and loaded.n_threads is None
    assert loaded.trained_on() == vectorizer.trained_on() and loaded.trained_on()["rows"] == len(TREES)
