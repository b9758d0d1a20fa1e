"""Texts are plain English: phrases that readers had to decipher do not come back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.py"), *ROOT.glob("examples/*.py")])
RIDDLES = {
    "so often at most": "at most n times",
    "stand for their class": "train their class",
    "that they are not known": "account for uncertainty in",
    "beyond doubt keeps": "clamp above zero",
    "not flattered": "penalised for",
    "that cannot be are told": "report impossible",
    "what lacks memory": "if memory runs out",
    "who predicts": "callers of predict",
}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_text_has_no_riddle(path):
    text = re.sub(r"\s+", " ", path.read_text("utf-8").lower())
    assert {riddle: plain for riddle, plain in RIDDLES.items() if riddle in text} == {}
