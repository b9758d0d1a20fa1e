"""A table with a column of every kind, for the tests of tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from espalier.structures import Table, Tree


class Corpus:
    """Stands for a Forest: a length, and views by an array of indices."""

    def __init__(self, items):
        self.items = list(items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, key):
        if isinstance(key, int):
            return self.items[key]
        return Corpus(self.items[index] for index in key)


@pytest.fixture
def table() -> Table:
    return Table(
        {
            "tree": [Tree("A"), Tree("B"), Tree("C")],
            "vector": np.arange(6.0).reshape(3, 2),
            "sparse": sparse.csr_array(np.eye(3)),
            "corpus": Corpus("abc"),
        },
        label=["x", "y", "x"],
    )
