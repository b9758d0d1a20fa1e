"""The Cholesky factor and the inverse of large matrices by several threads, with the same bits for any number.

The threads of a BLAS spin while they wait and change the last bits, so a BLAS has one thread here (see ``blas``). Small
matrices need no more. Large ones are given to the compiled core, which cuts them into tiles, always in the same way,
and lets its own threads compute the tiles with the functions of scipy's BLAS.
"""

from __future__ import annotations

import functools
import re

from espalier import _core
from espalier.blas import blas_threads, workers
from espalier.gp.parameters import Vector
from espalier.jobs.memory import n_cores

LARGE = 768  # rows of three tiles; smaller matrices leave little for threads to share

_TYPES = {
    "dgemm": "char char int int int d d int d int d d int",
    "dsyrk": "char char int int d d int d d int",
    "dtrsm": "char char char char int int d d int d int",
    "dtrmm": "char char char char int int d d int d int",
    "dpotrf": "char int d int int",
    "dlauum": "char int d int int",
    "dtrtri": "char char int d int int",
}


def is_tiled(matrix: Vector) -> bool:
    """Whether a matrix is cut: this depends on its size alone."""
    return len(matrix) > LARGE and matrix.flags.c_contiguous and matrix.flags.writeable and bool(_functions())


@blas_threads()
def factorize_tiled(matrix: Vector) -> int:
    """Put the factor into the upper triangle; return 0, or the row where the matrix is not positive definite."""
    return _core.factorize_tiled(_functions(), matrix, workers(n_cores()))


@blas_threads()
def invert_factor_tiled(matrix: Vector) -> int:
    """Put the inverse of the factor in its place, in the upper triangle; return 0, or the row where it is singular."""
    return _core.invert_factor_tiled(_functions(), matrix, workers(n_cores()))


@blas_threads()
def invert_tiled(matrix: Vector) -> int:
    """Put the inverse in place of its factor, in the upper triangle; return 0, or the row where it is singular."""
    return _core.invert_tiled(_functions(), matrix, workers(n_cores()))


@functools.cache
def _functions() -> dict[str, object]:
    """The functions of scipy's BLAS and LAPACK; none if they take other types than the core gives them."""
    from scipy.linalg import cython_blas, cython_lapack

    known = {**cython_blas.__pyx_capi__, **cython_lapack.__pyx_capi__}
    found = {name: known.get(name) for name in _TYPES}
    return found if all(_types(found[name]) == types for name, types in _TYPES.items()) else {}


def _types(capsule: object) -> str:
    """The types of a function's arguments, from the name that Cython gave its capsule."""
    declared = re.search(r"void \((.*)\)", repr(capsule))
    if declared is None:
        return ""
    return " ".join(name.removesuffix(" *").rsplit("_", 1)[-1] for name in declared[1].split(", "))
