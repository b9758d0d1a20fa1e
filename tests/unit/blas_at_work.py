"""Prints how long the helpers of each BLAS worked in each learner, in nanoseconds by name, as JSON: see test_blas."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.linalg  # noqa: F401  # so that the threads of its BLAS are there

import espalier as es
from espalier.demo import generate_translations

TASKS = Path("/proc/self/task")
rng = np.random.default_rng(1)
table = generate_translations(260, seed=2)
train, test, seconds = table[:220], table[220:], table["seconds"][:220]
kernel = 1.0 * es.Normalized(es.SubsetTree(on="source")) + 1.0 * es.RBF(on="features")
vectors = rng.standard_normal((300, 40))
word = [f"w{k}" for k in range(300)]
groups = [es.Group([own, es.Tree("X", [own])], gold=own) for own in table["source"][:120]]


def helpers() -> dict[str, int]:
    """How long each thread but the main one has worked, in nanoseconds."""
    main = str(threading.main_thread().native_id)
    return {
        task.name: int((task / "schedstat").read_text().split()[0]) for task in TASKS.iterdir() if task.name != main
    }


def worked(action: Callable[[], object]) -> int:
    """How long the threads worked that were there before, while something was done."""
    before = helpers()
    action()
    after = helpers()
    return sum(after[name] - time for name, time in before.items() if name in after)


model = es.GPRegressor(kernel, target_transform="log", mean="constant", max_iterations=3)
plain = es.GPRegressor(es.RBF(), mean="linear", max_iterations=3)
labels = np.where(np.asarray(seconds) > np.median(seconds), "slow", "fast")
machine = es.KernelSVC(kernel, probability=True)
preference = es.GPPreference(1.0 * es.Normalized(es.PartialTree()), max_iterations=3, random_state=0)
ranking = es.RankingSVM(es.PartialTree(), random_state=0)
perceptron = es.VotedPerceptron(es.PartialTree(), random_state=0)
linear = es.LinearizedTreeClassifier(es.SubsetTree(), n_fragments=50)
similarity = es.Embedding(dict(zip(word, vectors, strict=True)), clip=False)
actions: dict[str, Callable[[], object]] = {
    "fit": lambda: model.fit(train, seconds),
    "predict": lambda: model.predict(test, return_std=True),
    "leave one out": lambda: model.leave_one_out(),
    "evidence": lambda: model.log_marginal_likelihood(gradient=True),
    "sample the prior": lambda: model.sample_prior(train, random_state=0),
    "sample the posterior": lambda: model.sample_posterior(train, 3, random_state=0),
    "explain": lambda: es.explain(model, test[:1], n=3),
    "fit on vectors": lambda: plain.fit(vectors, vectors[:, 0]),
    "predict from vectors": lambda: plain.predict(vectors, return_cov=True),
    "nearest": lambda: es.nearest(es.Linear(), vectors, vectors, k=2),
    "vectors": lambda: es.Polynomial().vjp(vectors)[1](np.ones((300, 300))),
    "fit a machine": lambda: machine.fit(train, labels),
    "predict by a machine": lambda: machine.predict_proba(train),
    "fit preferences": lambda: preference.fit(groups),
    "probabilities": lambda: preference.predict_proba(groups),
    "fit ranks": lambda: ranking.fit(groups).predict(groups),
    "fit a perceptron": lambda: perceptron.fit(groups).predict(groups),
    "linear model": lambda: linear.fit(train["source"], labels).predict(test["source"]),
    "similarity": lambda: similarity(word),
    "nearest similarity": lambda: similarity.nearest(word),
    "soft matching": lambda: es.Subsequence(2, similarity=similarity)([word[:200], word[100:]]),
}
found = {name: worked(action) for name, action in actions.items()}
# Last: its helpers go on spinning for a while.
found["a product outside of the package"] = worked(lambda: [vectors @ vectors.T for _ in range(20)])
print(json.dumps(found))  # noqa: T201
