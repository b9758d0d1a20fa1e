"""Parameters that learners share have one name, one default and one meaning; private attributes are no parameters."""

from __future__ import annotations

import inspect

import pytest

import espalier as es

LEARNERS = [
    es.GPRegressor,
    es.GPPreference,
    es.KernelSVC,
    es.KernelSVR,
    es.KernelGridSearch,
    es.VotedPerceptron,
    es.RankingSVM,
    es.FragmentVectorizer,
    es.HashedFragments,
    es.LinearizedTreeClassifier,
]
RUN = {"n_threads": None, "memory": None, "progress": None, "verbose": False}
SHARED = RUN | {"random_state": 0, "max_iterations": None, "tolerance": None}


def defaults(function) -> dict[str, object]:
    return {name: own.default for name, own in inspect.signature(function).parameters.items()}


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda own: own.__name__)
def test_learners_share_their_settings(learner):
    own = defaults(learner)
    assert {name: own[name] for name in RUN} == RUN
    assert {name: own[name] for name in SHARED if name in own}.items() <= SHARED.items()
    assert not [name for name in own if name.startswith("_")]


@pytest.mark.parametrize(
    "function",
    [
        es.mine_fragments,
        es.gram,
        es.nearest,
        es.explain,
        es.GPRegressor.sample_posterior,
        es.GPRegressor.sample_prior,
        es.rerank.propose,
        es.rerank.jackknifed,
        es.parsing.PCFG.parse_all,
        es.parsing.Tagger.tag_all,
        es.parsing.PerceptronTagger.tag_all,
        es.parsing.DependencyParser.parse_all,
        es.parsing.jackknifed_tags,
    ],
    ids=lambda own: own.__qualname__,
)
def test_functions_have_the_same_defaults(function):
    own = defaults(function)
    assert {name: own[name] for name in SHARED if name in own}.items() <= SHARED.items()
