"""Writes the golden values anew: ``python tests/golden/make.py``. A change of theirs is a *Changed results* entry."""

from __future__ import annotations

import json
from pathlib import Path

import espalier as es
from espalier.demo import generate

PATH = Path(__file__).with_name("values.json")
TREES = [
    "(S (NP (D the) (N cat)) (VP (V sleeps)))",
    "(S (NP (D the) (N dog)) (VP (V sleeps) (ADVP (RB well))))",
    "(NP (NP (D the) (N cat)) (PP (P on) (NP (D the) (N mat))))",
    "(X)",
    "(A (A (A (A a))) a)",
]
KERNELS = {
    "SubsetTree": es.SubsetTree(decay=0.4, frontier=0.7),
    "SubsetTree per label": es.SubsetTree(
        decay=es.PerLabel(0.4, values={"NP": 0.9, "S": 0.2}), frontier=es.PerLabel(0.5)
    ),
    "SubsetTree of depth 2 with leaves": es.SubsetTree(decay=0.4, max_depth=2, lone_leaves=True),
    "Subtree": es.Subtree(decay=0.6),
    "PartialTree": es.PartialTree(decay=0.3, depth_decay=0.8),
    "Normalized PartialTree": es.Normalized(es.PartialTree()),
    "Radial SubsetTree": es.Radial(es.SubsetTree(), width=2.0),
}  # fmt: skip


def compute() -> dict[str, object]:
    """Matrices over hand-written trees and gradients over generated questions."""
    questions = list(generate(40, seed=0)["tree"])
    out: dict[str, object] = {}
    for name, kernel in KERNELS.items():
        trees = [tree for tree in TREES if tree != "(X)" or not name.startswith("Normalized")]
        values, pull_back = kernel.vjp(questions)
        out[name] = {
            "matrix": kernel(trees).tolist(),
            "sum over questions": float(values.sum()),
            "gradients": pull_back(values / values.max()),
        }
    return out


if __name__ == "__main__":
    PATH.write_text(json.dumps(compute(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
