"""Files that Espalier 0.1 wrote, of every kind, still load and give what they gave.

``files/`` was written by the code of version 0.1.0; ``partial.safetensors``, with fragments of partial trees, by the
last code that wrote this format. ``expected.json`` holds what that code gave for each of them.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import espalier as es
from espalier.demo import generate
from espalier.errors import InputError

FOLDER = Path(__file__).with_name("files")
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
TREES = list(generate(24, seed=0)["tree"])
RIGHT, WRONG, THIRD = "(S (NP (N cat)) (V sat))", "(S (N cat) (V sat))", "(S (X cat) (V sat))"
GROUPS = [es.Group([RIGHT, WRONG, THIRD], [-1.0, -2.0, -3.5], gold) for gold in (RIGHT, WRONG, RIGHT, RIGHT, WRONG)]
USES = {
    "forest": lambda found: es.SubsetTree(0.4)(found).tolist(),
    "sequences": lambda found: es.Spectrum(2, shortest=1)(found).tolist(),
    "arcs": lambda found: es.DependencySubtree(("tags", "distance"))(found).tolist(),
    "graphs": lambda found: es.WeisfeilerLehman(2)(found).tolist(),
    "grammar": lambda found: [[str(own.tree), own.score] for own in found.parse(TREES[0].words(), 3)],
    "tagger": lambda found: [str(own) for own in found.tag(TREES[0].words(), 3)],
    "vectorizer": lambda found: found.transform(TREES[:6]).toarray().tolist(),
    "partial": lambda found: found.transform(TREES[:6]).toarray().tolist(),
    "classifier": lambda found: found.decision_function(TREES[:6]).tolist(),
    "perceptron": lambda found: [own.tolist() for own in found.decision_function(GROUPS)],
    "ranking": lambda found: [own.tolist() for own in found.decision_function(GROUPS)],
    "preferences": lambda found: [own.tolist() for own in found.decision_function(GROUPS)],
}


def test_every_file_has_its_use():
    assert {path.stem for path in FOLDER.glob("*.safetensors")} == set(USES) == set(EXPECTED)


@pytest.mark.parametrize("name", USES)
def test_old_files_load_and_give_what_they_gave(tmp_path, name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = es.load(FOLDER / f"{name}.safetensors")
    assert len(caught) == (name != "partial")  # the only one with a checksum
    assert all("has no checksum" in str(own.message) for own in caught)
    assert USES[name](found) == EXPECTED[name]
    found.save(tmp_path / "new")
    assert USES[name](es.load(tmp_path / "new")) == EXPECTED[name]


def test_an_old_file_of_another_kind_says_what_it_holds():
    with pytest.warns(UserWarning, match="no checksum"), pytest.raises(InputError, match="holds a Arcs, no Forest"):
        es.Forest.load(FOLDER / "arcs.safetensors")
