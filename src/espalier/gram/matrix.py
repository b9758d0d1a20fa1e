"""The matrix of a kernel over corpora."""

from __future__ import annotations

from espalier.jobs.executor import Executor
from espalier.jobs.progress import Report
from espalier.kernels.base import Kernel, Matrix


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
        Runs blocks of the matrix elsewhere, such as :class:`~espalier.jobs.Processes` or a client of a cluster. The
        values do not depend on the number of workers, to the last bit; see :meth:`Kernel.plan
        <espalier.kernels.base.Kernel.plan>`.

    Examples
    --------
    >>> from espalier.kernels.subset_tree import SubsetTree
    >>> gram(SubsetTree(decay=1.0), ["(NP (D the) (N cat))", "(NP (D a) (N cat))"], n_threads=1)
    array([[6., 3.],
           [3., 6.]])
    """
    return kernel.plan(a, b, n_threads=n_threads, memory=memory, progress=progress, executor=executor).matrix(kernel)
