"""Inputs that once failed, or were made to fail: in `tests/corpus`, by reader, each named for its fault.

An input either reads or raises one clear error that names the file. Where `make fuzz` or `make fuzz-core` finds an
input that does neither, mend the reader and keep the input here.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.properties import test_reader_fuzz
from tests.unit.structures import test_limits

from espalier import structures
from espalier.corpus.forest import Forest
from espalier.errors import InputError, TreeSyntaxError
from espalier.kernels.subset_tree import SubsetTree
from espalier.structures import (
    read_brackets,
    read_conllu,
    read_conllu_documents,
    read_groups,
    read_klp,
    read_table,
    write_brackets,
)

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
READERS = {
    "brackets": read_brackets,
    "conllu": read_conllu,
    "conllu_documents": read_conllu_documents,
    "forest": Forest.load,
    "groups": read_groups,
    "klp": read_klp,
    "table": lambda path: read_table(path, numeric=["score"] if path.suffix in (".csv", ".tsv") else []),
}
# What reads, and how many rows there are; all others are refused.
READABLE = {
    "brackets/deep-chain.mrg": 1,
    "brackets/line-separator.mrg": 1,
    "brackets/no-break-space.mrg": 1,
    "brackets/nothing-but-brackets.mrg": 1,
    "conllu/column-missing.conllu": 1,
    "klp/no-break-space.klp": 1,
    "table/lone-surrogate.jsonl": 1,
}
INPUTS = sorted(path.relative_to(CORPUS).as_posix() for path in CORPUS.glob("*/*"))


def test_every_kept_input_has_a_reader():
    assert {Path(name).parent.name for name in INPUTS} == set(READERS) and set(READABLE) <= set(INPUTS)


def test_every_public_reader_is_tried_with_kept_damaged_and_large_inputs():
    public = {name.removeprefix("read_") for name in structures.__all__ if name.startswith("read_")}
    public.remove("text")  # what the readers themselves read with
    assert {"brackets", "table"} < public
    damaged = {
        "brackets",
        *(str(text.id).split("-")[0] for text in test_reader_fuzz.TEXTS),
    }  # brackets have tests there
    large = {name.split("-")[0] for name in test_limits.READERS}
    for place, tried in (
        ("READERS of tests/properties/test_kept_inputs.py", set(READERS)),
        ("TEXTS of tests/properties/test_reader_fuzz.py", damaged),
        ("READERS of tests/unit/structures/test_limits.py", large),
    ):
        assert public <= tried, f"Add read_{min(public - tried)} to {place}."


@pytest.mark.parametrize("name", INPUTS)
def test_a_kept_input_reads_or_raises_one_clear_error(name):
    path = CORPUS / name
    read = READERS[path.parent.name]
    if name in READABLE:
        assert len(read(path)) == READABLE[name]
    else:
        with pytest.raises((InputError, TreeSyntaxError)) as caught:
            read(path)
        assert str(caught.value).startswith(str(path)) and len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", [name for name in READABLE if name.startswith("brackets/")])
def test_kept_trees_come_back(name, tmp_path):
    trees = read_brackets(CORPUS / name)
    write_brackets(trees, tmp_path / "again.mrg")
    assert read_brackets(tmp_path / "again.mrg") == trees == list(Forest.from_trees(trees))
    assert SubsetTree(0.1)(trees).shape == (len(trees), len(trees))
