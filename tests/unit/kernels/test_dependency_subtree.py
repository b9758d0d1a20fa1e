"""DependencySubtree against its twin, the paper's example, gradients, and what it reads."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.dependency_subtree import children_of, dependency_subtree, feature_trees, subtrees

import espalier as es
from espalier.corpus.arcs import TEMPLATES, Arcs
from espalier.errors import InputError, MemoryBudgetError
from espalier.structures import read_conllu
from espalier.testing import check_gradients, check_kernel

# He won the game today, two features for each arc.
EXAMPLE = es.DependencyTree(
    ["He", "won", "the", "game", "today"],
    ["PRP", "VBD", "DT", "NN", "NN"],
    [2, 0, 4, 2, 2],
    ["sub", "root", "det", "obj", "tmp"],
    features=[["a", "b"], [], ["c", "d"], ["e", "f"], ["g", "h"]],
)


def random_tree(rng):
    n = int(rng.integers(1, 6))
    order = rng.permutation(n)
    heads = np.zeros(n, int)
    for k in range(1, n):
        heads[order[k]] = order[rng.integers(k)] + 1
    words, tags = (list(map(str, rng.choice(list(letters), n))) for letters in ("xy", "NV"))
    own = [list(map(str, rng.choice(list("pqr"), rng.integers(0, 3)))) for _ in range(n)]
    return es.DependencyTree(words, tags, heads.tolist(), list(map(str, rng.choice(["s", "o"], n))), features=own)


RANDOM = [random_tree(np.random.default_rng(seed)) for seed in range(9)]
KERNELS = [
    es.DependencySubtree(),
    es.DependencySubtree(("relation",), decay=1.0),
    es.DependencySubtree(("own", "tags"), decay=0.7, contiguous=False),
    es.DependencySubtree(tuple(TEMPLATES), 0.3, es.PerLabel(1.0, values={"tags": 0.4, "distance": 2.0})),
    es.DependencySubtree(("own", "direction"), 0.6, es.PerLabel(0.8, values={"own": 1.5}), contiguous=False),
]


def twin(kernel, a, b):
    def features(tree, token):
        found, head = [], tree.heads[token] - 1
        steps = abs(token - head)
        told = {
            "words": (tree.words[head], tree.words[token]),
            "tags": (tree.tags[head], tree.tags[token]),
            "head word, tag": (tree.words[head], tree.tags[token]),
            "head tag, word": (tree.tags[head], tree.words[token]),
            "relation": tree.relations[token],
            "direction": token < head,
            "distance": steps if steps <= 5 else "6-10" if steps <= 10 else "11-",
        }
        for name in kernel.features:
            if name == "own":
                found += [("own", value) for value in dict.fromkeys(tree.features[token])]
            else:
                found.append((name, told[name]))
        return found

    own = dict(kernel.weight.values) if isinstance(kernel.weight, es.PerLabel) else {}

    def weight(name):
        return own.get(name, es.kernels.hyperparameters.default_of(kernel.weight))

    decay = es.kernels.number_of(kernel.decay)
    return np.array([[dependency_subtree(s, t, features, decay, weight, kernel.contiguous) for t in b] for s in a])


@pytest.mark.parametrize(("contiguous", "n_subtrees", "n_forms"), [(True, 11, 60), (False, 12, 64)])
def test_the_example_of_the_paper(contiguous, n_subtrees, n_forms):
    listed = [tree for head in range(5) for tree in subtrees(EXAMPLE, head, contiguous)]
    assert len(listed) == n_subtrees and children_of(EXAMPLE, 1) == [0, 3, 4]
    forms = feature_trees(EXAMPLE, lambda tree, k: [("own", value) for value in tree.features[k]], contiguous)
    assert sum(forms.values()) == n_forms
    kernel = es.DependencySubtree(("own",), decay=1.0, contiguous=contiguous)
    assert kernel.value(EXAMPLE, EXAMPLE) == n_forms


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_values_are_those_of_listing(kernel, n_threads):
    np.testing.assert_allclose(kernel(RANDOM, n_threads=n_threads), twin(kernel, RANDOM, RANDOM), rtol=1e-12)
    cross = kernel(RANDOM[:3], RANDOM, n_threads=n_threads)
    np.testing.assert_allclose(cross, twin(kernel, RANDOM[:3], RANDOM), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(RANDOM), twin(kernel, RANDOM, RANDOM).diagonal(), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_are_those_of_differences(kernel):
    check_gradients(kernel, RANDOM[:6])


def test_it_keeps_the_laws():
    check_kernel(es.DependencySubtree(("tags", "relation")), [EXAMPLE, *(t for t in RANDOM if len(t.words) > 2)][:5])


def test_real_trees_with_every_template(data):
    trees = [tree for tree in read_conllu(data / "ewt_ud" / "en_ewt-ud-dev.conllu.gz") if len(tree.words) > 1][:60]
    kernel = es.Normalized(es.DependencySubtree(tuple(TEMPLATES), 0.3, es.PerLabel(1.0)))
    values, pull_back = kernel.vjp(trees, n_threads=2)
    assert np.linalg.eigvalsh(values).min() > -1e-8
    gradient = pull_back(np.ones_like(values))
    assert set(gradient) == {"decay", *(f"weight[{name}]" for name in TEMPLATES)}
    assert gradient == kernel.vjp(trees, n_threads=1)[1](np.ones_like(values))


def test_a_corpus_is_selected_and_translated():
    templates = ("tags", "relation")
    corpus = Arcs.from_trees(RANDOM, templates)
    kernel = es.DependencySubtree(templates)
    whole = kernel(corpus)
    np.testing.assert_array_equal(kernel(corpus[[4, 0, 4]]), whole[np.ix_([4, 0, 4], [4, 0, 4])])
    other = Arcs.from_trees(RANDOM[::-1], templates).with_vocabulary(corpus.vocabulary.extended())
    np.testing.assert_allclose(kernel(corpus, other), whole[:, ::-1], rtol=1e-12)
    machine = es.KernelSVC(kernel).fit(corpus, np.arange(len(RANDOM)) % 2)
    assert len(machine.predict(Arcs.from_trees(RANDOM[:2], templates))) == 2
    with pytest.raises(InputError, match="interned with"):
        es.DependencySubtree(("words",))(corpus)


def test_crossing_arcs_and_several_roots_count_as_any_other():
    crossing = es.DependencyTree(list("abcd"), list("ABCD"), [3, 4, 0, 3], list("rrrr"))
    several = es.DependencyTree(list("abcd"), list("ABCD"), [0, 1, 0, 3], list("rrrr"))
    for kernel in KERNELS[:2]:
        np.testing.assert_allclose(
            kernel([crossing, several]), twin(kernel, [crossing, several], [crossing, several]), rtol=1e-12
        )
    # c -> a, c -> d, c -> a d, d -> b, c -> d -> b, c -> a d -> b: the arcs over each other change nothing.
    assert es.DependencySubtree(("tags",), decay=1.0).value(crossing, crossing) == 6.0
    assert es.DependencySubtree(("tags",), decay=1.0).value(several, several) == 2.0


def test_trees_without_arcs_share_nothing():
    word = es.DependencyTree(["go"], ["V"], [0], ["root"])
    roots = es.DependencyTree(["go", "on"], ["V", "R"], [0, 0], ["root", "root"])
    assert es.DependencySubtree()([word, roots]).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert es.DependencySubtree(("own",)).value(RANDOM[1], word) == 0.0  # no features of its own
    assert es.DependencySubtree()([]).shape == (0, 0)


def test_a_pair_beyond_the_memory_is_refused():
    n = 300
    long = es.DependencyTree(["w"] * n, ["N"] * n, range(n), ["r"] * n)
    kernel = es.DependencySubtree(("relation",), 1e-3)
    plan = kernel.plan([EXAMPLE, long], memory="1 MiB")
    with pytest.raises(MemoryBudgetError, match=r"Tree 1 with tree 1 alone needs 2.1 MiB .* budget is 1.0 MiB"):
        plan.matrix(kernel)
    whole = kernel([EXAMPLE, long])
    np.testing.assert_array_equal(kernel([EXAMPLE, long], memory="3 MiB", n_threads=2), whole)
    values, pull_back = kernel.vjp([EXAMPLE, long], memory="3 MiB")
    with pytest.raises(MemoryBudgetError, match=r"needs 4.1 MiB"):
        pull_back(values)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: es.DependencySubtree(("word",)), ValueError, "There is no template 'word'; there are 'words'"),
        (lambda: es.DependencySubtree("tags"), TypeError, "must list templates"),
        (lambda: es.DependencySubtree(()), ValueError, "one template or more"),
        (lambda: es.DependencySubtree(("tags", "tags")), ValueError, "each once"),
        (lambda: es.DependencySubtree(decay=es.PerLabel(0.5)), TypeError, "one number for all arcs"),
        (lambda: es.DependencySubtree(contiguous="no"), TypeError, "contiguous must be True or False, got 'no'"),
        (
            lambda: es.DependencySubtree(("tags",), weight=es.PerLabel(1.0, values={"words": 2.0})),
            ValueError,
            "weight names 'words', which is not a template of this kernel; it has 'tags'",
        ),
        (
            lambda: es.DependencySubtree(("tags",), weight=es.PerLabel(1.0, groups={"all": ["tags", "tag"]})),
            ValueError,
            "weight names 'tag', which is not a template",
        ),
        (lambda: es.DependencySubtree()([3]), InputError, "Row 0"),
        (lambda: es.DependencySubtree(on="x")({"x": ["(S a)"]}), InputError, "Column 'x': Row 0"),
    ],
)
def test_mistakes_are_one_clear_error(make, error, message):
    with pytest.raises(error, match=message):
        make()
