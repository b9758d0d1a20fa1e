"""Saved taggers and learners, damaged: one clear error, or something that works; never a crash.

As in ``test_fragment_files``: what loads is used, for the compiled core trusts it.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.properties.test_fragment_files import CHANGES, loaded
from tests.properties.test_reader_fuzz import mutations, tried
from tests.unit.parsing.test_pcfg import TREES

import espalier as es
from candidate_groups import dependency_groups, groups_of, tagged_groups
from espalier.parsing import PerceptronTagger, Tagger
from espalier.rerank import FeatureReranker, GPPreference, RankingSVM, Reranker, VotedPerceptron
from espalier.selection import KernelSpaceSelector

pytestmark = pytest.mark.fuzz

GROUPS = [
    es.Group(["(S (NP (N cat)) (V sat))", "(S (N cat) (V sat))", "(S (X cat) (V sat))"], [-1.0, -2.0, -3.5], gold)
    for gold in ("(S (NP (N cat)) (V sat))", "(S (N cat) (V sat))")
]
KERNEL = es.SubsetTree(0.4)
LEARNERS = {
    "perceptron": VotedPerceptron(KERNEL, random_state=0),
    "sum that is not compressed": VotedPerceptron(KERNEL + es.Subtree(0.5), random_state=0),
    "ranking machine": RankingSVM(KERNEL, random_state=0),
    "preferences": GPPreference(KERNEL, max_iterations=2),
}


TABLE = es.Table({"tree": ["(S (A a) (B b))", "(S (A a) (B c))", "(S (A c) (B b))"], "x": [[1.0], [2.0], [0.5]]})
SIX = es.Table({name: [*TABLE[name]] * 2 for name in TABLE.columns})
COLUMNS = es.SubsetTree(es.PerLabel(0.4), on="tree") + es.RBF(on="x")
OTHERS = {
    "process": lambda: es.GPRegressor(COLUMNS, noise=es.PerLabel(0.1), mean="constant", target_transform="boxcox").fit(
        TABLE, [1.0, 2.0, 4.0], noise_groups=["a", "b", "a"]
    ),
    "grades": lambda: es.GPOrdinal(COLUMNS, mean="constant", learn=False).fit(
        SIX, [1, 2, 3, 1, 2, 3], [1, 2, 3, 1, 1, 1]
    ),
    "machine": lambda: es.KernelSVC(COLUMNS, class_weight={"a": 2.0}).fit(TABLE, ["a", "b", "c"]),
    "regression": lambda: es.KernelSVR(COLUMNS).fit(TABLE, [1.0, 2.0, 4.0]),
    "search": lambda: es.KernelGridSearch(
        es.KernelSVC(COLUMNS), {"C": [1.0, 2.0], "class_weight": [{0: 2.0}]}, cv=2
    ).fit(SIX, [0, 1, 0, 1, 0, 1]),
    "kernel": lambda: es.SmoothedPartialTree(es.Embedding({"a": [1.0, 0.5], "b": [0.1, 1.0]})) + es.Spectrum(2),
}


ARCS = dependency_groups(0, 8)
FEATURES = {
    "selector of arcs": lambda: KernelSpaceSelector(
        es.DependencySubtree(("words", "tags, length")), C=1.0, max_order=3, max_passes=2
    ).fit(ARCS),
    "selector of fragments": lambda: KernelSpaceSelector(KERNEL, C=1.0, max_order=3, max_passes=2).fit(groups_of(0, 6)),
    "selector of tags": lambda: KernelSpaceSelector(es.Tagging(), C=1.0, max_passes=2).fit(tagged_groups(0, 6)),
    "selector of sets": lambda: KernelSpaceSelector(es.Polynomial(3), C=0.0, max_order=3, max_passes=1).fit(
        np.eye(4) + np.eye(4)[::-1], [0, 1, 2, 0]
    ),
    "reranker of features": lambda: FeatureReranker(OTHERS["selector of arcs"](), epochs=1).fit(ARCS),
}
OTHERS |= FEATURES


TAGGERS = {"tagger": Tagger.from_sentences, "perceptron tagger": PerceptronTagger.from_sentences}


def fitted(name):
    if name in TAGGERS:
        return TAGGERS[name](TREES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two groups teach little, and the learner says so
        return OTHERS[name]() if name in OTHERS else Reranker(LEARNERS[name]).fit(GROUPS)


def items_of(selector):
    """What the kernel of a selector reads."""
    if isinstance(selector.kernel, es.Polynomial):
        return np.ones((2, 4))
    groups = {es.SubsetTree: groups_of, es.Tagging: tagged_groups}.get(type(selector.kernel), dependency_groups)
    return [own for group in groups(1, 6) for own in group.candidates]


def use(found):
    with warnings.catch_warnings():
        # Numbers of any size overflow, and that is no crash.
        warnings.simplefilter("ignore")
        if isinstance(found, Tagger | PerceptronTagger):
            return [found.tag(["the", "Flump", "saw", "cats"], 3)]
        if isinstance(found, es.Kernel):
            return [found(["(S (A a) (B b))", "(S (B c))"], n_threads=1)]
        if isinstance(found, FeatureReranker):
            return [found.decision_function(ARCS), found.features_.names_of()]
        if isinstance(found, KernelSpaceSelector):
            return [found.transform(items_of(found)), found.get_feature_names_out()]
        if isinstance(found, es.KernelGridSearch) and not hasattr(found, "best_estimator_"):
            return found.cv_results_  # the file is that of an interrupted search
        if not isinstance(found, Reranker):
            return found.predict(TABLE)
        return found.predict(GROUPS)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", [*TAGGERS, *LEARNERS, *OTHERS])
def test_damaged_files_raise_or_work(tmp_path, name, change):
    model, path = fitted(name), tmp_path / "saved"
    model.save(path)
    whole = path.read_bytes()
    n_read = 0
    for data in mutations(whole, seed=12, change=lambda _, rng: CHANGES[change](whole, rng)):
        path.write_bytes(data)
        found = loaded(type(model).load, path)
        if found is not None:
            n_read += 1
            tried(lambda found=found: use(found), data)
    assert n_read > 0 or change == "bytes"
