"""Processes that run jobs side by side on this machine."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from espalier.jobs.memory import n_cores


class Processes(ProcessPoolExecutor):
    """Processes on this machine that run jobs side by side, each with one BLAS thread.

    Use it as a context manager: no process outlives the block, even if Ctrl-C or an error ends it. A script must start
    processes under ``if __name__ == "__main__":``, because each of them imports the script.

    Parameters
    ----------
    n
        The number of processes; one for each core if None.

    Examples
    --------
    >>> import espalier as es
    >>> with Processes(2) as processes:  # doctest: +SKIP
    ...     matrix = es.gram(es.SubsetTree(), forest, executor=processes)
    """

    def __init__(self, n: int | None = None) -> None:
        # Spawned, not forked: the threads of the compiled core and of BLAS do not survive a fork.
        context = get_context("spawn")
        super().__init__(n_cores() if n is None else n, context, initializer=_start_worker, initargs=(os.getpid(),))

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is not None:
            workers = list((self._processes or {}).values())
            self.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.terminate()
        self.shutdown()


def _start_worker(parent: int) -> None:
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles an interruption
    threadpool_limits(1)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process if its parent was killed, of which no signal informs it."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
