"""Tools that look at every change agree with each other, whoever starts them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOOKS = ROOT / ".pre-commit-config.yaml"

pytestmark = pytest.mark.skipif(not HOOKS.exists(), reason="the tools are not part of this copy")


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_hooks_before_a_commit_have_the_versions_of_the_checks(project):
    checked = set(project["project"]["optional-dependencies"]["dev"])
    hooked = re.findall(r'additional_dependencies: \["(.*)"\]', HOOKS.read_text("utf-8"))
    assert len(hooked) >= 4
    assert [requirement for requirement in hooked if requirement not in checked] == []


def test_hooks_before_a_commit_need_no_host_but_the_package_index():
    assert re.findall(r"repo: (.*)", HOOKS.read_text("utf-8")) == ["local"]


def test_every_room_but_the_command_line_stays_away_from_the_terminal(project):
    contracts = project["tool"]["importlinter"]["contracts"]
    guarded = next(own for own in contracts if own["name"] == "Only the command line talks to a terminal")
    rooms = {path.parent.name for path in (ROOT / "src" / "espalier").glob("*/__init__.py")}
    assert {f"espalier.{room}" for room in rooms - {"cli"}} == set(guarded["source_modules"])


def test_workflows_run_the_commands_that_contributors_run():
    commands = re.findall(r"run: (make .*) PYTHON=python", (ROOT / ".github/workflows/checks.yml").read_text("utf-8"))
    assert commands == ["make check", "make test"]
