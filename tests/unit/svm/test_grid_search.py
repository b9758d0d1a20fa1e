"""KernelGridSearch: the scores of GridSearchCV, with one matrix per kernel."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold, cross_val_score
from sklearn.svm import SVC

import espalier as es
from espalier import KernelGridSearch, KernelSVC, KernelSVR
from espalier.demo import generate
from espalier.jobs import Processes
from espalier.kernels.block_plan import BlockPlan

TABLE = generate(100, seed=3)
FOREST = es.Forest.from_trees(TABLE["tree"])
LABELS = np.array(TABLE["label"])
SIZES = np.array([float(len(list(tree))) for tree in TABLE["tree"]])
KERNELS = [es.Normalized(es.SubsetTree(decay=decay)) for decay in (0.1, 0.4, 0.9)]
GRID = {"kernel": KERNELS, "C": [0.1, 1.0, 10.0]}


@pytest.fixture
def matrices(monkeypatch):
    """The shapes of all matrices that tree kernels compute."""
    shapes = []
    compute = BlockPlan._values

    def counted(plan, kernel):
        shapes.append(plan.shape)
        return compute(plan, kernel)

    monkeypatch.setattr(BlockPlan, "_values", counted)
    return shapes


def agree(ours, theirs):
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_index_ == theirs.best_index_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-9)
    assert ours.n_splits_ == theirs.n_splits_
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    names = [name for name in theirs.cv_results_ if name.endswith("test_score")]
    for name in names:
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], rtol=1e-7, atol=1e-12)
    for name in (name for name in theirs.cv_results_ if name.startswith("param_")):
        assert ours.cv_results_[name].tolist() == theirs.cv_results_[name].tolist()
    assert ours.cv_results_["rank_test_score"].dtype == theirs.cv_results_["rank_test_score"].dtype


@pytest.mark.parametrize("cv", [3, StratifiedKFold(4, shuffle=True, random_state=0)])
@pytest.mark.parametrize("scoring", [None, "f1_macro"])
def test_classifier_scores_equal_those_of_scikit_learn(cv, scoring):
    ours = KernelGridSearch(KernelSVC(KERNELS[0]), GRID, cv=cv, scoring=scoring).fit(FOREST, LABELS)
    theirs = GridSearchCV(KernelSVC(KERNELS[0]), GRID, cv=cv, scoring=scoring).fit(FOREST, LABELS)
    agree(ours, theirs)
    assert ours.predict(FOREST).tolist() == theirs.predict(FOREST).tolist()
    np.testing.assert_allclose(ours.decision_function(FOREST), theirs.decision_function(FOREST), rtol=1e-9)
    assert ours.score(FOREST, LABELS) == theirs.score(FOREST, LABELS)
    assert ours.classes_.tolist() == theirs.classes_.tolist()


def test_scores_equal_those_of_a_precomputed_matrix():
    search = KernelGridSearch(KernelSVC(KERNELS[1], strategy="one-vs-one"), {"C": [0.1, 10.0]}, cv=KFold(4))
    search.fit(FOREST, LABELS)
    gram = KERNELS[1](FOREST)
    expected = [cross_val_score(SVC(kernel="precomputed", C=C), gram, LABELS, cv=KFold(4)) for C in (0.1, 10.0)]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], np.mean(expected, axis=1), rtol=1e-12)


def test_regressor_scores_equal_those_of_scikit_learn():
    grid = [{"kernel": KERNELS[:2], "C": [1.0, 10.0]}, {"kernel": KERNELS[2:], "epsilon": [0.0, 1.0]}]
    for scoring in (None, "neg_mean_absolute_error"):
        ours = KernelGridSearch(KernelSVR(KERNELS[0]), grid, cv=3, scoring=scoring).fit(FOREST, SIZES)
        theirs = GridSearchCV(KernelSVR(KERNELS[0]), grid, cv=3, scoring=scoring).fit(FOREST, SIZES)
        agree(ours, theirs)
        np.testing.assert_allclose(ours.predict(FOREST), theirs.predict(FOREST), rtol=1e-9)
    assert not hasattr(ours, "decision_function")
    assert is_regressor(ours) and not is_classifier(ours)


def test_weights_and_groups_reach_the_folds():
    rng = np.random.default_rng(0)
    weight, groups = rng.uniform(0.1, 3.0, 100), rng.integers(0, 9, 100)
    plain = make_scorer(lambda y, predicted: float(np.mean(y == predicted)))  # takes no weights
    for scoring in (None, plain):
        ours = KernelGridSearch(KernelSVC(KERNELS[0]), GRID, cv=GroupKFold(3), scoring=scoring)
        ours.fit(FOREST, LABELS, groups=groups, sample_weight=weight)
        theirs = GridSearchCV(KernelSVC(KERNELS[0]), GRID, cv=GroupKFold(3), scoring=scoring)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The scoring .* does not support sample_weight")
            theirs.fit(FOREST, LABELS, groups=groups, sample_weight=weight)
        agree(ours, theirs)


def test_scores_of_probabilities_and_functions():
    model = KernelSVC(KERNELS[1], probability=True, calibration_folds=3)
    grid = {"C": [1.0, 10.0]}
    for scoring in ("neg_log_loss", make_scorer(lambda y, p: float(np.mean(y == p)))):
        ours = KernelGridSearch(model, grid, cv=3, scoring=scoring).fit(FOREST, LABELS)
        agree(ours, GridSearchCV(model, grid, cv=3, scoring=scoring).fit(FOREST, LABELS))
    assert ours.predict_proba(FOREST[:2]).shape == (2, 4)


def test_each_kernel_is_computed_once(matrices):
    search = KernelGridSearch(KernelSVC(KERNELS[0]), GRID, cv=4).fit(FOREST, LABELS)
    again = search.best_params_["kernel"] != KERNELS[-1]
    assert matrices == [(100, 100)] * (3 + again)
    assert search.n_matrices_ == len(matrices)


@pytest.mark.parametrize("best_last", [True, False])
def test_the_best_matrix_is_used_again_if_it_was_the_last(matrices, best_last):
    kernels = [es.SubsetTree(decay=es.fixed(1e-9)), KERNELS[1]]
    grid = {"kernel": kernels if best_last else kernels[::-1], "C": [1e-3, 10.0]}
    search = KernelGridSearch(KernelSVC(KERNELS[0]), grid, cv=4).fit(FOREST, LABELS)
    assert search.best_params_ == {"kernel": KERNELS[1], "C": 10.0}
    assert search.n_matrices_ == len(matrices) == (2 if best_last else 3)
    fitted = KernelSVC(KERNELS[1], C=10.0).fit(FOREST, LABELS)
    assert np.array_equal(search.best_estimator_.dual_coef_, fitted.dual_coef_)
    assert search.best_estimator_.support_data_.n_subtrees == fitted.support_data_.n_subtrees


def test_equal_kernels_share_a_matrix(matrices):
    twice = [es.Normalized(es.SubsetTree(decay=0.4)), es.Normalized(es.SubsetTree(decay=0.4))]
    search = KernelGridSearch(KernelSVC(KERNELS[0]), {"kernel": twice}, cv=3).fit(FOREST, LABELS)
    assert len(matrices) == search.n_matrices_ == 1
    # GridSearchCV: a matrix for each candidate and fold, for the test rows as well (with two diagonals), and a last.
    matrices.clear()
    GridSearchCV(KernelSVC(KERNELS[0]), {"kernel": twice}, cv=3).fit(FOREST, LABELS)
    assert len(matrices) == 2 * 3 * (1 + 3) + 1


def test_at_most_one_matrix_is_held(monkeypatch):
    import weakref

    from espalier.svm import grid_search

    alive = []
    compute = grid_search.kernel_matrix

    def watched(*arguments):
        assert [ref for ref in alive if ref() is not None] == []
        matrix = compute(*arguments)
        alive.append(weakref.ref(matrix))
        return matrix

    monkeypatch.setattr(grid_search, "kernel_matrix", watched)
    search = KernelGridSearch(KernelSVC(KERNELS[0]), {"kernel": KERNELS[::-1]}, cv=3).fit(FOREST, LABELS)
    assert len(alive) == search.n_matrices_
    assert [ref for ref in alive if ref() is not None] == []


def _forms():
    import pandas

    on = es.Normalized(es.SubsetTree(on="tree"))
    return {
        "list": (KERNELS[1], list(TABLE["tree"])),
        "table": (on, TABLE),
        "dict": (on, {"tree": TABLE["tree"]}),
        "pandas": (on, pandas.DataFrame({"tree": [tree.to_brackets() for tree in TABLE["tree"]]})),
    }


@pytest.mark.parametrize("form", _forms())
def test_every_form_of_rows(form):
    kernel, data = _forms()[form]
    search = KernelGridSearch(KernelSVC(kernel), {"C": [1.0, 10.0]}, cv=3).fit(data, TABLE["label"])
    expected = KernelGridSearch(KernelSVC(KERNELS[1]), {"C": [1.0, 10.0]}, cv=3).fit(FOREST, LABELS)
    assert search.best_score_ == expected.best_score_
    assert search.predict(data).tolist() == expected.predict(FOREST).tolist()


def test_without_refit_there_is_no_estimator():
    search = KernelGridSearch(KernelSVC(KERNELS[0]), {"C": [1.0]}, cv=3, refit=False).fit(FOREST, LABELS)
    assert search.best_params_ == {"C": 1.0} and search.n_matrices_ == 1
    assert not hasattr(search, "best_estimator_")
    with pytest.raises(AttributeError, match="refit=False"):
        search.predict(FOREST)


def test_a_search_is_an_estimator():
    search = KernelGridSearch(KernelSVC(KERNELS[0]), {"C": [1.0, 10.0]}, cv=2)
    assert is_classifier(search)
    assert len(cross_val_score(clone(search), FOREST, LABELS, cv=2)) == 2
    with pytest.raises(NotFittedError):
        search.predict(FOREST)
    assert not hasattr(search, "classes_")


def test_progress_rises_to_one():
    for refit in (True, False):
        seen = []
        search = KernelGridSearch(KernelSVC(KERNELS[0]), GRID, cv=3, refit=refit, progress=seen.append)
        search.fit(FOREST, LABELS)
        fractions = [progress.fraction for progress in seen]
        assert fractions == sorted(fractions) and fractions[-1] == 1.0
        assert len(seen) > 9
        assert {progress.what for progress in seen} == {"grid search"}


def test_machines_that_do_not_converge_are_counted_once():
    search = KernelGridSearch(KernelSVC(KERNELS[1], max_iterations=3), {"C": [1.0, 10.0]}, cv=2)
    with pytest.warns(ConvergenceWarning, match="20 machines stopped") as caught:
        search.fit(FOREST, LABELS)  # 2 candidates, 2 folds and the last fit, with 4 machines each
    assert len(caught) == 1 and caught[0].filename == __file__


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"param_grid": {"c": [1.0]}}, ValueError, "KernelSVC has no parameter 'c'; it has C, .*strategy"),
        ({"param_grid": {"decay": [1.0]}}, ValueError, "tried by their names, {'kernel__decay'"),
        ({"param_grid": {"kernel__deacy": [1.0]}}, ValueError, r"Invalid parameter 'deacy' .*\['decay', 'frontier'"),
        ({"param_grid": {"kernel__decay": [-1.0]}}, ValueError, "decay must be positive, got -1"),
        ({"param_grid": {"C": [1.0, -1.0]}}, ValueError, "The grid contains {'C': -1.0}: C must be a positive"),
        ({"param_grid": {"kernel": ["rbf"]}}, TypeError, "The grid contains .*kernel must be a kernel"),
        ({"param_grid": {"C": 1.0}}, TypeError, "needs to be a list"),
        ({"param_grid": {"C": []}}, ValueError, "non-empty|at least one|empty"),
        ({"param_grid": []}, ValueError, "nothing to try"),
        ({"param_grid": "C"}, TypeError, "dict of lists, or a list of such dicts"),
        ({"estimator": SVC()}, TypeError, "such as KernelSVC or KernelSVR, got SVC"),
        ({"refit": "f1"}, ValueError, "refit must be True or False"),
        ({"scoring": ["f1", "accuracy"]}, ValueError, "scoring must be None, the name of one score"),
        ({"cv": 1}, ValueError, "n_splits=1"),
        ({"n_threads": 0}, ValueError, "n_threads must be"),
        ({"progress": 3}, TypeError, "progress must be a function"),
    ],
)
def test_bad_settings_are_errors_of_fit(settings, error, message):
    search = KernelGridSearch(**({"estimator": KernelSVC(KERNELS[0]), "param_grid": {"C": [1.0]}} | settings))
    with pytest.raises(error, match=message):
        search.fit(FOREST, LABELS)


def test_bad_targets_are_errors_before_any_matrix(matrices):
    search = KernelGridSearch(KernelSVC(KERNELS[0]), {"C": [1.0]})
    for y, message in [
        (LABELS[:-1], "X has 100 rows, but y has 99 targets"),
        (["a"] * 100, "All rows belong to one class"),
        (["a"] * 99 + [1], "all text or all numbers"),
        (None, "requires y to be passed"),
    ]:
        with pytest.raises(ValueError, match=message):
            search.fit(FOREST, y)
    with pytest.raises(ValueError, match="sample_weight must hold one number for each of"):
        search.fit(FOREST, LABELS, sample_weight=[1.0])
    assert matrices == []


def test_arguments_of_the_kernel_are_tried_by_name(matrices):
    grid = {"kernel__decay": [0.1, 0.4, 0.9], "C": [0.1, 1.0, 10.0]}
    ours = KernelGridSearch(KernelSVC(KERNELS[0]), grid, cv=3).fit(FOREST, LABELS)
    assert len(matrices) in (3, 4)
    kernels = KernelGridSearch(KernelSVC(KERNELS[0]), GRID, cv=3).fit(FOREST, LABELS)
    theirs = GridSearchCV(KernelSVC(KERNELS[0]), grid, cv=3).fit(FOREST, LABELS)
    for other in (kernels, theirs):
        scores = sorted(other.cv_results_["mean_test_score"])
        np.testing.assert_allclose(sorted(ours.cv_results_["mean_test_score"]), scores)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_estimator_.kernel == es.Normalized(es.SubsetTree(ours.best_params_["kernel__decay"]))


def test_a_search_without_probabilities_says_why():
    search = KernelGridSearch(KernelSVC(KERNELS[1]), {"C": [1.0]}, cv=2).fit(FOREST, LABELS)
    assert not hasattr(search, "predict_proba")
    with pytest.raises(AttributeError, match="only with probability=True"):
        search.predict_proba(FOREST)


def test_masked_groups_are_refused():
    groups = np.ma.masked_array(np.arange(len(LABELS)) % 5, mask=np.arange(len(LABELS)) == 4)
    with pytest.raises(es.InputError, match=r"groups is masked in 1 rows, the first is row 4"):
        KernelGridSearch(KernelSVC(KERNELS[0]), {}, cv=GroupKFold(5)).fit(FOREST, LABELS, groups=groups)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(
    ("model", "y"), [(KernelSVC(KERNELS[0]), LABELS), (KernelSVR(KERNELS[0]), SIZES)], ids=["labels", "numbers"]
)
def test_targets_of_rows_without_weight_may_be_missing(model, y, masked):
    weight = np.ones(len(y))
    weight[[0, 7]] = 0.0
    given = np.ma.masked_array(y, mask=weight == 0)
    folds = [(np.arange(50, 100), np.arange(50)), (np.arange(50), np.arange(50, 100))]
    whole = KernelGridSearch(model, {"C": [0.1, 1.0]}, cv=folds).fit(FOREST, y, sample_weight=weight)
    y_with_gaps = given if masked else given.tolist()  # None where it was masked
    found = KernelGridSearch(model, {"C": [0.1, 1.0]}, cv=folds).fit(FOREST, y_with_gaps, sample_weight=weight)
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"])
    np.testing.assert_allclose(found.best_estimator_.dual_coef_, whole.best_estimator_.dual_coef_)
    with pytest.raises(es.InputError, match=r"masked|no label|NaN"):
        KernelGridSearch(model, {}, cv=folds).fit(FOREST, y_with_gaps)


def test_rows_without_a_target_are_not_tested_by_scores_without_weights():
    labels, weight, seen = LABELS.tolist(), np.ones(len(LABELS)), []
    labels[0], weight[0] = None, 0.0

    def n_tested(model, rows, y):
        seen.append(len(y))
        return float(len(rows))

    folds = [(np.arange(50, 100), np.arange(50)), (np.arange(50), np.arange(50, 100))]
    search = KernelGridSearch(KernelSVC(KERNELS[0]), {}, cv=folds, scoring=n_tested, refit=False)
    search.fit(FOREST, labels, sample_weight=weight)
    assert seen == [49, 50]
    folds = [(np.arange(1, 100), np.arange(1))]
    with pytest.raises(es.InputError, match="Fold 0 of cv has no test row with a target"):
        KernelGridSearch(KernelSVC(KERNELS[0]), {}, cv=folds).fit(FOREST, labels, sample_weight=weight)


def test_interrupted_search_tells_of_the_candidates_that_were_done():
    def scorer(model, X, y):
        if es.kernels.number_of(model.kernel.kernel.decay) == 0.4:
            raise KeyboardInterrupt
        return float(model.C)

    search = KernelGridSearch(KernelSVC(KERNELS[0]), GRID, cv=3, scoring=scorer)
    with pytest.raises(KeyboardInterrupt):
        search.fit(FOREST, LABELS)
    assert search.best_params_ == {"C": 10.0, "kernel": KERNELS[0]} and search.best_score_ == 10.0
    done = ~np.isnan(search.cv_results_["mean_test_score"])
    assert [params["kernel"] == KERNELS[0] for params in search.cv_results_["params"]] == done.tolist()
    assert not hasattr(search, "best_estimator_")


def test_search_that_is_interrupted_at_once_has_no_results():
    def scorer(model, X, y):
        raise KeyboardInterrupt

    search = KernelGridSearch(KernelSVC(KERNELS[0]), GRID, scoring=scorer)
    with pytest.raises(KeyboardInterrupt):
        search.fit(FOREST, LABELS)
    with pytest.raises(NotFittedError):
        search.predict(FOREST)


def test_folds_run_elsewhere_with_the_same_results():
    here = KernelGridSearch(KernelSVC(KERNELS[0]), GRID, cv=3).fit(FOREST, LABELS)
    told = []
    with Processes(2) as processes:
        there = KernelGridSearch(KernelSVC(KERNELS[0]), GRID, cv=3, progress=told.append)
        there.fit(FOREST, LABELS, executor=processes)
    assert there.best_params_ == here.best_params_
    for name in ("split0_test_score", "split2_test_score", "mean_test_score"):
        assert np.array_equal(there.cv_results_[name], here.cv_results_[name])
    fractions = [progress.fraction for progress in told]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
