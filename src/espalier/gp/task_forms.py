"""How a fitted process of several tasks shows itself: for each task, coefficients of the training items."""

from __future__ import annotations

import numpy as np

from espalier.errors import InputError
from espalier.gp.parameters import Vector
from espalier.gp.task_units import TaskUnits
from espalier.gram.forms import DualForm
from espalier.kernels.base import Kernel
from espalier.kernels.inputs import Inputs
from espalier.kernels.kronecker import Split
from espalier.kernels.task_pairs import COLUMN, TaskPairs
from espalier.structures.table import Table


def task_dual_form(pairs: Inputs, kernel: Kernel, alpha: Vector, target: TaskUnits) -> DualForm:
    """Scores of the tasks as sums over training items.

    The function of task t is the sum over items i of ``k(x_i, x)`` times the sum over tasks s of ``alpha[i, s]`` times
    ``B[s, t]``.
    """
    split = Split.of(kernel)
    if split is None or not isinstance(pairs, TaskPairs):
        raise InputError(
            "Only if the kernel is a product of kernels of tasks and kernels of items, such as "
            "Coregion(on='task') * SubsetTree(), is each task a sum over training items with one kernel. Of a sum of "
            "such products, fit the products on their own."
        )
    between = split.tasks(Table({COLUMN: pairs.tasks}))
    scales = np.array([units.scale for units in target.each])
    return DualForm(
        split.items,
        pairs.distinct,
        np.ascontiguousarray((alpha @ between * scales).T),
        np.array([units.location for units in target.each]),
        pairs.tasks,
    )
