"""Learners show and set the arguments of their kernel, as scikit-learn names them."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import espalier as es
from espalier.demo import generate

KERNEL = es.Normalized(es.SubsetTree(0.4))
LEARNERS = [
    es.GPRegressor(KERNEL),
    es.KernelSVC(KERNEL),
    es.KernelSVR(KERNEL),
    es.VotedPerceptron(KERNEL),
    es.RankingSVM(KERNEL),
    es.GPPreference(KERNEL),
    es.FragmentVectorizer(KERNEL),
    es.HashedFragments(KERNEL),
    es.LinearizedTreeClassifier(KERNEL),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_arguments_of_the_kernel_are_parameters_of_every_learner(learner):
    model = clone(learner)
    assert model.get_params()["kernel__decay"] == 0.4
    assert not any(name.startswith("kernel__") for name in model.get_params(deep=False))
    assert model.set_params(kernel__decay=0.2, kernel__max_depth=3) is model
    assert model.kernel == es.Normalized(es.SubsetTree(0.2, max_depth=3))
    assert es.Normalized(es.SubsetTree(0.4)) == KERNEL == learner.kernel
    assert clone(model).kernel == model.kernel
    assert model.set_params(kernel=es.PartialTree(), kernel__depth_decay=0.7).kernel == es.PartialTree(depth_decay=0.7)
    with pytest.raises(ValueError, match=r"Invalid parameter 'deacy' for kernel PartialTree.*'depth_decay'"):
        model.set_params(kernel__deacy=0.2)
    with pytest.raises(ValueError, match="Invalid parameter 'kernal' for estimator"):
        model.set_params(kernal__decay=0.2)


def test_a_reranker_passes_names_on_to_its_chooser():
    reranker = es.Reranker(es.VotedPerceptron(KERNEL)).set_params(chooser__kernel__decay=0.1)
    assert reranker.chooser.kernel.parameters()["decay"] == 0.1
    assert reranker.get_params()["chooser__kernel__decay"] == 0.1


def test_without_a_kernel_there_is_nothing_to_set():
    assert es.FragmentVectorizer().get_params()["kernel"] is None
    with pytest.raises(ValueError, match="'decay' for kernel None, which is not a kernel"):
        es.FragmentVectorizer().set_params(kernel__decay=0.2)


def test_grid_searches_of_scikit_learn_try_arguments_of_the_kernel():
    table = generate(40, seed=2)
    grid = {"model__kernel__decay": [0.1, 0.5], "model__kernel__max_depth": [1, None]}
    search = GridSearchCV(Pipeline([("model", es.KernelSVC(KERNEL))]), grid, cv=2).fit(table["tree"], table["label"])
    kernel = search.best_estimator_["model"].kernel
    assert kernel.parameters()["decay"] == search.best_params_["model__kernel__decay"]
    scores = GridSearchCV(es.GPRegressor(KERNEL, learn=False), {"kernel__decay": [0.1, 0.5]}, cv=2, scoring="r2")
    sizes = [float(len(list(tree))) for tree in table["tree"]]
    assert len(set(scores.fit(list(table["tree"]), sizes).cv_results_["mean_test_score"])) == 2


@pytest.mark.parametrize(
    ("model", "name", "outer"),
    [
        (es.GPRegressor(es.RBF()), "noise__value", "noise"),
        (es.GPRegressor(es.RBF(), noise=es.PerLabel(0.1)), "noise__value", "noise"),
        (es.KernelSVC(es.RBF()), "C__value", "C"),
        (es.KernelGridSearch(es.KernelSVC(es.RBF()), {}), "cv__n_splits", "cv"),
        (es.RankingSVM(es.SubsetTree()), "C__value", "C"),
        (es.Reranker(), "chooser__C", "chooser"),
    ],
)
def test_a_parameter_inside_a_number_is_an_error_that_names_what_can_be_set(model, name, outer):
    with pytest.raises(
        ValueError, match=rf"Invalid parameter '{name}' .* Set {outer} itself. Valid parameters are: "
    ) as e:
        model.set_params(**{name: 0.2})
    assert all(repr(valid) in str(e.value) for valid in model.get_params())


def test_parameters_of_estimators_inside_can_be_set():
    search = es.KernelGridSearch(es.KernelSVC(es.RBF()), {}).set_params(estimator__C=3.0, cv=4)
    assert search.estimator.C == 3.0 and search.cv == 4
    model = es.FragmentVectorizer().set_params(learner=es.KernelSVC(es.SubsetTree()), learner__C=3.0)
    assert model.learner.C == 3.0
