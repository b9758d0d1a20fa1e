"""What ``import espalier`` costs a user who only wants to import it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import espalier as es

# Libraries that some part of Espalier uses, each only when that part is used.
HEAVY = {
    "IPython",
    "arviz",
    "arviz_stats",
    "dask",
    "jinja2",
    "lxml",
    "matplotlib",
    "mici",
    "nltk",
    "numba",
    "pandas",
    "polars",
    "pyarrow",
    "rich",
    "scipy.optimize",
    "scipy.stats",
    "sklearn",
    "spacy",
    "stanza",
    "torch",
    "typer",
}


def _modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return set(json.loads(done.stdout))


def test_import_leaves_heavy_libraries_alone():
    # What the interpreter loads by itself (hooks of an editable install) does not count.
    loaded = _modules_after("import espalier") - _modules_after("")
    assert "espalier" in loaded
    assert loaded & HEAVY == set()


ROOMS = "bayes corpus errors explanations fragments gp jobs kernels parsing rerank spaces structures svm".split()


def test_completion_offers_every_public_name_and_every_room_and_nothing_else():
    code = "import json, espalier as es; print(json.dumps([dir(es), es.__all__]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    listed, public = json.loads(done.stdout)
    assert [name for name in listed if not name.startswith("__")] == sorted([*public, *ROOMS])
    assert "__version__" in listed


def test_about_seventy_names_stand_at_the_top_and_all_of_them_load():
    code = "import espalier as es; print(len(es.__all__), [getattr(es, name) for name in es.__all__ + dir(es)] != [])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    number, loaded = done.stdout.split()
    assert int(number) <= 75 and loaded == "True"


def test_function_gram_is_not_hidden_by_its_room():
    code = "import espalier as es, espalier.gram.matrix; assert callable(es.gram) and callable(es.nearest)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_name_that_lives_in_a_room_is_told_and_one_that_lives_nowhere_is_not():
    with pytest.raises(AttributeError, match=r"has no attribute 'WordNet'\. It is espalier\.kernels\.WordNet\.$"):
        _ = es.WordNet
    with pytest.raises(AttributeError, match=r"has no attribute 'Forset'\.$"):
        _ = es.Forset


def test_listing_the_names_loads_nothing():
    assert _modules_after("import espalier; dir(espalier)") & HEAVY <= _modules_after("") & HEAVY
