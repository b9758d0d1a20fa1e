"""Learners in files: what a loaded model predicts is what the saved one predicted, bit for bit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.model_selection import KFold
from tests.saved_files import rewrite

import espalier as es
from candidate_groups import groups_of
from espalier.corpus import Vocabulary
from espalier.demo import generate
from espalier.errors import InputError
from espalier.gp import BoxCox, LinearMean, Log, LogNormal, Warping
from espalier.kernels import Idf

QUESTIONS = generate(60, seed=1)
TREES, LABELS = list(QUESTIONS["tree"]), np.array(QUESTIONS["label"])
NEW = list(generate(20, seed=2)["tree"])
RNG = np.random.default_rng(0)
Y = np.array([len(tree.words()) for tree in TREES]) + RNG.normal(size=60)
VECTORS = RNG.normal(size=(60, 3))
TEXTS = [" ".join(tree.words()) for tree in TREES]
TABLE = es.Table({"tree": TREES, "text": TEXTS, "x": VECTORS, "unread": [object()] * 60})
NEW_TABLE = es.Table({"tree": NEW, "text": [" ".join(tree.words()) for tree in NEW], "x": RNG.normal(size=(20, 3))})
PER_LABEL = 1.0 * es.Normalized(es.SubsetTree(es.PerLabel(es.Learned(0.4, prior=LogNormal(0.4, 1.0)))))
COLUMNS = (
    0.5 * es.Normalized(es.SubsetTree(0.3, on="tree"))
    + es.BagOfWords(idf=Idf.fit(TEXTS), on="text")
    + es.RBF(es.PerDimension(1.0), on="x")
)
FOREST = es.Forest.from_trees(TREES)

# A learner, what it is fitted on, and what it predicts.
PROCESSES = {
    "one decay for each label": (es.GPRegressor(PER_LABEL, max_iterations=5), TREES, NEW, {}),
    "a view of a forest": (es.GPRegressor(PER_LABEL, learn=False), FOREST[::-1][:60], NEW, {}),
    "strings of words": (es.GPRegressor(es.Spectrum(2)), TEXTS, [" ".join(tree.words()) for tree in NEW], {}),
    "strings of trees": (
        es.GPRegressor(es.SubsetTree()),
        [str(tree) for tree in TREES],
        [str(tree) for tree in NEW],
        {},
    ),
    "columns": (es.GPRegressor(COLUMNS, mean=LinearMean(on="x"), max_iterations=5), TABLE, NEW_TABLE, {}),
    "vectors": (es.GPRegressor(es.RBF() + es.Linear(), mean="linear"), VECTORS, RNG.normal(size=(20, 3)), {}),
    "sparse vectors": (es.GPRegressor(es.Linear()), csr_matrix(VECTORS), csr_matrix(VECTORS[:20]), {}),
    "a boxcox transform": (es.GPRegressor(es.SubsetTree(), target_transform=BoxCox()), TREES, NEW, {}),
    "a warped target": (es.GPRegressor(es.SubsetTree(), target_transform=Warping(), max_iterations=5), TREES, NEW, {}),
    "a log of its own": (
        es.GPRegressor(es.SubsetTree(), target_transform=Log(offset=9), mean="constant"),
        TREES,
        NEW,
        {},
    ),
    "noise groups": (
        es.GPRegressor(es.SubsetTree(), noise=es.PerLabel(0.1), max_iterations=5),
        TREES,
        NEW,
        {"noise_groups": LABELS.tolist(), "sample_weight": np.r_[0.0, np.ones(59)], "noise_variance": 0.2},
    ),
}


def quietly(act):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return act()


def saved_again(model, path):
    """The model as it comes back from a file; what it comes back as gives the same file again."""
    model.save(path / "model")
    again = es.load(path / "model")
    again.save(path / "again")
    assert (path / "again").read_bytes() == (path / "model").read_bytes()
    assert type(model).load(path / "model").__class__ is type(again) is type(model)
    return again


@pytest.mark.parametrize("name", PROCESSES)
def test_processes_predict_the_same(tmp_path, name):
    model, rows, new, options = PROCESSES[name]
    quietly(lambda: model.fit(rows, Y + 20, **options))
    groups = {"noise_groups": LABELS[:20].tolist()} if options else {}
    again = saved_again(model, tmp_path)
    for own, other in zip(
        quietly(lambda: model.predict(new, return_std=True, quantiles=[0.1, 0.9], **groups)),
        quietly(lambda: again.predict(new, return_std=True, quantiles=[0.1, 0.9], **groups)),
        strict=True,
    ):
        np.testing.assert_array_equal(other, own)
    np.testing.assert_array_equal(again.alpha_, model.alpha_)
    np.testing.assert_array_equal(again.leave_one_out().mean, model.leave_one_out().mean)
    np.testing.assert_array_equal(
        again.sample_posterior(new, random_state=0), model.sample_posterior(new, random_state=0)
    )
    assert again.log_marginal_likelihood_ == model.log_marginal_likelihood_ and again.mean_ == model.mean_
    assert again.kernel_ == model.kernel_ and again.noise_ == model.noise_ and again.transform_ == model.transform_
    assert repr(again.learned_) == repr(model.learned_) and again.get_params() == model.get_params()
    assert again.log_marginal_likelihood() == model.log_marginal_likelihood()
    assert again.trained_on() == model.trained_on() and again.trained_on()["rows"] in (59, 60)


MACHINES = {
    "one against the rest": (
        es.KernelSVC(es.Normalized(es.SubsetTree(0.3)), probability=True, random_state=3),
        TREES,
        NEW,
    ),
    "one against one": (
        es.KernelSVC(es.PartialTree(), strategy="one-vs-one", class_weight={"agent": 2.0}),
        FOREST,
        NEW,
    ),
    "columns": (es.KernelSVC(COLUMNS, class_weight="balanced", n_threads=1), TABLE, NEW_TABLE),
    "strings": (es.KernelSVC(es.SubsetTree()), [str(tree) for tree in TREES], [str(tree) for tree in NEW]),
    "vectors": (es.KernelSVC(es.RBF()), VECTORS, VECTORS[::-1]),
    "sparse vectors": (es.KernelSVC(es.RBF()), csr_matrix(VECTORS), csr_matrix(VECTORS[::-1])),
    "a matrix": (es.KernelSVC(es.Precomputed(VECTORS @ VECTORS.T)), np.arange(60), np.arange(0, 60, 3)),
    "numbers": (es.KernelSVR(es.Normalized(es.SubsetTree(0.3)), C=3.0, epsilon=0.2), FOREST[::-1], NEW),
}


@pytest.mark.parametrize("name", MACHINES)
def test_machines_predict_the_same(tmp_path, name):
    model, rows, new = MACHINES[name]
    model.fit(rows, Y if isinstance(model, es.KernelSVR) else LABELS)
    again = saved_again(model, tmp_path)
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    if isinstance(model, es.KernelSVC):
        np.testing.assert_array_equal(again.decision_function(new), model.decision_function(new))
        assert again.classes_.dtype == model.classes_.dtype
    if name == "one against the rest":
        np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    np.testing.assert_array_equal(again.dual_form().coefficients, model.dual_form().coefficients)
    assert again.trained_on() == model.trained_on() and again.trained_on()["rows"] == 60
    assert again.n_threads is None


@pytest.mark.parametrize(
    "labels", [LABELS == "agent", np.unique(LABELS, return_inverse=True)[1] * 2.0, LABELS.astype(object)]
)
def test_classes_of_any_kind_come_back(tmp_path, labels):
    model = es.KernelSVC(es.SubsetTree(), class_weight={labels.tolist()[0]: 2.0}).fit(TREES, labels)
    again = saved_again(model, tmp_path)
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
    assert again.classes_.dtype == model.classes_.dtype and again.class_weight == model.class_weight


GRID = {"kernel__decay": [0.2, 0.6], "C": np.array([0.5, 4.0])}
SEARCHES = {
    "classes": (es.KernelGridSearch(es.KernelSVC(es.Subtree(), probability=True), GRID, cv=2), LABELS),
    "weights by number": (
        es.KernelGridSearch(
            es.KernelSVC(es.Subtree(), class_weight={0: 2.0}),
            [{"class_weight": [None, {0: 1.0, 1: 3.0}]}, {"kernel": [es.SubsetTree(es.fixed(0.3))]}],
            scoring="f1_macro",
        ),
        (LABELS == "agent").astype(int),
    ),
    "numbers": (es.KernelGridSearch(es.KernelSVR(es.Normalized(es.SubsetTree())), GRID, cv=2), Y),
    "no refit": (es.KernelGridSearch(es.KernelSVR(es.Subtree()), {"epsilon": [0.1, 0.2]}, cv=2, refit=False), Y),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_searches_find_and_predict_the_same(tmp_path, name):
    search, y = SEARCHES[name]
    again = saved_again(search.fit(FOREST, y), tmp_path)
    assert again.best_params_ == search.best_params_ and again.best_score_ == search.best_score_
    assert (again.best_index_, again.n_splits_, again.n_matrices_) == (
        search.best_index_,
        search.n_splits_,
        search.n_matrices_,
    )
    assert list(again.cv_results_) == list(search.cv_results_)
    for column, values in search.cv_results_.items():
        np.testing.assert_array_equal(again.cv_results_[column], values)
    assert again.estimator.get_params() == search.estimator.get_params()
    assert again.trained_on() == search.trained_on() and again.trained_on()["rows"] == 60
    if not search.refit:
        with pytest.raises(AttributeError, match="refit=False"):
            again.predict(NEW)
        return
    np.testing.assert_array_equal(again.predict(NEW), search.predict(NEW))
    assert again.score(FOREST, y) == search.score(FOREST, y)
    if name == "classes":
        np.testing.assert_array_equal(again.predict_proba(NEW), search.predict_proba(NEW))
    assert again.fit(FOREST, y).best_score_ == search.best_score_


@pytest.mark.parametrize("setting", [{"cv": KFold(2)}, {"scoring": lambda model, X, y: 1.0}])
def test_a_search_with_code_inside_says_what_to_save_instead(tmp_path, setting):
    search = es.KernelGridSearch(es.KernelSVC(es.Subtree()), {"C": [1.0]}, **{"cv": 2} | setting).fit(TREES, LABELS)
    with pytest.raises(InputError, match=r"search\.best_estimator_\.save\(path\)"):
        search.save(tmp_path / "search")
    search.best_estimator_.save(tmp_path / "machine")
    assert es.load(tmp_path / "machine").predict(NEW).tolist() == search.predict(NEW).tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s, a: s["params"].pop(), "every candidate needs its scores"),
        (lambda s, a: a.update(scores=a["scores"][:, :0]), "every candidate needs its scores"),
        (lambda s, a: s["estimator"].update(kind="Forest"), "Forest is no machine"),
        (lambda s, a: s["estimator"]["settings"].update(epsilon=-1.0), "epsilon must be"),
        (lambda s, a: s["settings"].update(scoring="luck"), "luck"),
        (lambda s, a: s.update(best={"$kind": "Subtree", "decay": 0.4, "on": None}), "must be a KernelMachine"),
        (lambda s, a: s.update(params=[3, 4, 5, 6]), "every candidate needs its scores"),
    ],
)
def test_hostile_searches_are_refused(tmp_path, change, message):
    es.KernelGridSearch(es.KernelSVR(es.Subtree()), GRID, cv=2).fit(TREES, Y).save(tmp_path / "x")
    rewrite(tmp_path / "x", change)
    with pytest.raises(InputError, match=message) as caught:
        es.load(tmp_path / "x")
    assert str(caught.value).startswith(str(tmp_path / "x"))


@pytest.mark.parametrize(
    "model",
    [
        es.VotedPerceptron(es.SubsetTree(0.3), vote="vote", random_state=0),
        es.RankingSVM(es.SubsetTree(0.3) + es.Subtree(), random_state=0),
        es.GPPreference(1.0 * es.Normalized(es.SubsetTree(es.PerLabel(0.4))), max_iterations=3),
        es.Reranker(es.VotedPerceptron(es.SmoothedPartialTree(es.Embedding({"n0": [1.0, 0.5], "n1": [0.5, 1.0]})))),
    ],
    ids=lambda model: type(model).__name__,
)
def test_choosers_choose_the_same(tmp_path, model):
    quietly(lambda: model.fit(groups_of(0)))
    again = saved_again(model, tmp_path)
    for own, other in zip(again.decision_function(groups_of(1)), model.decision_function(groups_of(1)), strict=True):
        np.testing.assert_array_equal(own, other)
    assert again.trained_on() == model.trained_on() and again.trained_on()["n_candidates"] > 0


def test_hashed_fragments_and_vocabularies_come_back(tmp_path):
    hashed = es.HashedFragments(es.Normalized(es.SubsetTree(0.3)), max_size=2, n_features=64, n_threads=1)
    assert (saved_again(hashed, tmp_path).transform(NEW) != hashed.transform(NEW)).nnz == 0
    vocabulary = Vocabulary(["S", "é", ""])
    assert list(saved_again(vocabulary, tmp_path)) == list(vocabulary)


def test_rows_that_no_file_can_hold_are_one_clear_error(tmp_path):
    class Length:
        def __init__(self, n):
            self.n = n

    model = es.KernelSVC(es.Precomputed(np.eye(4))).fit([0, 1, 2, 3], list("abab"))
    model._support._data = [Length(3)] * 4
    with pytest.raises(InputError, match="Row 0 is a Length, which no file can hold"):
        model.save(tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_nothing_but_fitted_learners_is_saved(tmp_path):
    from sklearn.exceptions import NotFittedError

    machine = es.KernelSVC(es.Subtree())
    search = es.KernelGridSearch(machine, GRID)
    for model in (es.GPRegressor(es.Subtree()), machine, search, es.Reranker(), es.FragmentVectorizer()):
        with pytest.raises(NotFittedError):
            model.save(tmp_path / "x")


def test_a_file_of_one_learner_is_not_taken_for_another(tmp_path):
    es.KernelSVR(es.Subtree()).fit(TREES, Y).save(tmp_path / "x")
    with pytest.raises(InputError, match=r"holds a KernelSVR, no KernelSVC. espalier.load\(path\) reads it"):
        es.KernelSVC.load(tmp_path / "x")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s, a: s["settings"].update(n_threads=10**6), "may not set threads"),
        (lambda s, a: s["settings"].update(wings=2), "wings"),
        (lambda s, a: s["settings"].pop("kernel"), "kernel"),
        (lambda s, a: s["settings"].update(strategy="guess"), "strategy"),
        (lambda s, a: a.update(dual_coef=a["dual_coef"][:, 1:]), "needs coefficients"),
        (lambda s, a: a["intercept"].__setitem__(0, np.nan), "not finite"),
        (lambda s, a: a["machines"].__setitem__((0, 0), 9), "a class that is not there"),
        (lambda s, a: s["classes"]["labels"].append("x"), "4 machines do not fit 5 classes"),
        (lambda s, a: s["rows"]["rows"].update(form="pickle"), "'form' must be one of"),
        (lambda s, a: s["rows"]["rows"].update(form="trees", brackets=["(A a)"]), "needs its number"),
        (lambda s, a: s["rows"].update(readings=[[None, "code"]]), "read as trees or words"),
    ],
)
def test_hostile_machines_are_refused(tmp_path, change, message):
    es.KernelSVC(es.Subtree()).fit(TREES, LABELS).save(tmp_path / "x")
    rewrite(tmp_path / "x", change)
    with pytest.raises(InputError, match=message) as caught:
        es.load(tmp_path / "x")
    assert str(caught.value).startswith(str(tmp_path / "x"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s, a: a["examples.y"].__setitem__(0, np.inf), "not a number"),
        (lambda s, a: a.update({"examples.y": a["examples.y"][1:]}), "do not fit its rows"),
        (lambda s, a: a["examples.observed.weight"].__setitem__(0, 0.0), "has no noise"),
        (lambda s, a: a["examples.observed.group"].__setitem__(0, 3), "has no noise"),
        (lambda s, a: s["examples"].update(transform={"$kind": "Subtree"}), "must be a Transform"),
        (lambda s, a: s["examples"].update(kernel={"$kind": "Idf"}), "is damaged"),
        (lambda s, a: s["examples"]["likelihood"].update(noise="none"), "must be a number"),
        (lambda s, a: s["learned"].append(3), "not a table"),
        (lambda s, a: s["learned"][0].update(value="much"), "other columns"),
        (lambda s, a: s.update(trained_on=3), "trained_on is not a JSON object"),
    ],
)
def test_hostile_processes_are_refused(tmp_path, change, message):
    quietly(lambda: es.GPRegressor(es.Subtree(), max_iterations=2).fit(TREES, Y)).save(tmp_path / "x")
    rewrite(tmp_path / "x", change)
    with pytest.raises(InputError, match=message) as caught:
        es.load(tmp_path / "x")
    assert str(caught.value).startswith(str(tmp_path / "x"))
