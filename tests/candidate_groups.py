"""Groups of candidates of every kind, in which a pattern tells which is right."""

from __future__ import annotations

import numpy as np

import espalier as es
from espalier.structures.group import Group


def groups_of(seed, n=25):
    """Sentences whose gold tree pairs each noun with the verb behind it; rivals are flat, halved or too deep."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        words = [(f"n{rng.integers(4)}", f"v{rng.integers(3)}") for _ in range(rng.integers(2, 4))]
        gold = "(S " + " ".join(f"(C (N {a}) (V {b}))" for a, b in words) + ")"
        flat = "(S " + " ".join(f"(N {a}) (V {b})" for a, b in words) + ")"
        half = "(S " + " ".join(f"(C (N {a})) (V {b})" for a, b in words) + ")"
        deep = "(S (X " + " ".join(f"(C (N {a}) (V {b}))" for a, b in words) + "))"
        order = rng.permutation(4)
        trees = [(gold, flat, half, deep)[k] for k in order]
        out.append(Group(trees, rng.normal(size=4), gold=gold))
    return out


def tagged_groups(seed, n=30):
    """Sentences in which a word's tag follows from the tag before it; candidates get one or more tags wrong."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        words = [f"w{rng.integers(3)}" for _ in range(rng.integers(3, 6))]
        gold = ["D" if k % 2 == 0 else "N" for k in range(len(words))]
        listed = [list(gold)]
        for _ in range(3):
            other = list(gold)
            for place in rng.choice(len(words), rng.integers(1, 3), replace=False):
                other[place] = "V"
            if other not in listed:
                listed.append(other)
        order = rng.permutation(len(listed))
        candidates = [es.TaggedSequence(words, listed[k]) for k in order]
        out.append(Group(candidates, rng.normal(size=len(listed)), gold=es.TaggedSequence(words, gold)))
    return out


def dependency_groups(seed, n=30):
    """Sentences whose heads are verbs; rivals hang words on their neighbours."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        words = [f"n{rng.integers(3)}", "v", f"n{rng.integers(3)}"]
        tags = ["N", "V", "N"]
        gold = es.DependencyTree(words, tags, [2, 0, 2], ["subject", "root", "object"])
        chain = es.DependencyTree(words, tags, [2, 0, 1], ["subject", "root", "object"])
        turned = es.DependencyTree(words, tags, [0, 1, 1], ["root", "object", "object"])
        order = rng.permutation(3)
        out.append(Group([(gold, chain, turned)[k] for k in order], rng.normal(size=3), gold=gold))
    return out
