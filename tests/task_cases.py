"""Ten trees with three targets each, with and without gaps, and models of them."""

from __future__ import annotations

import numpy as np

import espalier as es
from espalier import GPRegressor
from random_trees import random_trees

TREES = [tree for tree in random_trees(5, 40) if tree.children][:10]
TASKS = ("fear", "joy", "anger")
RNG = np.random.default_rng(0)
Y = RNG.normal(size=(10, 3)) @ RNG.normal(size=(3, 3)) * [1, 10, 100] + [0, 5, 50]
GAPS = Y.copy()
GAPS[0, 0] = GAPS[3, 2] = GAPS[3, 0] = GAPS[7] = np.nan
TREE = es.Normalized(es.SubsetTree(decay=0.6, on="tree"))
ICM = es.Coregion("task", 2) * TREE
TABLE = es.Table(tree=TREES)
PLAIN = es.Normalized(es.SubsetTree(decay=0.6))


def long_table(Y):
    """The rows of the long table that a matrix stands for."""
    item, task = np.nonzero(~np.isnan(Y))
    table = es.Table(task=[TASKS[k] for k in task], tree=[TREES[row] for row in item])
    return table, Y[item, task], [TASKS[k] for k in task]


def fit_tasks(kernel=ICM, y=GAPS, X=TABLE, *, tasks=TASKS, **settings):
    return GPRegressor(kernel, **{"learn": False, **settings}).fit(X, y, tasks=tasks)
