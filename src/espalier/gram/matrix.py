"""The matrix of a kernel over corpora, and the most similar items of a corpus without the full matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from espalier.errors import MemoryBudgetError
from espalier.jobs.budget import check_matrix, enough
from espalier.jobs.executor import Executor
from espalier.jobs.progress import Report
from espalier.jobs.schedule import Schedule
from espalier.kernels.base import Kernel, Matrix, Plan
from espalier.kernels.inputs import Inputs
from espalier.structures.numbers import whole_number

_MOST_ROWS = 256  # the most queries at a time: enough to share their subtrees


def gram(
    kernel: Kernel,
    a: object,
    b: object = None,
    *,
    n_threads: int | None = None,
    memory: int | str | None = None,
    progress: Report | None = None,
    executor: Executor | None = None,
) -> Matrix:
    """Return the matrix of kernel values of ``a`` with ``b``, or of ``a`` with itself.

    Parameters
    ----------
    kernel
        Any kernel.
    a, b
        A corpus, a list of structures, vectors, or a table for kernels that name a column.
    n_threads
        How many threads to use; all cores if None. The result does not depend on it, to the last bit.
    memory
        Bytes (or ``"2 GiB"``) for intermediate results; a quarter of what the process may use if None. If they do
        not suffice, the matrix is computed in tiles, with the same values to 1e-12.
    progress
        Called now and then with a :class:`~espalier.jobs.Progress`: what runs, the fraction done, seconds left.
    executor
        Runs blocks of the matrix elsewhere: :class:`~espalier.jobs.Processes`, a client of a cluster, or anything with
        such a ``submit``. Blocks of trees, sequences and dependency trees are jobs, and so are those of kernels written
        in Python, which workers must be able to import; all else is computed here. ``memory`` is the limit of each job,
        and ``n_threads`` is 1 if None. The values agree with those computed here to 1e-12, and no bit depends on the
        number of workers.

    Examples
    --------
    >>> from espalier.kernels.subset_tree import SubsetTree
    >>> gram(SubsetTree(decay=1.0), ["(NP (D the) (N cat))", "(NP (D a) (N cat))"], n_threads=1)
    array([[6., 3.],
           [3., 6.]])
    """
    return kernel.plan(a, b, n_threads=n_threads, memory=memory, progress=progress, executor=executor).matrix(kernel)


def nearest(
    kernel: Kernel,
    corpus: object,
    queries: object,
    k: int = 1,
    *,
    n_threads: int | None = None,
    memory: int | str | None = None,
    progress: Report | None = None,
    executor: Executor | None = None,
) -> tuple[NDArray[np.int64], Matrix]:
    """Return, for each query, the ``k`` items of the corpus with the largest kernel values.

    A few queries are computed at a time, and only their best items are kept: memory grows with the corpus, not with
    corpus times queries. Equal values are in the corpus's order. Use a ``Normalized`` kernel unless large items should
    win.

    Parameters
    ----------
    kernel
        Any kernel.
    corpus, queries
        What the kernel reads: corpora, lists, arrays or tables.
    k
        How many to return; at most the size of the corpus.
    n_threads, memory, progress, executor
        As for :func:`~espalier.gram`.

    Returns
    -------
    indices, values
        Both of shape (queries, k), best first.

    Examples
    --------
    >>> from espalier.kernels.subset_tree import SubsetTree
    >>> corpus = ["(NP (D the) (N cat))", "(NP (D a) (N dog))", "(VP (V sleeps))"]
    >>> indices, values = nearest(SubsetTree(decay=1.0), corpus, ["(NP (D the) (N dog))"], k=2)
    >>> indices.tolist(), values.tolist()
    ([[0, 1]], [[3.0, 3.0]])
    """
    schedule = Schedule.of(n_threads, memory, progress, executor, what="nearest items")
    trees = kernel._tree_columns()
    rows = Inputs.of(corpus).read_strings(trees, "trees")
    n_items, n_queries = len(rows), len(Inputs.of(queries))
    k = whole_number("k", k, 1, max(n_items, 1), wanted=f"an integer from 1 to the size of the corpus, {n_items}")
    if n_items == 0:
        raise ValueError("The corpus is empty, so there are no nearest items.")
    step = int(np.clip(schedule.memory // (4 * 8 * n_items), 1, _MOST_ROWS))
    check_matrix(n_queries, k, 2)
    indices = np.empty((n_queries, k), np.int64)
    values = np.empty((n_queries, k))

    def plan(part: slice, own: Schedule) -> Plan:
        columns = Inputs.of(Inputs.of(queries)._data[part], like=rows).read_strings(trees, "trees")
        return kernel._make_plan(rows, columns, own)

    try:
        for first in range(0, n_queries, step):
            part = slice(first, min(first + step, n_queries))
            block = plan(part, schedule.part(first // step, -(-n_queries // step))).matrix(kernel).T
            best = _best(block, k)
            indices[part] = best
            values[part] = np.take_along_axis(block, best, axis=1)
    except MemoryBudgetError as error:
        # With more memory, queries form other groups, so the number must suffice for all of them.
        every = slice(0, n_queries)
        raise enough(error, lambda: plan(every, schedule)._memory_needed(kernel, pulling_back=False)) from None
    return indices, values


def _best(block: Matrix, k: int) -> NDArray[np.int64]:
    """Columns of the k largest values of each row, best first, ties in column order."""
    if k == block.shape[1]:
        return np.argsort(-block, axis=1, kind="stable")
    out = np.empty((len(block), k), np.int64)
    for row, values in enumerate(block):
        threshold = np.partition(values, -k)[-k]
        above = np.flatnonzero(values > threshold)
        equal = np.flatnonzero(values == threshold)[: k - len(above)]
        chosen = np.sort(np.concatenate([above, equal]))
        out[row] = chosen[np.argsort(-values[chosen], kind="stable")]
    return out
