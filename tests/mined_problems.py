"""Small random problems of gradient mining, for the selector and for its slow twin alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.jobs.schedule import Schedule
from espalier.kernels import (
    Constant,
    DependencySubtree,
    Polynomial,
    Power,
    Spectrum,
    Subsequence,
    SubsetTree,
    Tagging,
    fixed,
)
from espalier.kernels.inputs import Inputs
from espalier.selection.grown_features import Grown, Problem
from espalier.selection.mining import Mining
from espalier.spaces.grown import Atoms, space_for
from espalier.structures import DependencyTree, TaggedSequence
from random_trees import random_tree
from reference import feature_spaces as listed
from reference.gradient_mining import Example, by_class, classification

TEMPLATES = ("words", "tags", "head tag, between tag, tag")
Features = set[Any]


@dataclass(frozen=True)
class Case:
    """A kernel, random groups of items that it reads, and how the slow twin lists and spells their features."""

    kernel: Any
    group: Callable[[np.random.Generator, int], list[Any]]
    features: Callable[[Any, int], Features]
    text: Callable[[Any], str]
    space: listed.Space


def candidate_trees(rng: np.random.Generator, n: int) -> list[Any]:
    """Trees over the same words and tags."""
    n_words = int(rng.integers(1, 7))
    words, tags = (rng.choice(values, n_words).tolist() for values in (["a", "b"], ["N", "V", "D"]))
    found = []
    for _ in range(n):
        heads = [0] * n_words
        order = rng.permutation(n_words) + 1
        for index in range(n_words):
            heads[order[index] - 1] = int(rng.choice([0, *order[:index], *order[:index]]))
        found.append(DependencyTree(words, tags, heads, [""] * n_words))
    return found


def arc_text(feature: Any) -> str:
    told = []
    for (template, *values), below in feature:
        own = f"[{template}: {' '.join(value or '-' for value in values)}]"
        told.append(own + (f" ({arc_text(below)})" if below else ""))
    return " ".join(told)


def candidate_taggings(rng: np.random.Generator, n: int) -> list[Any]:
    words = rng.choice(["a", "b", "c"], int(rng.integers(0, 6))).tolist()
    return [TaggedSequence(words, rng.choice(["D", "N"], len(words)).tolist()) for _ in range(n)]


def tagged_features(item: Any, max_order: int, max_gap: int | None) -> Features:
    """Each tag of a subsequence alone or with its word."""
    runs = listed.subsequences(list(zip(item.tags, item.words, strict=True)), max_order, max_gap)
    return {chosen for run in runs for chosen in product(*(((tag,), (tag, word)) for tag, word in run))}


def fragment_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    return f"({part[0]})" if len(part) == 1 else f"({' '.join([part[0], *map(fragment_text, part[1])])})"


def dependency_case(root: bool) -> Case:
    return Case(
        DependencySubtree(features=TEMPLATES, root=root),
        candidate_trees,
        lambda tree, order: listed.dependency_features(tree, TEMPLATES, order, root),
        arc_text,
        listed.DEPENDENCIES,
    )


def arc_set_case(degree: int) -> Case:
    arcs = DependencySubtree(features=TEMPLATES, root=True, max_arcs=1)

    def by_code(arc: Any) -> Any:
        # Templates first, then the last text: texts outside of the sentence come before the others.
        (template, *values), _ = arc
        return TEMPLATES.index(template), [(["", "ROOT", value].index(value), value) for value in reversed(values)]

    return Case(
        Power(Constant(1.0) + arcs, degree),
        candidate_trees,
        lambda tree, order: listed.polynomial_features(
            [arc for (arc,) in listed.dependency_features(tree, TEMPLATES, 1, root=True)], order
        ),
        lambda feature: " & ".join(arc_text((arc,)) for arc in sorted(feature, key=by_code)),
        listed.POLYNOMIAL,
    )


def sequence_case(kernel: Any, max_gap: int | None) -> Case:
    return Case(
        kernel,
        lambda rng, n: [rng.choice(["a", "b", "c"], int(rng.integers(0, 7))).tolist() for _ in range(n)],
        lambda tokens, order: listed.subsequences(tokens, order, max_gap),
        (" " if max_gap == 0 else " ... ").join,
        listed.subsequence_space(max_gap),
    )


def tagging_case(kernel: Any, max_gap: int | None) -> Case:
    return Case(
        kernel,
        candidate_taggings,
        lambda item, order: tagged_features(item, order, max_gap),
        lambda feature: (" " if max_gap == 0 else " ... ").join("/".join(token) for token in feature),
        listed.subsequence_space(max_gap),
    )


CASES = {
    "arcs": dependency_case(root=False),
    "arcs and root": dependency_case(root=True),
    "sets": Case(
        Polynomial(degree=3),
        lambda rng, n: [(rng.random(8) < 0.4).astype(float) for _ in range(n)],
        lambda row, order: listed.polynomial_features(np.flatnonzero(row).tolist(), order),
        lambda feature: " & ".join(map(str, sorted(feature))),
        listed.POLYNOMIAL,
    ),
    "sets of arcs": arc_set_case(3),
    "n-grams": sequence_case(Spectrum(3), 0),
    "subsequences": sequence_case(Subsequence(3), None),
    "subsequences without gaps": sequence_case(Subsequence(3, gap_decay=fixed(0.0)), 0),
    "tagging": tagging_case(Tagging(), 0),
    "tagging with gaps": tagging_case(Tagging(gap_decay=0.5), None),
    "fragments": Case(
        SubsetTree(),
        lambda rng, n: [random_tree(rng, depth=3) for _ in range(n)],
        listed.fragments,
        fragment_text,
        listed.FRAGMENTS,
    ),
}


@dataclass(frozen=True)
class Drawn:
    """A random problem: the examples of the slow twin, and rows, bounds and roots for the selector."""

    case: Case
    examples: list[Example]
    space: listed.Space
    rows: list[Any]
    bounds: NDArray[np.int64]
    root_of: NDArray[np.int32]

    def problem(self, C: float, schedule: Schedule) -> tuple[Problem, Grown, Atoms]:
        """What the selector reads."""
        space = space_for(self.case.kernel)
        inputs = inputs_of(self.rows)
        atoms = space.learned(inputs, self.bounds, C, schedule)
        problem = Problem(
            space.graphs(inputs, self.bounds, atoms, schedule),
            np.cumsum([0, *(len(example.outputs) for example in self.examples)]),
            np.array([example.right for example in self.examples], np.int32),
            np.array([value for example in self.examples for value in example.base]),
            np.array([value for example in self.examples for value in example.costs]),
            self.root_of,
        )
        grown = Grown.empty(space, len(atoms), atoms.top, problem.n_roots, len(self.root_of) or 1)
        return problem, grown, atoms

    def spelled(self, feature: Any) -> Any:
        """A feature of the slow twin as ``spelled_features`` spells it."""
        return (feature[0], self.case.text(feature[1])) if len(self.root_of) else self.case.text(feature)


def inputs_of(rows: Sequence[Any]) -> Inputs:
    return Inputs.of(np.array(rows) if len(rows) and isinstance(rows[0], np.ndarray) else list(rows))


def drawn(name: str, rng: np.random.Generator, n_classes: int, max_order: int, *, ties: bool) -> Drawn:
    """Groups to rank if there is one class, else items of several classes; numbers are dyadic.

    With ``ties`` many outputs have equal scores; otherwise base values are so fine that none have.
    """
    case = CASES[name]

    def base(n: int) -> list[float]:
        return (rng.integers(-2, 3, n) / 4 if ties else rng.integers(-512, 512, n) / 1024).tolist()

    if n_classes > 1:
        rows = [case.group(rng, 1)[0] for _ in range(14)]
        labels = rng.integers(0, n_classes, len(rows)).tolist()
        examples = classification([case.features(row, max_order) for row in rows], labels, n_classes)
        examples = [replace(example, base=base(n_classes)) for example in examples]
        roots = [-1, 0] if n_classes == 2 else list(range(n_classes))
        return Drawn(case, examples, by_class(case.space), rows, np.arange(len(rows) + 1), np.array(roots, np.int32))
    examples, rows, bounds = [], [], [0]
    for _ in range(11):
        n = int(rng.integers(1, 5))
        group = case.group(rng, n)
        right = int(rng.integers(n))
        costs = rng.integers(0, 4, n) / 2
        costs[right] = 0
        outputs = [case.features(item, max_order) for item in group]
        examples.append(Example(outputs, right, base(n), costs.tolist()))
        rows += group
        bounds.append(len(rows))
    return Drawn(case, examples, case.space, rows, np.array(bounds), np.empty(0, np.int32))


def path_of(keys: NDArray[np.uint64], n_roots: int, node: int) -> tuple[int, list[tuple[int, int]]]:
    """The root of a feature, and the places and atoms on the way to it."""
    path = []
    while node >= n_roots:
        key = int(keys[node])
        path.append((key >> 24 & 63, key & (1 << 24) - 1))
        node = key >> 30
    return node, path[::-1]


def spelled_features(grown: Grown, atoms: Atoms, root_of: NDArray[np.int32]) -> list[Any]:
    """Each feature of the trie as text, with its class if there are classes; None for roots."""
    keys = grown.trie.keys()
    n_roots = int(root_of.max()) + 1 if len(root_of) else 1
    out: list[Any] = [None] * n_roots
    for node in range(n_roots, len(keys)):
        root, path = path_of(keys, n_roots, node)
        text = grown.space.write(atoms, path)
        out.append((root_of.tolist().index(root), text) if len(root_of) else text)
    assert len(set(out[n_roots:])) == len(out) - n_roots
    return out


class RecordedMining(Mining):
    """Mining that keeps what survived each pass."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.survived: list[NDArray[np.intp]] = []

    def move(self, *arguments: Any) -> Any:
        done = super().move(*arguments)
        self.survived.append(np.flatnonzero(self.grown.survives))
        return done


def mined(
    drawn: Drawn, C: float, schedule: Schedule, settings: dict[str, Any], **options: Any
) -> tuple[RecordedMining, Atoms]:
    """Run the selector with the settings of the slow twin."""
    problem, grown, atoms = drawn.problem(C, schedule)
    steps = {name: settings[name] for name in ("step", "steps") if name in settings}
    mining = RecordedMining(problem, grown, C=C, **steps, **options)
    mining.run(settings["max_order"], settings["max_passes"], settings.get("tolerance", 0.0), schedule)
    return mining, atoms
