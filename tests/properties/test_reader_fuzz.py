"""Readers given damaged files: one clear error or a result, never another error, a crash or a hang.

Each reader gets mutations of small files that it can read, from a seeded generator, so that every run tries
the same ones. ``ESPALIER_FUZZ_SECONDS`` lets each go on for so many seconds, and ``ESPALIER_FUZZ_SEED`` tries others:
``make fuzz`` and ``make sanitize`` set both.
"""

from __future__ import annotations

import gzip
import io
import os
import random
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from espalier import errors
from espalier.corpus.forest import Forest
from espalier.kernels.subset_tree import SubsetTree
from espalier.storage.checksums import sealed
from espalier.structures import (
    TaggedSequence,
    read_brackets,
    read_conllu,
    read_conllu_documents,
    read_groups,
    read_klp,
    read_table,
    read_text,
    write_brackets,
)
from espalier.structures.conllu_text import ConlluText

pytestmark = pytest.mark.fuzz

N_INPUTS = 300
SECONDS = float(os.environ.get("ESPALIER_FUZZ_SECONDS", "0"))
SEED = int(os.environ.get("ESPALIER_FUZZ_SEED", "1"))
DOCUMENTED = tuple(getattr(errors, name) for name in errors.__all__)

BRACKETS = "(S (NP (D the) (N cat)) (VP (V sat)))\n( (S (NP-SBJ (-NONE- *-1)) (VP été)))\n(A \\( b\\ c) (B)\n"
KLP = (
    "HUM |BS:q| Who ? |ES| |BV:bow| who:1 ?:2.5 |EV| |BDV:v| 1.0,2.0 |EDV| |BT:t| (A(B(c))(D)) |ET|\n"
    "NUM |BS:q| How été ? |ES| |BV:bow| how:1 ?:-1e3 |EV| |BDV:v| 3 4 |EDV| |BT:t| (A(B)(D d)) |ET|\n"
)
CONLLU = (
    "# text = Cats sleep\n1\tCats\tcat\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_\n"
    "2\tsleep\tsleep\tVERB\tVBP\t_\t0\troot\t_\tSpaceAfter=No\n\n"
    "1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\t_\n1\tIt\tit\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n"
    "2\t's\tbe\tAUX\tVBZ\t_\t0\troot\t2.1:x\t_\n2.1\tx\tx\t_\t_\t_\t_\t_\t_\t_\n"
)
CSV = 'tree,score,note\n"(A a)",1,"x ""y"", z"\n(B b),2.5,\n'
TSV = 'tree\tscore\n(A a)\t1\n(B "b)\t-2e3\n'
JSONL = '{"tree": "(A a)", "score": 1, "v": [1, 2]}\n{"tree": null, "score": 2.5, "v": [3, 4.0]}\n'

GROUPS_JSON = (
    '{"id": "a", "candidates": [{"tree": "(A a)", "score": -1.5}, {"tree": "(B a)", "score": -2}], "gold": "(A a)"}\n'
)
GROUPS_LAYOUT = "2 first\n-1.5\n(A a)\n-2.5\n(B a)\n1\n-3 (C c)\n"
GROUPS_CONLLU = "# sent_id = a\n# score = -1.5\n" + CONLLU

PIECES = [
    *(
        b"(",
        b")",
        b"((",
        b"))",
        b"\\",
        b"\\(",
        b"|",
        b"|BT:",
        b"|ET|",
        b"|BV:x|",
        b"|EV|",
        b":",
        b",",
        b'"',
        b"{",
        b"}",
    ),
    *(
        b"[",
        b"]",
        b"\t",
        b"\n",
        b"\r\n",
        b"\n\n",
        b" ",
        b"_",
        b"#",
        b"-",
        b".",
        b"0",
        b"-1",
        b"1e999",
        b"nan",
        b"NaN",
    ),
    *(
        b"9" * 30,
        b"null",
        b"\0",
        b"\xff",
        b"\xc3",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"\xc2\x85",
        b"\x1f\x8b",
        b"\x1a",
    ),
]


def mutate(data: bytes, rng: random.Random) -> bytes:
    """A copy with a few random changes: pieces inserted, cut, doubled, moved, replaced, the end lost."""
    buffer = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at = rng.randint(0, len(buffer))
        stop = min(len(buffer), at + rng.randint(0, 20))
        change = rng.randrange(6)
        if change == 0:
            buffer[at:at] = rng.choice(PIECES)
        elif change == 1:
            del buffer[at:stop]
        elif change == 2:
            buffer[at:at] = buffer[at:stop] * rng.choice([1, 2, 50])
        elif change == 3:
            there = rng.randint(0, len(buffer))
            buffer[there:there] = buffer[at:stop]
        elif change == 4 and at < len(buffer):
            buffer[at] = rng.randrange(256)
        elif rng.random() < 0.3:
            del buffer[at:]
    return bytes(buffer)


def mutations(
    data: bytes,
    *,
    seed: int,
    seconds: float = SECONDS,
    change: Callable[[bytes, random.Random], bytes] = mutate,
) -> Iterator[bytes]:
    rng = random.Random(f"{seed} {SEED}")
    pool = [data]
    end = time.monotonic() + seconds
    n = 0
    while n < N_INPUTS or time.monotonic() < end:
        changed = change(rng.choice(pool), rng)
        if rng.random() < 0.02 and len(changed) < 20_000:
            pool.append(changed)
            del pool[1:-100]
        yield changed
        n += 1


def tried(read: Callable[[], object], data: bytes) -> object:
    """What the reader returns, or None after an error that it documents."""
    try:
        return read()
    except Exception as error:
        assert isinstance(error, DOCUMENTED) or type(error) is ValueError, (
            f"{type(error).__name__}: {error} for {data!r}"
        )
        assert str(error).strip(), f"{type(error).__name__} without a message for {data!r}"
        return None


def test_brackets(tmp_path):
    n_read = 0
    for data in mutations(BRACKETS.encode(), seed=1):
        trees = tried(lambda data=data: read_brackets(io.BytesIO(data)), data)
        if trees is not None:
            n_read += 1
            write_brackets(trees, tmp_path / "again.mrg")
            assert read_brackets(tmp_path / "again.mrg") == trees
            forest = Forest.from_trees(trees)
            assert list(forest) == trees
    assert n_read > 0


def test_compressed_brackets():
    for data in mutations(gzip.compress(BRACKETS.encode(), mtime=0), seed=2):
        tried(lambda data=data: read_brackets(io.BytesIO(data)), data)


def kept_text(text: str) -> ConlluText:
    """The sentences of CoNLL-U, of which nothing is lost if nothing is replaced."""
    found = ConlluText.of(text)
    assert found.replaced([{}] * len(found)) == text
    found.trees([TaggedSequence(words, words) for words in found.forms()])
    return found


# Each id starts with the name of its reader.
TEXTS = [
    pytest.param(KLP, read_klp, id="klp"),
    pytest.param(CONLLU, read_conllu, id="conllu"),
    pytest.param(CONLLU, lambda file: read_conllu(file, tags="xpos"), id="conllu-xpos"),
    pytest.param(CONLLU, lambda file: read_conllu(file, tags="joint"), id="conllu-joint"),
    pytest.param(CONLLU, lambda file: kept_text(read_text(file)), id="conllu-text"),
    pytest.param(f"# newdoc id = a\n{CONLLU}", read_conllu_documents, id="conllu_documents"),
    pytest.param(CSV, lambda file: read_table(file, format="csv", numeric=["score"]), id="table-csv"),
    pytest.param(TSV, lambda file: read_table(file, format="tsv", numeric=["score"]), id="table-tsv"),
    pytest.param(
        TSV, lambda file: read_table(file, format="tsv", columns=["a", "b"], quotes=True), id="table-tsv-quotes"
    ),
    pytest.param(JSONL, lambda file: read_table(file, format="jsonl"), id="table-jsonl"),
    pytest.param(
        GROUPS_JSON,
        read_groups,
        id="groups-jsonl",
        marks=pytest.mark.filterwarnings("ignore:.*these keys are ignored"),  # mutation invents keys
    ),
    pytest.param(GROUPS_LAYOUT, read_groups, id="groups-layout"),
    pytest.param(GROUPS_CONLLU, read_groups, id="groups-conllu"),
]


@pytest.mark.parametrize(("text", "read"), TEXTS)
@pytest.mark.filterwarnings("ignore:The first row of")  # which may become a number
def test_text(text, read):
    n_read = sum(
        tried(lambda data=data: read(io.BytesIO(data)), data) is not None for data in mutations(text.encode(), seed=3)
    )
    assert n_read > 0


def test_parquet():
    polars = pytest.importorskip("polars", reason="polars is optional")
    buffer = io.BytesIO()
    polars.DataFrame({"tree": ["(A a)", None], "score": [1.0, 2.0]}).write_parquet(buffer)
    # The reader of Parquet is another project's: a short look is enough.
    for data in mutations(buffer.getvalue(), seed=4, seconds=0):
        tried(lambda data=data: read_table(io.BytesIO(data), format="parquet"), data)


def mutate_forest(data: bytes, rng: random.Random) -> bytes:
    """Change a safetensors file, and let its checksum fit again, so that what else is checked is reached."""
    return sealed(mutate_saved(data, rng))


def mutate_saved(data: bytes, rng: random.Random) -> bytes:
    """Change a safetensors file in its numbers alone, in its header alone, or anywhere."""
    size = int.from_bytes(data[:8], "little")
    kind = rng.randrange(3)
    if size > len(data) or kind == 0:
        return mutate(data, rng)
    if kind == 1:
        header = mutate(data[8 : 8 + size], rng)
        return len(header).to_bytes(8, "little") + header + data[8 + size :]
    buffer = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        code, width = rng.choice([("<i", 4), ("<q", 8)])
        n_places = (len(buffer) - 8 - size) // width
        if n_places > 0:
            value = rng.choice([-1, 0, 1, 2, 3, 5, 7, 100, 2**31 - 1, -(2**31)])
            struct.pack_into(code, buffer, 8 + size + width * rng.randrange(n_places), value)
    return bytes(buffer)


def test_saved_forest(tmp_path: Path):
    # A missing row and repeated subtrees: every array has something in it.
    trees = ["(S (NP (D the) (N cat)) (VP (V sat)))", None, "(A (B b) (B b) c)"]
    path = tmp_path / "forest.safetensors"
    Forest.from_trees(trees, missing="empty").save(path)
    kernel = SubsetTree()
    n_read = 0
    for data in mutations(path.read_bytes(), seed=5, change=mutate_forest):
        path.write_bytes(data)
        forest = tried(lambda: Forest.load(path), data)
        if isinstance(forest, Forest):
            # What loads must be sound: the compiled core trusts it.
            n_read += 1
            for row in range(len(forest)):
                tried(lambda forest=forest, row=row: str(forest[row]), data)
            tried(lambda forest=forest: kernel(forest), data)
    assert n_read > 0
