"""A Python process of its own that is interrupted in the middle of long calls, as by Ctrl-C.

The child runs what makes a call ready, says so, and runs the call. The parent then sends SIGINT and waits for the child
to say that it was interrupted.
"""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
import time

PATIENCE = 20.0  # seconds; every call that is interrupted here would take much longer

_CHILD = """
import json, sys
for line in sys.stdin:
    setup, call = json.loads(line)
    names = {}
    try:
        exec(setup, names)
        print("ready", flush=True)
        exec(call, names)
        print("ran to the end", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}".replace("\\n", " "), flush=True)
"""


class Interruptible:
    """Runs calls in a child process and interrupts them."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None

    def interrupt(self, setup: str, call: str, after: float = 0.3) -> str:
        """Run ``setup``, then ``call``, send SIGINT, and return what became of it."""
        if self._child is None:
            self._child = subprocess.Popen(
                [sys.executable, "-c", _CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        child = self._child
        assert child.stdin is not None
        child.stdin.write(json.dumps([setup, call]) + "\n")
        child.stdin.flush()
        said = self._line()
        if said != "ready":
            return said
        time.sleep(after)
        child.send_signal(signal.SIGINT)
        said = self._line()
        if said != "interrupted":
            self.close()  # the signal would meet the next call
        return said

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None

    def _line(self) -> str:
        assert self._child is not None and self._child.stdout is not None
        if not select.select([self._child.stdout], [], [], PATIENCE)[0]:
            self.close()
            return "no answer"
        return self._child.stdout.readline().strip()
