"""The real corpora that the benchmarks read, and the prototype that they are measured against.

Both live outside the project. ``ESPALIER_DATA`` names the folder of the data sets; the prototype, ``engine.py`` in
numba, is looked for in the folder ``prototype`` beside it, or where ``ESPALIER_PROTOTYPE`` says.
"""

from __future__ import annotations

import gzip
import importlib.util
import os
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
DATA = (ROOT / os.environ.get("ESPALIER_DATA", "../shared/data")).resolve()

TREC, QE = "trec/constituency_train.tsv.gz", "qe/fr-en/target.trees.gz"
CORPORA = [
    ("TREC, first 1,000", TREC, 1000),
    ("TREC, all 5,452", TREC, None),
    ("QE fr-en target, all 2,497", QE, None),
]
TREEBANKS = (
    "wsj/sample.mrg.gz",
    "gum/trees.ptb.gz",
    "ewt_srl/train.mrg.gz",
    "ewt_srl/dev.mrg.gz",
    "ewt_srl/test.mrg.gz",
    "questionbank/trees.txt",
)


def read_lines(name: str, n: int | None = None) -> list[str]:
    """The bracketed trees of a file with one tree in the last field of each line."""
    path = DATA / name
    opener = gzip.open if name.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", newline="\n") as source:
        lines = [line.rstrip("\n").split("\t")[-1] for line in source if line.strip()]
    return lines[:n]


def available() -> bool:
    return DATA.is_dir()


def load_prototype() -> ModuleType | None:
    """The prototype on one thread, or None where it or numba is not there."""
    path = Path(os.environ.get("ESPALIER_PROTOTYPE", DATA.parent / "prototype")) / "engine.py"
    if not path.is_file() or importlib.util.find_spec("numba") is None:
        return None
    import numba

    numba.set_num_threads(1)
    spec = importlib.util.spec_from_file_location("prototype", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
