"""Saved grammars, damaged: one clear error, or a grammar that parses; never a crash.

As in ``test_fragment_files``: what loads is used, for the compiled core trusts it.
"""

from __future__ import annotations

import pytest
from tests.properties.test_fragment_files import CHANGES, loaded
from tests.properties.test_reader_fuzz import mutations, tried
from tests.unit.parsing.test_pcfg import TREES

from espalier.parsing import PCFG

pytestmark = pytest.mark.fuzz

GRAMMARS = {
    "rules as they are": PCFG.from_treebank(TREES),
    "split tags": PCFG.from_treebank(TREES, markov=(2, 1), split_tags=True),
}
WORDS = ["the", "Flump", "saw", "cats", "with", "dogs"]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", GRAMMARS)
def test_damaged_files_raise_or_work(tmp_path, name, change):
    path = tmp_path / "saved"
    GRAMMARS[name].save(path)
    whole = path.read_bytes()
    n_read = 0
    for data in mutations(whole, seed=11, change=lambda _, rng: CHANGES[change](whole, rng)):
        path.write_bytes(data)
        found = loaded(PCFG.load, path)
        if found is not None:
            n_read += 1
            for options in ({}, {"beam": 2.0}, {"coarse": 2.0}):
                parses = tried(lambda found=found, options=options: found.parse(WORDS, 9, **options), data)
                assert parses is None or parses[0].tree.words() == WORDS
    assert n_read > 0
