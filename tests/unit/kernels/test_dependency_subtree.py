"""DependencySubtree against its twin, the paper's example, gradients, and what it reads."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.dependency_subtree import arc_features, children_of, dependency_subtree, feature_trees, subtrees

import espalier as es
from espalier.corpus.arc_templates import PARTS
from espalier.corpus.arcs import TEMPLATES, Arcs
from espalier.errors import InputError, MemoryBudgetError
from espalier.kernels import ARC_TEMPLATES
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


def random_tree(rng, n_words=(1, 6), roots=0.0):
    """A tree whose arcs may cross; with ``roots``, this share of the other words have no head either."""
    n = int(rng.integers(*n_words))
    order = rng.permutation(n)
    heads = np.zeros(n, int)
    for k in range(1, n):
        if roots == 0.0 or rng.random() >= roots:
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
    *(es.DependencySubtree(("own", "direction"), 0.6, es.PerLabel(0.8), max_arcs=n) for n in (1, 2, 3)),
    es.DependencySubtree(("relation", "tags"), 0.9, max_arcs=4, root=True),
]


# Some words are roots beside others, arcs cross, and some sentences have one word.
FOREST = [
    random_tree(np.random.default_rng(100 + k), (n, n + 1), roots=0.3) for k, n in enumerate((4, 3, 1, 4, 2, 4, 1))
]
PARTS_MIXED = (
    *(
        "head tag -1, tag",
        "tag +1, head word",
        "tags, between tag",
        "between tag",
        "length",
        "words, length, direction",
    ),
    *("relation, tag -1", "head tag +1, direction, tag", "head tag", "own"),
)
CONTEXT_KERNELS = [
    es.DependencySubtree(PARTS_MIXED, 0.2, es.PerLabel(1.0, values={"between tag": 0.3, "own": 1.2}), root=root)
    for root in (False, True)
]
CONTEXT_KERNELS += [
    es.DependencySubtree(("words", "tags"), 1.0, root=True),
    es.DependencySubtree(("relation", "head tag, between tag, tag"), 0.7, contiguous=False, root=True),
    es.DependencySubtree((", ".join(PARTS), "tag -1, tag +1, head tag -1"), 0.9, contiguous=False),
]


def twin(kernel, a, b):
    def features(tree, token):
        return arc_features(tree, token, kernel.features)

    own = dict(kernel.weight.values) if isinstance(kernel.weight, es.PerLabel) else {}

    def weight(name):
        return own.get(name, es.kernels.hyperparameters.default_of(kernel.weight))

    decay, options = es.kernels.number_of(kernel.decay), (kernel.contiguous, kernel.root, kernel.max_arcs)
    return np.array([[dependency_subtree(s, t, features, decay, weight, *options) for t in b] for s in a])


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


@pytest.mark.parametrize("kernel", CONTEXT_KERNELS)
def test_parts_of_templates_and_roots_are_those_of_listing(kernel):
    np.testing.assert_allclose(kernel(FOREST, n_threads=2), twin(kernel, FOREST, FOREST), rtol=1e-12)
    np.testing.assert_allclose(kernel(FOREST[:2], FOREST), twin(kernel, FOREST[:2], FOREST), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(FOREST), twin(kernel, FOREST, FOREST).diagonal(), rtol=1e-12)
    check_gradients(kernel, FOREST[:5])
    assert eval(repr(kernel), vars(es)) == kernel


def test_the_trees_of_the_twin_are_of_every_kind():
    def crosses(tree):
        spans = [sorted((k, head)) for k, head in enumerate(tree.heads, 1)]
        return any(a < c < b < d for a, b in spans for c, d in spans)

    assert any(len(tree) == 1 for tree in FOREST) and any(len(tree.roots) > 1 for tree in FOREST)
    assert any(crosses(tree) for tree in FOREST)


@pytest.mark.parametrize("root", [False, True])
def test_long_arcs_have_the_features_of_listing(root):
    rng = np.random.default_rng(1)
    trees = [random_tree(rng, (12, 30), roots=0.1) for _ in range(12)]
    templates = (*ARC_TEMPLATES, "length", "between tag", "tag -1", "tag +1", "head tag -1", "head tag +1", "own")
    corpus = Arcs.from_trees(trees, templates, root=root)
    arrays, found, true = corpus.arrays, [], []
    keys = list(zip(*(arrays[name].tolist() for name in ("template", "first", "second")), strict=True))
    for k, tree in enumerate(trees):
        for token in range(len(tree)):
            place = arrays["start"][k] + token + root
            found.append(keys[slice(*arrays["feature_start"][place : place + 2])])
            true.append(arc_features(tree, token, templates) if root or tree.heads[token] else [])
    # Numbers and texts name the same features: one for each other, and every arc has as many.
    names = {}
    for own, listed in zip(found, true, strict=True):
        assert len(own) == len(set(own)) == len(listed)
        for number, name in enumerate(templates):
            several = name == "own" or "between" in name
            mine = [key for key in own if key[0] == number]
            theirs = [value for value in listed if value[0] == name]
            assert len(mine) == len(theirs)
            if not several:
                assert names.setdefault(mine[0], theirs[0]) == theirs[0] if mine else not theirs
    assert len(set(names.values())) == len(names)


def test_the_first_table_of_the_paper():
    assert len(ARC_TEMPLATES) == 33 == len(set(ARC_TEMPLATES))
    assert ARC_TEMPLATES[:4] == ("words", "tags", "head word, tag", "head tag, word")
    assert ARC_TEMPLATES[16] == "words, length, direction" and ARC_TEMPLATES[-1] == "head tag, between tag, tag"
    counts = np.diff(Arcs.from_trees([EXAMPLE], ARC_TEMPLATES).arrays["feature_start"])
    assert counts.tolist() == [32, 0, 32, 33, 34]
    trees = [tree for tree in FOREST if len(tree) < 4]
    kernel = es.DependencySubtree(ARC_TEMPLATES, 1 / 16, root=True)  # powers of two: both sums are exact
    np.testing.assert_array_equal(kernel(trees), twin(kernel, trees, trees))
    assert eval(repr(kernel), vars(es)) == kernel


def test_figure_1_of_the_paper_with_words_and_tags():
    # As many features as the paper has for each arc; "NN" of game and today is told apart here, or tags would match.
    tree = es.DependencyTree(EXAMPLE.words, ["PRP", "VBD", "DT", "NN", "NN'"], EXAMPLE.heads, EXAMPLE.relations)
    assert es.DependencySubtree(("words",), decay=1.0).value(tree, tree) == 11.0
    assert es.DependencySubtree(("words", "tags"), decay=1.0).value(tree, tree) == 60.0
    forms = feature_trees(tree, lambda tree, token: arc_features(tree, token, ("words", "tags")), True)
    assert sum(forms.values()) == len(forms) == 60
    # ROOT has one child, won: alone, or with any of the 10 subtrees of won.
    assert es.DependencySubtree(("words",), decay=1.0, root=True).value(tree, tree) == 11.0 + 1.0 + 10.0


def test_arcs_to_roots_count_if_they_are_asked_for():
    word = es.DependencyTree(["go"], ["V"], [0], ["root"])
    other = es.DependencyTree(["go"], ["N"], [0], ["root"])
    two = es.DependencyTree(["go", "on"], ["V", "R"], [0, 0], ["root", "root"])
    kernel = es.DependencySubtree(("tags",), decay=1.0, root=True)
    # Each root alone, and both as neighbours below ROOT.
    assert kernel([word, other, two]).tolist() == [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 3.0]]
    assert kernel([]).shape == (0, 0)
    named = es.DependencyTree(["ROOT", "go"], ["ROOT", "V"], [0, 1], ["root", "r"])
    assert kernel.value(word, named) == 1.0  # the head's word and tag are texts like any other


def test_neighbours_of_the_first_and_last_word_have_texts_too():
    first = es.DependencyTree(["a", "b"], ["A", "B"], [0, 1], ["r", "r"])
    inner = es.DependencyTree(["x", "a", "b"], ["ROOT", "A", "B"], [0, 0, 2], ["r", "r", "r"])
    for template in ("head tag -1", "tag +1", "head tag -1, head tag, tag, tag +1"):
        assert es.DependencySubtree((template,), decay=1.0).value(first, inner) == 1.0
    empty = es.DependencyTree(["a", "b", "c"], ["A", "B", ""], [0, 1, 1], ["r", "r", "r"])
    assert es.DependencySubtree(("tag +1",), decay=1.0).value(first, empty) == 2.0  # "" beside b and beside c


def test_joined_texts_are_kept_apart():
    pieces = [("a\tb", "c"), ("a", "b\tc"), ("a\\", "tb\tc"), ("a\\tb", "c"), ("", "a\tb\tc"), ("a\\\tb", "c")]
    trees = [es.DependencyTree(["w", "v"], ["T", tag], [0, 1], ["r", relation]) for tag, relation in pieces]
    kernel = es.DependencySubtree(("head tag, tag, relation",), decay=1.0)
    assert kernel(trees).tolist() == np.eye(len(pieces)).tolist()


def test_it_keeps_the_laws_with_few_arcs():
    trees = [EXAMPLE, *(tree for tree in FOREST if len(tree) > 1)][:5]
    check_kernel(es.DependencySubtree(("tags", "relation"), max_arcs=2, root=True), trees)
    assert es.DependencySubtree(("own",), 1.0, max_arcs=2).value(EXAMPLE, EXAMPLE) == 20.0  # 4 arcs and 3 pairs of arcs


def test_many_trees_are_cut_into_blocks():
    rng = np.random.default_rng(3)
    trees = [random_tree(rng, (1, 40), roots=0.1) for _ in range(150)]
    for kernel in (es.DependencySubtree(("own", "tags")), es.DependencySubtree(("own", "tags"), max_arcs=3)):
        whole = kernel(trees, n_threads=2)
        alone = [kernel.value(trees[i], trees[j]) for i, j in ((3, 140), (140, 3), (77, 78), (149, 149))]
        np.testing.assert_array_equal(whole[[3, 140, 77, 149], [140, 3, 78, 149]], alone)
        np.testing.assert_array_equal(kernel(trees[:10], trees), whole[:10])
        np.testing.assert_array_equal(kernel.diagonal(trees), whole.diagonal())
        values, pull_back = kernel.vjp(trees, n_threads=1)
        cotangent = rng.normal(size=whole.shape)
        np.testing.assert_array_equal(values, whole)
        own = pull_back(cotangent)
        assert own == kernel.vjp(trees, n_threads=2)[1](cotangent)
        parts = [kernel.vjp(trees[rows], trees)[1](cotangent[rows]) for rows in (slice(0, 60), slice(60, None))]
        np.testing.assert_allclose(own["decay"], sum(part["decay"] for part in parts), rtol=1e-9)


def test_it_keeps_the_laws_with_roots_and_parts():
    trees = [EXAMPLE, *(tree for tree in FOREST if len(tree) > 1)][:5]
    check_kernel(es.DependencySubtree(("tags, length", "head tag, between tag, tag", "tag +1"), root=True), trees)


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
    with pytest.raises(InputError, match="interned with root=False, not with root=True"):
        es.DependencySubtree(templates, root=True)(corpus)


def test_a_corpus_with_roots_is_selected_translated_and_saved(tmp_path):
    templates = ("tags", "head word, word, length", "between tag")
    corpus, kernel = Arcs.from_trees(FOREST, templates, root=True), es.DependencySubtree(templates, root=True)
    whole = kernel(FOREST)
    np.testing.assert_array_equal(kernel(corpus), whole)
    np.testing.assert_array_equal(kernel(corpus[[4, 0, 4]]), whole[np.ix_([4, 0, 4], [4, 0, 4])])
    other = Arcs.from_trees(FOREST[::-1], templates, root=True).with_vocabulary(corpus.vocabulary.extended())
    np.testing.assert_allclose(kernel(corpus, other), whole[:, ::-1], rtol=1e-12)
    corpus[1:].save(tmp_path / "arcs")
    again = Arcs.load(tmp_path / "arcs")
    assert again.root and repr(again) == repr(corpus[1:])
    np.testing.assert_array_equal(kernel(again), whole[1:, 1:])
    kernel.save(tmp_path / "kernel")
    assert es.load(tmp_path / "kernel") == kernel
    with pytest.raises(InputError, match="interned with root=True, not with root=False"):
        es.DependencySubtree(templates)(corpus)


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
        (lambda: es.DependencySubtree(("wrods",)), ValueError, "no template 'wrods'. Did you mean 'words'"),
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
        (lambda: es.DependencySubtree(max_arcs=0), ValueError, "max_arcs must be a positive integer or None, got 0"),
        (
            lambda: es.DependencySubtree(max_arcs=2, contiguous=False),
            ValueError,
            "leave out contiguous=False or max_arcs",
        ),
        (lambda: es.DependencySubtree(root="no"), TypeError, "root must be True or False, got 'no'"),
        (lambda: es.DependencySubtree()([3]), InputError, "Row 0"),
        (lambda: es.DependencySubtree(on="x")({"x": ["(S a)"]}), InputError, "Column 'x': Row 0"),
    ],
)
def test_mistakes_are_one_clear_error(make, error, message):
    with pytest.raises(error, match=message):
        make()
