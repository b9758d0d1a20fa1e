"""Kernels of tasks against their twins, their gradients, their laws, and what names a task."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.reference.coregion import augmented, coregion

import espalier as es
from espalier.errors import InputError
from espalier.kernels.task_names import task_names
from espalier.testing import check_gradients, check_kernel

TASKS = ["fear", "joy", "fear", "anger", "joy", "fear"]
WEIGHTS = {"anger": (0.1, -2.0), "fear": (0.5, 1.0), "joy": (-0.7, 0.25)}
KAPPA = {"anger": 0.3, "fear": 0.2, "joy": 1.5}


def known(rank=2, **options):
    values = {f"{task},{k}": row[k] for task, row in WEIGHTS.items() for k in range(rank)}
    options.setdefault("kappa", es.PerLabel(1.0, values=KAPPA))
    return es.Coregion(rank=rank, weights=es.PerLabel(0.7, values=values), **options)


KERNELS = [es.Coregion(), es.Coregion(rank=3, kappa=0.5), known(), es.EasyAdapt(), es.EasyAdapt(shared=0.5, own=2.0)]


@pytest.mark.parametrize("rank", [1, 2])
def test_values_are_those_of_the_definition(rank):
    rows = {task: row[:rank] for task, row in WEIGHTS.items()}
    kernel = known(rank)
    expected = np.array([[coregion(s, t, rows, KAPPA) for t in TASKS] for s in TASKS])
    np.testing.assert_allclose(kernel(TASKS), expected, rtol=1e-14)
    np.testing.assert_allclose(kernel(TASKS[:2], TASKS), expected[:2], rtol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(TASKS), expected.diagonal(), rtol=1e-14)
    assert kernel.value("fear", "joy") == pytest.approx(expected[0, 1], rel=1e-14)
    assert kernel.tasks() == ["anger", "fear", "joy"]
    np.testing.assert_array_equal(kernel.covariances(), kernel(["anger", "fear", "joy"]))
    np.testing.assert_array_equal(kernel.covariances(["joy", "fear"]), kernel(["joy", "fear"]))


def test_easy_adapt_multiplies_augmented_features():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(6, 3))
    table = es.Table(task=TASKS, x=vectors)
    features = [augmented(x, task, sorted(set(TASKS)), 0.5, 2.0) for x, task in zip(vectors, TASKS, strict=True)]
    kernel = es.EasyAdapt("task", shared=0.5, own=2.0) * es.Linear(on="x", variance=es.fixed(1.0))
    np.testing.assert_allclose(kernel(table), np.array(features) @ np.array(features).T, rtol=1e-12)
    np.testing.assert_array_equal(es.EasyAdapt()(TASKS), 1.0 + (np.array(TASKS)[:, None] == TASKS))
    assert es.EasyAdapt().parameters() == {}, "the weights of Daume are fixed"


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_they_keep_the_laws(kernel):
    check_kernel(kernel, TASKS)


TREES = ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))", "(A a)", "(S (A a) (B b))", "(B b)"]
TABLE = es.Table(task=TASKS, tree=TREES)
TREE = es.SubsetTree(es.PerLabel(0.5), on="tree")
COMBINED = [
    es.Coregion("task", 2) * TREE,
    es.Coregion("task") * TREE + es.Coregion("task", 2, kappa=0.1) * es.Subtree(on="tree"),
    0.5 * es.EasyAdapt("task", shared=0.5, own=2.0) * es.Normalized(TREE),
    es.Normalized(es.Coregion("task") * TREE + es.Coregion("task", 2)),
    es.Radial(es.Coregion("task", 2), 1.3) * TREE,
]


@pytest.mark.parametrize("kernel", COMBINED, ids=repr)
def test_they_work_inside_other_kernels(kernel):
    check_kernel(kernel, TABLE)


def test_gradients_of_negative_and_vanishing_weights():
    check_gradients(known().with_parameters({"weights[fear,1]": 0.0}), TASKS)


def test_paths_name_the_tasks_once_data_is_seen():
    kernel = es.Coregion("task", 2) * TREE
    assert kernel.parameters() == {
        "factors[0].weights": 0.7,
        "factors[0].kappa": 0.5,
        "factors[1].decay": 0.5,
        "factors[1].frontier": 1.0,
    }
    bound = kernel.plan(TABLE).bind(kernel)
    numbers = bound.parameters()
    assert {path for path in numbers if "[0]" in path} == {
        *(f"factors[0].weights[{task},{k}]" for task, k in itertools.product(WEIGHTS, range(2))),
        *(f"factors[0].kappa[{task}]" for task in WEIGHTS),
    }
    np.testing.assert_array_equal(bound(TABLE), kernel(TABLE))
    assert bound.bounds()["factors[0].weights[joy,1]"] == (-100.0, 100.0)
    some = es.Coregion(weights=es.PerLabel(0.7, values={"joy,0": -3.0}))
    assert some.plan(TASKS).bind(some).parameters()["weights[joy,0]"] == -3.0, "numbers that are given stay"


def test_the_start_breaks_the_symmetry_of_ranks():
    bound = es.Coregion(rank=4).plan(TASKS).bind(es.Coregion(rank=4))
    weights = np.array([bound.parameters()[f"weights[{t},{k}]"] for t in WEIGHTS for k in range(4)]).reshape(3, 4)
    np.testing.assert_array_equal(weights[:, 0], 0.7)
    assert np.linalg.matrix_rank(weights) == 3
    assert (np.abs(weights) >= 0.35).all() and (np.abs(weights) <= 0.7).all() and (weights[:, 1:] < 0).any()
    # It follows from the names alone, so it does not depend on other tasks.
    np.testing.assert_array_equal(es.Coregion(rank=4)(["joy"]), es.Coregion(rank=4)(TASKS)[1:2, 1:2])


def test_a_number_for_all_tasks_can_be_fixed_or_shared():
    shared = es.Coregion(kappa=0.25, weights=es.PerLabel(es.fixed(2.0)))
    assert shared.parameters() == {"kappa": 0.25}
    np.testing.assert_array_equal(shared(["a", "b"]), [[4.25, 4.0], [4.0, 4.25]])
    check_gradients(shared, TASKS)
    narrow = es.Coregion(weights=es.PerLabel(es.Learned(0.7, bounds=(-2, 2))))
    assert narrow.plan(TASKS).bind(narrow).bounds()["weights[joy,0]"] == (-2.0, 2.0)


def test_a_task_without_numbers_is_refused():
    with pytest.raises(InputError, match=r"no numbers for the task 'dread'.*it knows 'anger', 'fear', 'joy'. Learn"):
        known()(TASKS, ["joy", "dread"])
    with pytest.raises(InputError, match="no numbers for the task 'dread'"):
        known().diagonal(["dread"])
    np.testing.assert_array_equal(es.EasyAdapt()(["joy"], ["dread"]), [[1.0]])


def test_tasks_are_texts_numbers_or_truth_values():
    np.testing.assert_array_equal(es.EasyAdapt()([1, 2, 1]), es.EasyAdapt()(["x", "y", "x"]))
    np.testing.assert_array_equal(es.EasyAdapt()(np.array([1, 2]), [1.0, 3.0]), [[2.0, 1.0], [1.0, 1.0]])
    assert task_names(np.array([True, False]), None) == ["True", "False"]
    assert task_names([np.str_("a"), np.int32(3), 1e300], None)[:2] == ["a", "3"]
    table = es.Table(task=np.array([1, 2, 1]), x=np.zeros((3, 1)))
    assert (es.EasyAdapt("task") * es.RBF(on="x"))(table).tolist() == [[2, 1, 2], [1, 2, 1], [2, 1, 2]]
    assert es.EasyAdapt()(["a]b,0", ""]).tolist() == [[2, 1], [1, 2]]
    strange = es.Coregion(rank=2)
    bound = strange.plan(["a]b,0", "", "[", "ü"]).bind(strange)
    assert bound.with_parameters({"weights[a]b,0,1]": 9.0}).parameters()["weights[a]b,0,1]"] == 9.0
    assert bound.tasks() == ["", "[", "a]b,0", "ü"]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["a", None], "Row 1 has no task, got None"),
        ([float("nan"), "a"], "Row 0 has no task, got nan"),
        (np.ma.array(["a", "b"], mask=[False, True]), "masked"),
        (["a", ("b",)], "Row 1 must name a task by a text, a number or a truth value"),
        (["a", ["b"]], "Row 1 must name a task"),
        (np.zeros((2, 2)), "Row 0 must name a task"),
    ],
)
def test_what_names_no_task_is_refused(column, message):
    with pytest.raises(InputError, match=message):
        es.EasyAdapt()(column)
    if not isinstance(column, np.ndarray):
        with pytest.raises(InputError, match="column 'task'"):
            es.EasyAdapt("task")({"task": column})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: es.Coregion(rank=0), "rank must be"),
        (lambda: es.Coregion(weights=0.7), "weights must be PerLabel"),
        (lambda: es.Coregion(weights=es.PerLabel(0.7, groups={"g": ["a"]})), "without groups"),
        (lambda: es.Coregion(weights=es.PerLabel(0.0)), "must not start at 0"),
        (lambda: es.Coregion(weights=es.PerLabel(0.7, values={"a,0": float("inf")})), "weights must be finite"),
        (lambda: es.Coregion(kappa=-1.0), "kappa must be positive"),
        (lambda: es.EasyAdapt(shared=es.PerLabel(1.0)), "shared must be one number"),
        (lambda: es.Coregion(on=3), "on must name a column"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_numbers_are_arguments_of_learners():
    model = es.GPRegressor(known(on="task") * TREE)
    names = model.get_params()
    assert names["kernel__factors[0].weights[fear,0]"] == 0.5 and names["kernel__factors[0].rank"] == 2
    model.set_params(**{"kernel__factors[0].weights[fear,0]": -4.0, "kernel__factors[1].on": "t"})
    assert model.kernel.parameters()["factors[0].weights[fear,0]"] == -4.0


def test_kernels_of_many_tasks_have_one_matrix_each():
    tasks = [str(k) for k in range(200)] * 3
    kernel = es.Coregion(rank=2)
    values, pull_back = kernel.vjp(tasks)
    assert np.linalg.matrix_rank(values - 0.5 * (values == values.max(axis=1)), tol=1e-8) <= 600
    gradient = pull_back(np.ones(values.shape))
    assert gradient["kappa[7]"] == 9.0


def test_a_regressor_learns_how_much_tasks_share(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.uniform(-3, 3, size=40)
    rows = [("a", v, np.sin(v)) for v in x[:20]] + [("b", v, -np.sin(v)) for v in x[20:]]
    table = es.Table(task=[row[0] for row in rows], x=np.array([row[1] for row in rows]))
    y = np.array([row[2] for row in rows]) + 0.05 * rng.normal(size=40)
    kernel = es.Coregion("task") * es.RBF(on="x")
    model = es.GPRegressor(kernel, noise=0.01, standardize=False).fit(table, y)
    learned = model.kernel_.factors[0].covariances()
    assert learned[0, 1] < -0.9 * np.sqrt(learned[0, 0] * learned[1, 1]), "the tasks are opposites"
    alone = es.GPRegressor(es.RBF(on="x"), noise=0.01, standardize=False).fit(table, y)
    assert model.log_marginal_likelihood_ > alone.log_marginal_likelihood_ + 10
    _, slopes = model.log_marginal_likelihood(gradient=True)
    for path in ("kernel.factors[0].weights[a,0]", "kernel.factors[0].kappa[b]"):
        value = model.learned_[path].value
        step = 1e-4 * abs(value)
        high, low = (model.log_marginal_likelihood({path: value + s * step}) for s in (1, -1))
        assert slopes[path] == pytest.approx((high - low) / (2 * step), rel=1e-3, abs=1e-4)
    model.save(tmp_path / "tasks.safetensors")
    np.testing.assert_array_equal(es.load(tmp_path / "tasks.safetensors").predict(table), model.predict(table))
    with pytest.raises(InputError, match="no numbers for the task 'c'"):
        model.predict(es.Table(task=["c"], x=[0.0]))
