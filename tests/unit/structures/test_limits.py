"""Readers take no more text than their limits, go to no network, and say how to read more."""

from __future__ import annotations

import gzip
import io

import pytest

import espalier as es
from espalier.errors import InputError
from espalier.structures.files import read_text
from espalier.structures.limits import ReadLimits

# Each key starts with the name of its reader.
READERS = {
    "brackets": (es.read_brackets, "(A a)\n"),
    "conllu": (es.read_conllu, "1\ta\ta\tX\tX\t_\t0\troot\t_\t_\n\n"),
    "conllu-joint": (
        lambda path, **options: es.read_conllu(path, tags="joint", **options),
        "1\ta\ta\tX\tX\t_\t0\troot\t_\t_\n\n",
    ),
    "conllu_documents": (es.read_conllu_documents, "1\ta\ta\tX\tX\t_\t0\troot\t_\t_\n\n"),
    "klp": (es.read_klp, "x |BT:t| (A(B)) |ET|\n"),
    "table-csv": (lambda path, **options: es.read_table(path, format="csv", **options), "a,b\n"),
    "table-jsonl": (lambda path, **options: es.read_table(path, format="jsonl", **options), '{"a": 1}\n'),
    "groups": (es.read_groups, '{"candidates": [{"tree": "(A a)"}]}\n'),
    "forest": (es.Forest.from_file, "(A a)\n"),
}


@pytest.mark.parametrize("name", READERS)
def test_a_small_gzip_file_of_much_text_is_refused(tmp_path, name):
    read, piece = READERS[name]
    place = tmp_path / "bomb.gz"
    place.write_bytes(gzip.compress((piece * 100_000).encode()))
    with pytest.raises(es.InputError, match=r"bomb.gz, decompressed, holds more than 50,000 bytes, the limit"):
        read(place, limits=ReadLimits(max_bytes=50_000))
    with pytest.raises(es.InputError, match=r"bomb.gz has more than 1,000 lines.*\n.*ReadLimits\(max_lines=...\)"):
        read(place, limits=ReadLimits(max_lines=1_000))
    place.write_bytes(piece.encode())
    plain = place.rename(tmp_path / "plain")
    assert len(read(plain, limits=ReadLimits(None, None, None))) == len(read(plain))


def test_no_more_is_decompressed_than_the_limit(monkeypatch):
    taken = []
    real = gzip.GzipFile.read

    def counted(self, size=-1):
        data = real(self, size)
        taken.append(len(data))
        return data

    monkeypatch.setattr(gzip.GzipFile, "read", counted)
    data = gzip.compress(bytes(10_000_000))
    with pytest.raises(es.InputError, match="holds more than 50,000 bytes"):
        read_text(io.BytesIO(data), limits=ReadLimits(max_bytes=50_000))
    assert sum(taken) == 50_001


@pytest.mark.parametrize(
    ("text", "line"), [("abcdef", 1), ("ab\nabcdef\n", 2), ("ab\ncd\nabcdef", 3), ("\n\n\nabcdef\nab", 4)]
)
def test_a_line_that_is_too_long_is_named(text, line):
    with pytest.raises(es.InputError, match=f"line {line} has more than 5 characters"):
        read_text(io.StringIO(text), limits=ReadLimits(max_line=5))
    assert read_text(io.StringIO(text), limits=ReadLimits(max_line=6)) == text


@pytest.mark.parametrize(("text", "n"), [("", 1), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\nb\n\n", 3)])
def test_lines_are_counted_as_they_are_read(text, n):
    assert read_text(io.StringIO(text), limits=ReadLimits(max_lines=n)) == text
    if n > 1:
        with pytest.raises(es.InputError, match="lines"):
            read_text(io.StringIO(text), limits=ReadLimits(max_lines=n - 1))


def test_streams_are_bounded_and_read_to_their_end(monkeypatch):
    class Drops(io.RawIOBase):
        """A stream that gives one byte at a time."""

        def __init__(self, data):
            self.data = data

        def readable(self):
            return True

        def readinto(self, buffer):
            part, self.data = self.data[:1], self.data[1:]
            buffer[: len(part)] = part
            return len(part)

    assert read_text(Drops(b"abcdef")) == "abcdef"
    monkeypatch.setattr("espalier.structures.files._PIECE", 3)
    assert read_text(io.BytesIO(b"abcdefgh")) == "abcdefgh" == read_text(io.StringIO("abcdefgh"))
    with pytest.raises(es.InputError, match="/dev/zero holds more than 1,000 bytes"):
        read_text("/dev/zero", limits=ReadLimits(max_bytes=1_000))
    with pytest.raises(es.InputError, match="holds more than 4 bytes"):
        read_text(io.StringIO("abcdef"), limits=ReadLimits(max_bytes=4))


def test_limits_are_positive_integers_or_none():
    for value in (0, -1, True, 1.5, "1"):
        with pytest.raises(ValueError, match="max_line must be a positive integer or None"):
            ReadLimits(max_line=value)
    with pytest.raises(TypeError, match="limits must be ReadLimits"):
        es.read_brackets(io.StringIO("(A a)"), limits=5)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "address", ["https://x.org/a.parquet", "s3://bucket/a", "HTTP://x", "hf://a/b", "file:///etc/x"]
)
def test_an_address_is_refused(name, address):
    with pytest.raises(es.InputError, match="looks like an address on a network, but Espalier reads only local files"):
        READERS[name][0](address)


@pytest.mark.parametrize("address", ["https://x.org/a.parquet", "s3://bucket/a.parquet", "gs://b/*.parquet"])
def test_parquet_is_read_from_local_bytes_alone(tmp_path, monkeypatch, address):
    polars = pytest.importorskip("polars")
    with pytest.raises(es.InputError, match="looks like an address"):
        es.read_table(address)
    polars.DataFrame({"a": [1, 2], "b": ["x", None]}).write_parquet(tmp_path / "a.parquet")
    seen = []
    real = polars.read_parquet

    def read(source, **options):
        seen.append(source)
        return real(source, **options)

    monkeypatch.setattr(polars, "read_parquet", read)
    table = es.read_table(tmp_path / "a.parquet")
    assert table["a"].tolist() == [1, 2] and table["b"] == ("x", None)
    assert [type(source) for source in seen] == [io.BytesIO]
    with pytest.raises(FileNotFoundError):
        es.read_table(tmp_path / "*.parquet")
    with pytest.raises(es.InputError, match="more than 1 rows"):
        es.read_table(tmp_path / "a.parquet", limits=ReadLimits(max_lines=1))
    with (tmp_path / "a.parquet").open("rb") as stream:
        assert len(es.read_table(stream)) == 2
    with (tmp_path / "a.parquet").open(encoding="latin-1") as stream, pytest.raises(TypeError, match="mode 'rb'"):
        es.read_table(stream)


def test_parquet_that_grows_beyond_the_limit_of_bytes_is_refused(tmp_path):
    polars = pytest.importorskip("polars")
    path = tmp_path / "a.parquet"
    polars.DataFrame({"text": ["a" * 1000] * 5000}).write_parquet(path)
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match=r"a\.parquet holds more than 1,000,000 bytes(.|\n)*max_bytes"):
        es.read_table(path, limits=ReadLimits(max_bytes=1_000_000))
    assert len(es.read_table(path, limits=ReadLimits(max_bytes=6_000_000))) == 5000
