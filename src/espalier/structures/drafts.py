"""Drafts: a file is written under another name and takes its place only when it is complete.

The draft is in the folder of its target, because a rename is atomic only within one file system. Its name is random and
short, and it is opened only if nothing has that name: two writers never share a draft, and a link that somebody
put there is never followed. The draft is on disk before it is renamed, and the rename is on disk before the
writer goes on, so that a loss of power leaves the old file or the new one.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_ATTEMPTS = 100  # random names that are tried before giving up; the second is hardly ever needed
_NAME = re.compile(r"\.[0-9a-f]{12}\.part")


@contextmanager
def drafted(target: Path) -> Iterator[IO[bytes]]:
    """Yield a file that replaces ``target`` when the block ends, with its mode and owner; a failure leaves nothing."""
    draft, descriptor = _opened(target)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            _dress(stream.fileno(), target)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def is_draft(name: str | bytes | int) -> bool:
    """Say whether an error is about a draft, a file that the user did not name."""
    return isinstance(name, str) and _NAME.fullmatch(os.path.basename(name)) is not None


def _opened(target: Path) -> tuple[Path, int]:
    """A new file beside ``target``, which only its owner may read until it has a mode of its own."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    for attempt in range(_ATTEMPTS):
        draft = target.with_name(f".{secrets.token_hex(6)}.part")
        try:
            # A replaced file may be private, so that its draft is; a new file has the mode that the user's mask gives.
            return draft, os.open(draft, flags, 0o600 if target.exists() else 0o666)
        except FileExistsError:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def _dress(descriptor: int, target: Path) -> None:
    """Give a draft the mode, the owner and the extended attributes of the file that it replaces, as far as allowed."""
    try:
        old = os.stat(target)
    except FileNotFoundError:
        return
    mode = stat.S_IMODE(old.st_mode) & 0o777
    own = os.fstat(descriptor)
    if own.st_uid != old.st_uid:
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, -1)
    if own.st_gid != old.st_gid:
        try:
            os.fchown(descriptor, -1, old.st_gid)
        except PermissionError:
            os.fchmod(descriptor, mode & 0o707 | (mode & 0o007) << 3)  # the other group gets no more than everybody
            return
    os.fchmod(descriptor, mode)
    if hasattr(os, "listxattr"):  # lists of who else may read the file are among them
        with suppress(OSError):
            for name in os.listxattr(target):
                with suppress(OSError):
                    os.setxattr(descriptor, name, os.getxattr(target, name))


def _sync_folder(folder: Path) -> None:
    """Put a rename on the disk; file systems that cannot do so for folders are left alone."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
