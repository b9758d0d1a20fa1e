"""The start of the command ``espalier``: an interruption while its libraries load ends it without a traceback.

It stands outside of the package, which loads its libraries before any of its modules run.
"""

from __future__ import annotations

import sys

INTERRUPTED = 130


def run() -> None:
    """Load the command line and run it."""
    try:
        from espalier.cli.main import run as run_command

        run_command()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(INTERRUPTED)
