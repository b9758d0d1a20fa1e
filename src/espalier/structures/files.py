"""Reading text whole and writing it whole: every reader of files starts here.

A file is decoded strictly, may be compressed with gzip (told by its first bytes, not by its name),
and may start with a byte-order mark, which is not part of the text.

A file is written as a draft, under another name, and takes its place only when it is complete; pipes and devices stay
what they are. The draft is in the folder of its target, because a rename is atomic only within one file system. Its
name is random and short, and it is opened only if nothing has that name: two writers never share a draft, and a link
that somebody put there is never followed. The draft is on disk before it is renamed, and the rename is on disk before
the writer goes on, so that a loss of power leaves the old file or the new one.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import secrets
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypeVar, cast

from espalier.errors import InputError
from espalier.structures.limits import DEFAULT_LIMITS, ReadLimits, check_local

Readable = str | os.PathLike[str] | IO[str] | IO[bytes]

S = TypeVar("S", str, bytes)

_GZIP = b"\x1f\x8b"
_PIECE = 1 << 26  # bytes that are asked for at once
_ATTEMPTS = 100  # random names that are tried before giving up; the second is hardly ever needed
_DRAFT = re.compile(r"\.[0-9a-f]{12}\.part")


def source_name(source: Readable) -> str:
    """What to call a source in an error message."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else f"<{type(source).__name__}>"


def read_text(source: Readable, *, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS) -> str:
    """Read all text of a path or an open file.

    An InputError says if the bytes are no text in ``encoding``, hold a NUL, are damaged gzip, or exceed ``limits``.
    """
    if not isinstance(limits, ReadLimits):
        raise TypeError(f"limits must be ReadLimits, got {limits!r}.")
    name = source_name(source)
    data = _read(source, limits)
    if isinstance(data, bytes):
        if data.startswith(_GZIP):
            data = _decompressed(data, name, limits)
        elif name.endswith(".gz") and data:
            raise InputError(f"{name} is named like a gzip file, but is not one. Rename it without .gz.")
        if data[8:9] == b"{" and b"\0" in data[:8]:  # the length of a header, and the header
            raise InputError(f"{name} is a safetensors file, such as a saved model, and no text.")
        text = _decoded(data, encoding, name)
    else:
        text = data
    text = text.removeprefix("\ufeff")
    nul = text.find("\0")
    if nul >= 0:
        line = text.count("\n", 0, nul) + 1
        raise InputError(
            f"{name}, line {line}: a NUL character stands here, so this is a binary file "
            "or text in another encoding such as UTF-16; name the encoding if so."
        )
    limits.check_lines(text, name)
    return text


def read_bytes(source: Readable, *, limits: ReadLimits = DEFAULT_LIMITS) -> bytes:
    """Read all bytes of a path or of a file that is open for bytes."""
    data = _read(source, limits)
    if isinstance(data, str):
        raise TypeError(f"{source_name(source)} is open as text, and bytes are needed. Open it with mode 'rb'.")
    return data


def _read(source: Readable, limits: ReadLimits) -> bytes | str:
    if isinstance(source, (str, os.PathLike)):
        check_local(os.fspath(source))
        with Path(source).open("rb") as stream:
            return _bounded(stream, limits, os.fspath(source))
    if not hasattr(source, "read"):
        raise TypeError(f"A path or an open file is needed, got {source!r} of type {type(source).__name__}.")
    try:
        return _bounded(cast("IO[bytes]", source), limits, source_name(source))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source_name(source)} is not text in {error.encoding}: {error.reason} at byte "
            f"{error.start}. Open it with its own encoding."
        ) from None


def _bounded(stream: IO[S], limits: ReadLimits, name: str) -> S:
    """All that a stream holds, which is text or bytes; hardly more than the limit is ever read."""
    if limits.max_bytes is None:
        return stream.read()
    parts: list[S] = []
    size = 0
    while part := stream.read(min(_PIECE, limits.max_bytes + 1 - size)):
        parts.append(part)
        size += len(part)
        limits.check_bytes(size, name)
    return parts[0][:0].join(parts) if parts else part


def _decompressed(data: bytes, name: str, limits: ReadLimits) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return _bounded(cast("IO[bytes]", stream), limits, f"{name}, decompressed,")
    except EOFError:
        raise InputError(f"{name} is a gzip file that ends too early. Copy it again.") from None
    except (OSError, zlib.error) as error:
        raise InputError(f"{name} is a damaged gzip file ({error}). Copy it again.") from None


def _decoded(data: bytes, encoding: str, name: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode(encoding, "replace")) + 1
        raise InputError(
            f"{name}, line {line}, column {column}: byte 0x{data[error.start]:02x} is not "
            f"{encoding} text ({error.reason}). Name the encoding if the file has another, for example latin-1."
        ) from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text to ``path`` whole or not at all; a name in ``.gz`` is compressed."""
    target = Path(path)
    data = text.encode()
    if target.suffix == ".gz":
        buffer = io.BytesIO()
        # No name and no time inside: equal text gives equal files.
        with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as stream:
            stream.write(data)
        data = buffer.getvalue()
    write_bytes(target, data)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write bytes to ``path`` whole or not at all: beside it first, then renamed."""
    with written(path) as stream:
        stream.write(data)


@contextmanager
def written(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file that appears at ``path`` once the block is done, and not at all where it fails.

    A file that is replaced leaves its mode and its owner to the new one. A link is followed. What is no file, such as
    a pipe or a device, is written to as it is, and so is what is open already: ``/dev/stdout`` may lead to a file to
    which others write too.
    """
    given = Path(path)
    if given.is_dir():
        raise IsADirectoryError(21, "This is a folder, and a file is to be written", os.fspath(given))
    target = Path(os.path.realpath(given))
    try:
        is_open_or_no_file = given.exists() and (not given.is_file() or _descriptor(given) is not None)
        with _stream(given) if is_open_or_no_file else _drafted(target) as stream:
            yield stream
    except OSError as error:
        if error.filename is not None and not _is_draft(error.filename):
            raise  # names its file already, which may be one that the block reads
        if error.errno is None:
            raise OSError(errno.EIO, f"Not all of the file could be written ({error})", os.fspath(given)) from None
        raise OSError(error.errno, error.strerror, os.fspath(given)) from None  # the draft tells nobody anything


@contextmanager
def _stream(path: Path) -> Iterator[IO[bytes]]:
    descriptor = _descriptor(path)
    if descriptor is not None and sys.stdout is not None:
        sys.stdout.flush()  # what was printed before stands before
    with path.open("wb") if descriptor is None else os.fdopen(os.dup(descriptor), "wb") as stream:
        yield stream


def _descriptor(path: Path) -> int | None:
    """The number of the open file of this process that a name such as ``/dev/stdout`` stands for."""
    place = os.path.abspath(path)
    for _ in range(40):  # as many links as the system follows
        folder, name = os.path.realpath(os.path.dirname(place)), os.path.basename(place)
        if folder in (f"/proc/{os.getpid()}/fd", "/dev/fd") and name.isdecimal():
            return int(name)
        place = os.path.join(folder, name)
        if not os.path.islink(place):
            return None
        place = os.path.join(folder, os.readlink(place))
    return None


@contextmanager
def _drafted(target: Path) -> Iterator[IO[bytes]]:
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


def _is_draft(name: str | bytes | int) -> bool:
    """Say whether an error is about a draft, a file that the user did not name."""
    return isinstance(name, str) and _DRAFT.fullmatch(os.path.basename(name)) is not None


def _opened(target: Path) -> tuple[Path, int]:
    """A new file beside ``target``, which only its owner may read until it has a mode of its own."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    # A replaced file may be private, so that its draft is; a new file has the mode that the user's mask gives.
    mode = 0o600 if target.exists() else 0o666
    for _ in range(_ATTEMPTS):
        draft = target.with_name(f".{secrets.token_hex(6)}.part")
        with suppress(FileExistsError):
            return draft, os.open(draft, flags, mode)
    raise FileExistsError(errno.EEXIST, "No name for a draft is free in the folder of this file", os.fspath(target))


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
