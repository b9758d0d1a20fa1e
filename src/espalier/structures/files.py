"""Reading text whole and writing it whole: every reader of files starts here.

A file is decoded strictly, may be compressed with gzip (told by its first bytes, not by its name),
and may start with a byte-order mark, which is not part of the text. A file is written beside its
place and then renamed, so that an interrupted job leaves the old file or none; pipes and devices stay
what they are.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeVar, cast

from espalier.errors import InputError
from espalier.structures.drafts import drafted, is_draft
from espalier.structures.limits import DEFAULT_LIMITS, ReadLimits, check_local

Readable = str | os.PathLike[str] | IO[str] | IO[bytes]

S = TypeVar("S", str, bytes)

_GZIP = b"\x1f\x8b"
_PIECE = 1 << 26  # bytes that are asked for at once


def source_name(source: Readable) -> str:
    """What to call a source in an error message."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else f"<{type(source).__name__}>"


def read_text(source: Readable, *, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS) -> str:
    """Read all text of a path or an open file.

    Raises
    ------
    InputError
        If the bytes are no text in ``encoding``, hold a NUL, are a gzip file that is damaged, or exceed ``limits``.
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
        with _stream(given) if is_open_or_no_file else drafted(target) as stream:
            yield stream
    except OSError as error:
        if error.filename is not None and not is_draft(error.filename):
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
