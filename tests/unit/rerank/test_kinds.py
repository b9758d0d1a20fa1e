"""Groups of a kind that a kernel or a fitted model does not read: errors name both kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

import espalier as es
from candidate_groups import dependency_groups, groups_of, tagged_groups
from espalier import KernelSpaceSelector
from espalier.errors import InputError
from espalier.rerank import FeatureReranker, RankingSVM, VotedPerceptron
from espalier.selection import frequent_counts

TREES, TAGS, ARCS = groups_of(0), tagged_groups(0), dependency_groups(0)


def selector(kernel: es.kernels.Kernel) -> KernelSpaceSelector:
    return KernelSpaceSelector(kernel, C=0.0, max_order=1, max_passes=2)


WRONG = [
    (es.SubsetTree(), TAGS, r"SubsetTree\(\) is a kernel of trees, and the groups hold tagged sequences"),
    (
        es.DependencySubtree(("tags",)),
        TREES,
        r"DependencySubtree\(.*\) is a kernel of dependency trees, and the groups hold trees\. Give groups of "
        "dependency trees, or use a kernel of trees, such as SubsetTree",
    ),
    (es.DependencySubtree(("tags",)), TAGS, "groups hold tagged sequences.*, such as Tagging"),
    (es.kernels.Polynomial(2), ARCS, r"Polynomial\(.*\) is a kernel of vectors, .* dependency trees\. Use a kernel of"),
]


@pytest.mark.parametrize(("kernel", "groups", "message"), WRONG)
def test_a_kernel_of_another_kind(kernel, groups, message):
    for learner in (
        selector(kernel),
        FeatureReranker(selector(kernel)),
        VotedPerceptron(kernel),
        RankingSVM(1.0 * kernel + es.BagOfWords()),
    ):
        with pytest.raises(InputError, match=message):
            learner.fit(groups)
    with pytest.raises(InputError, match=message):
        frequent_counts(selector(kernel), groups)


def test_selected_features_of_another_kind():
    fitted = selector(es.DependencySubtree(("tags",))).fit(ARCS)
    assert fitted.kind_ == "dependency trees"
    with pytest.raises(InputError, match="The selector has learned from dependency trees, but group 0 holds trees"):
        FeatureReranker(fitted).fit(TREES)
    with pytest.raises(InputError, match="is a kernel of dependency trees, and the groups hold trees"):
        FeatureReranker(fitted.features_).fit(TREES)
    rows = selector(es.SubsetTree()).fit([str(own.gold) for own in TREES], [0, 1, 1, 0, 1] * 5)
    assert rows.kind_ is None
    assert FeatureReranker(rows).fit(TREES).kind_ == "trees"


@pytest.mark.parametrize("loaded", [False, True])
def test_a_fitted_reranker_chooses_among_what_it_has_learned_from(loaded, tmp_path: Path):
    model, own = FeatureReranker(selector(es.SubsetTree()).fit(TREES)).fit(TREES), selector(es.Tagging()).fit(TAGS)
    if loaded:
        for name, made in (("model", model), ("selector", own)):
            made.save(tmp_path / name)
        model, own = es.load(tmp_path / "model"), es.load(tmp_path / "selector")
    assert (model.kind_, own.kind_) == ("trees", "tagged sequences")
    assert model.predict([]) == []
    # Trees can be made of dependency trees, so that it would choose by features that none of them has.
    for choose in (model.predict, model.decision_function, model.feature_values):
        with pytest.raises(InputError, match="It has learned from trees, but group 0 holds dependency trees"):
            choose(ARCS)
