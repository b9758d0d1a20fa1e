"""How many threads linear algebra takes: one for each BLAS, while this package computes.

numpy and scipy bring a BLAS each, with as many threads as there are cores. On small matrices these threads cost more
than they give: they spin while they wait, beside each other and beside the threads of the compiled core, and as soon
as another process runs a fit takes fifty times as long. They also change the last bits of results. So each BLAS
has one thread as long as any call of this package is inside ``blas_threads``; where matrices are large,
``gp/tiled.py`` gives pieces of them to threads of its own, which sleep while they wait.

The number of threads of a BLAS belongs to the process. The first call that enters saves it and the last one that leaves
restores it, also after an error and with calls in several threads at once.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

_asked: ContextVar[int | None] = ContextVar("espalier_blas_threads", default=None)


_Key = tuple[int, int]  # the id of a library, and the thread where it keeps a number for each thread, else 0


class _Library:
    """One BLAS, with the functions that every call needs, looked up once."""

    def __init__(self, controller: Any) -> None:
        self._controller = controller
        self.path: str = controller.filepath
        self.is_by_thread = getattr(controller, "threading_layer", None) == "openmp"
        # From its version 3.8 on threadpoolctl lets one Python thread control OpenBLAS and ignores the others. Here
        # the thread that restores a number need not be the one that changed it, so what checks that is passed over.
        self.set_threads = getattr(controller, "_real_set_num_threads", controller.set_num_threads)
        self.get_threads = controller.get_num_threads


@dataclass(slots=True)
class _Limited:
    """A library that has one thread for now."""

    library: _Library
    n_threads: int  # that it had
    n_inside: int = 0  # calls that need it so

    def restore(self) -> None:
        """Give the library back what it had."""
        if self.n_threads != 1:
            self.library.set_threads(self.n_threads)


class _Libraries:
    """Every BLAS of the process, and who limits them at the moment."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._limited: dict[_Key, _Limited] = {}
        self._found: list[_Library] = []
        self._with_scipy: bool | None = None

    def enter(self) -> list[_Key]:
        """Limit every library; the caller passes the returned value to :meth:`leave`."""
        with self._lock:
            self._find()
            keys = []
            for library in self._found:
                key = _key(library)
                limited = self._limited.get(key)
                if limited is None:
                    limited = self._limited[key] = _Limited(library, library.get_threads())
                    if limited.n_threads != 1:
                        library.set_threads(1)
                limited.n_inside += 1
                keys.append(key)
        return keys

    def leave(self, keys: list[_Key]) -> None:
        """The last one that leaves gives the libraries back what they had."""
        with self._lock:
            for key in keys:
                if (limited := self._limited.get(key)) is None:
                    continue  # this is a forked child
                limited.n_inside -= 1
                if limited.n_inside == 0:
                    limited.restore()
                    del self._limited[key]

    def in_force(self) -> int | None:
        """The threads that any BLAS may have outside of this package, or None where there is none to ask."""
        with self._lock:
            self._find()
            limited = [self._limited.get(_key(library)) for library in self._found]
            pairs = zip(self._found, limited, strict=True)
            return min(
                (library.get_threads() if own is None else own.n_threads for library, own in pairs), default=None
            )

    def forget(self) -> None:
        """Start afresh in a forked child, which has none of the threads that were inside."""
        self._lock = threading.Lock()
        for limited in self._limited.values():
            limited.restore()
        self._limited.clear()

    def _find(self) -> None:
        """Look for libraries, which takes milliseconds, where scipy's may have been loaded since the last look."""
        with_scipy = "scipy.linalg" in sys.modules
        if with_scipy != self._with_scipy:
            from threadpoolctl import ThreadpoolController

            known = {library.path for library in self._found}
            for controller in ThreadpoolController().select(user_api="blas").lib_controllers:
                if controller.filepath not in known:
                    self._found.append(_Library(controller))
            self._with_scipy = with_scipy


def _key(library: _Library) -> _Key:
    return id(library), threading.get_ident() if library.is_by_thread else 0


_libraries = _Libraries()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_libraries.forget)


@contextlib.contextmanager
def blas_threads(n_threads: int | None = None) -> Iterator[None]:
    """Allow one thread to each BLAS inside, and ``n_threads`` to the work on pieces of large matrices.

    May be nested, and used as a decorator; where ``n_threads`` is None the number is that of the context around it.
    """
    token = None if n_threads is None else _asked.set(n_threads)
    keys = _libraries.enter()
    try:
        yield
    finally:
        _libraries.leave(keys)
        if token is not None:
            _asked.reset(token)


def workers(n_cores: int) -> int:
    """How many threads may work on pieces of a matrix: the caller's number, or all cores.

    Never more than the user allowed a BLAS to have, by the environment or by ``threadpool_limits``.
    """
    in_force = _libraries.in_force()
    asked = _asked.get() or n_cores
    return max(1, asked if in_force is None else min(asked, in_force))
