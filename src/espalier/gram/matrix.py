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
