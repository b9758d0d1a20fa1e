r"""The nearest similarity that is a kernel: vectors in place of a matrix with negative eigenvalues.

A matrix of similarities that is a kernel has no negative eigenvalue and 1 on its diagonal: a correlation matrix. The
nearest to a matrix :math:`A` in squared error is :math:`(A + \mathrm{Diag}(y))_+`, with its negative eigenvalues set to
0, at the :math:`y` that minimises the convex function

.. math:: \tfrac12 \lVert (A + \mathrm{Diag}(y))_+ \rVert^2 - \textstyle\sum_i y_i

whose gradient is the diagonal's excess over 1 (Malick 2004; Qi and Sun 2006). Higham's alternating projections (2002)
end at the same matrix after several times as many eigenvalue problems; the tests compare the two.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.blas import blas_threads

Floats = NDArray[np.float64]

_CLOSE = 1e-8  # how far a diagonal may be from 1 before rows are scaled to it
_MOST_STEPS = 500


@blas_threads()
def nearest_vectors(values: Floats, rank: int | None = None) -> Floats:
    """Vectors of length 1 whose products are the correlation matrix that is nearest to ``values``.

    With a rank, vectors of that many dimensions by the largest eigenvalues, none longer than 1.
    """
    n = len(values)
    if rank is None:
        found, vectors = _positive_part(values + np.diag(_best_shift(values)))
    elif 4 * rank < n:
        from scipy.sparse.linalg import eigsh

        found, vectors = eigsh(values, rank, which="LA", v0=np.ones(n))
        found, vectors = found[found > 0.0], vectors[:, found > 0.0]
    else:
        found, vectors = _positive_part(values)
        found, vectors = found[-rank:], vectors[:, -rank:]
    vectors = vectors * np.sqrt(found)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Floats = vectors / (length if rank is None else np.maximum(1.0, length))
    return scaled


def _best_shift(values: Floats) -> Floats:
    from scipy.optimize import minimize

    def dual(shift: Floats) -> tuple[float, Floats]:
        found, vectors = _positive_part(values + np.diag(shift))
        excess: Floats = (vectors**2) @ found - 1.0
        return 0.5 * float(found @ found) - float(shift.sum()), excess

    options: Any = {"gtol": _CLOSE, "ftol": 0.0, "maxiter": _MOST_STEPS, "maxcor": 20, "maxls": 50}
    best: Floats = minimize(dual, np.zeros(len(values)), jac=True, method="L-BFGS-B", options=options).x
    return best


def _positive_part(values: Floats) -> tuple[Floats, Floats]:
    """The positive eigenvalues, ascending, and their vectors."""
    found, vectors = np.linalg.eigh(values)
    kept = found > 0.0
    return found[kept], vectors[:, kept]
