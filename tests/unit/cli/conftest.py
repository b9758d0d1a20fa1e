"""The files that commands of reranking read."""

from __future__ import annotations

from pathlib import Path

import pytest

import espalier as es
from candidate_groups import dependency_groups, groups_of, tagged_groups


@pytest.fixture(scope="session")
def made_groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with groups of every kind and a reranker of trees."""
    folder = tmp_path_factory.mktemp("groups")
    for name, make in (("trees", groups_of), ("tags", tagged_groups), ("arcs", dependency_groups)):
        es.structures.write_groups(make(0), folder / f"{name}.jsonl")
        es.structures.write_groups(make(1), folder / f"{name}.new.jsonl")
    es.Reranker(es.VotedPerceptron(es.SubsetTree(0.5), random_state=0)).fit(groups_of(0)).save(folder / "r")
    return folder


@pytest.fixture
def groups_here(made_groups: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test runs in a folder with copies of these files."""
    monkeypatch.chdir(tmp_path)
    for path in made_groups.iterdir():
        Path(path.name).write_bytes(path.read_bytes())
    return tmp_path
