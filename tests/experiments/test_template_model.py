"""The model of hand-made templates: its parts, its features, and that it learns."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from espalier import DependencyTree, Group
from espalier_experiments.qian2015.template_model import TemplateModel, features_of, parts_of, tagged_parts

#          1    2    3    4    5
HEADS = [3, 3, 0, 3, 3]
TREE = DependencyTree(list("abcde"), list("ABCDE"), HEADS, ["x"] * 5)
CHAIN = DependencyTree(list("abcde"), list("ABCDE"), [0, 1, 2, 3, 4], ["x"] * 5)


def test_parts():
    found = Counter(parts_of(TREE))
    assert set(found.values()) == {1}
    assert set(found) == {
        *(("arc", 3, word) for word in (1, 2, 4, 5)),
        ("arc", 0, 3),
        *(("sibling", 3, *own) for own in ((2, 1), (4, 5))),
        *(("grandparent", 0, 3, word) for word in (1, 2, 4, 5)),
        *(("grandparent and sibling", 0, 3, *own) for own in ((2, 1), (4, 5))),
        *(("pair", 3, *own) for own in ((2, 1), (4, 5))),
    }
    assert {part for part in parts_of(CHAIN) if part[0] in ("three arcs", "four arcs")} == {
        ("three arcs", 0, 1, 2, 3),
        ("three arcs", 1, 2, 3, 4),
        ("three arcs", 2, 3, 4, 5),
        ("four arcs", 0, 1, 2, 3, 4),
        ("four arcs", 1, 2, 3, 4, 5),
    }
    wide = replace(TREE, heads=[0, 1, 1, 1, 2])
    assert ("three siblings", 1, 2, 3, 4) in set(parts_of(wide)) and ("pair", 1, 2, 4) in set(parts_of(wide))
    assert ("grandparent and three siblings", 0, 1, 2, 3, 4) in set(parts_of(wide))


def test_features():
    part, tags = next(own for own in tagged_parts(TREE) if own[0][0] == "sibling" and own[0][-1] == 1)
    assert list(features_of(TREE, part, tags)) == [
        ("sibling", (False, False), ("C", "B", "A")),
        *(("sibling", (False, False), ("C", "B", "A"), *own) for own in ((0, "c"), (1, "b"), (2, "a"))),
    ]


def test_it_learns_which_word_heads_which():
    rng = np.random.default_rng(0)
    groups = []
    for _ in range(60):
        words = rng.permutation(["see", "dog", "cat", "old"]).tolist()
        root = words.index("see")
        right = [0 if k == root else root + 1 for k in range(4)]
        wrong = [0 if k == 0 else 1 for k in range(4)]
        trees = [DependencyTree(words, ["T"] * 4, heads, ["x"] * 4) for heads in (wrong, right)]
        groups.append(Group(trees, [0.5, 0.0], gold=trees[1]))
    model = TemplateModel(epochs=3).fit(groups[:40], groups[40:50])
    assert [own.heads for own in model.predict(groups[50:])] == [group.gold.heads for group in groups[50:]]
    assert model.predict(groups) == TemplateModel(epochs=3).fit(groups[:40], groups[40:50]).predict(groups)
