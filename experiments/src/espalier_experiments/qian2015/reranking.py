"""Selecting features of lists and learning on them; settings are chosen on development groups."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from espalier import FeatureReranker, KernelSpaceSelector
from espalier.kernels import ARC_TEMPLATES, DependencySubtree, Kernel
from espalier_experiments.papers import Setup
from espalier_experiments.qian2015.lists import Lists, compared
from espalier_experiments.records import Record, short

RELATIONS = (
    *("relation", "head tag, relation, tag", "head word, relation", "word, relation", "head tag, relation"),
    *("tag, relation", "head word, relation, tag", "head tag, relation, word", "tags, relation, length, direction"),
    "relation, direction",
)
# The templates of table 1 that are joined with length and direction and the tags between, all of it, and relations.
TEMPLATES = {"joined": ARC_TEMPLATES[16:], "all": ARC_TEMPLATES, "relations": RELATIONS}
DECAYS = (1.0, 0.3)
STEP, EPOCHS, MEMORY = 5.0, 4, "12 GiB"
SCORE_WEIGHT = 3.0  # while learning


def select(lists: Lists, templates: str | Kernel, max_order: int, setup: Setup, **options: Any) -> tuple[Any, Record]:
    """A fitted selector on the training groups, by templates or a kernel; and figures of its last and of all passes."""
    kernel = DependencySubtree(TEMPLATES[templates], root=True) if isinstance(templates, str) else templates
    settings: dict[str, Any] = {"max_passes": 1, "cost": "errors", "memory": MEMORY, "n_threads": setup.n_threads}
    selector = KernelSpaceSelector(kernel, max_order=max_order, **{**settings, **options})
    began = time.monotonic()
    selector.fit(lists.train)
    seconds = time.monotonic() - began
    last = [own for own in selector.history_ if own.orders][-1]
    return selector, {
        "select_seconds": short(seconds),
        "passes": len(selector.history_),
        "pass_seconds": short(float(np.mean([own.seconds for own in selector.history_ if own.orders]))),
        "mispredicted": [own.n_mispredicted for own in selector.history_],
        "objective": [short(own.objective) for own in selector.history_],
        "counted_in_last_pass": [own.n_counted for own in last.orders],
        "candidates": [own.n_candidates for own in last.orders],
        "survivors": [own.n_survivors for own in last.orders],
        "weights": [own.n_weights for own in last.orders],
        "held": max(own.memory for own in selector.history_),
    }


def rerank(
    lists: Lists,
    selector: Any,
    setup: Setup,
    *,
    losses: tuple[str, ...] = ("risk",),
    decays: tuple[float, ...] = DECAYS,
    keep: str = "chosen",
) -> Record:
    """The best settings on development groups, and what they reach there and on the test part, which is read once."""
    best: tuple[float, Record, Any] | None = None
    trials = []
    for loss in losses:
        for decay in decays if selector.max_order > 1 else decays[:1]:
            options: dict[str, Any] = {"loss": loss, "decay": decay, "step": STEP, "epochs": EPOCHS, "keep": keep}
            options["learning_score_weight"] = SCORE_WEIGHT
            model = FeatureReranker(selector, n_threads=setup.n_threads, random_state=setup.seed, **options)
            began = time.monotonic()
            model.fit(lists.train, development=lists.development)
            seconds = time.monotonic() - began
            own: Record = {
                "loss": loss,
                "decay": decay,
                "keep": model.keep_,
                "epoch": model.epoch_,
                "score_weight": short(model.score_weight_),
                "learn_seconds": short(seconds),
                "features": len(model.features_),
                "development": compared(lists.development, model.predict(lists.development)),
            }
            trials.append(own)
            if best is None or own["development"]["uas"] > best[0]:
                best = own["development"]["uas"], own, model
    assert best is not None
    _, chosen, model = best
    began = time.process_time()
    single = model.set_params(n_threads=1)
    single.decision_function(lists.test)
    speed = len(lists.test) / (time.process_time() - began)
    return {
        "trials": trials,
        "chosen": chosen,
        "test": compared(lists.test, model.predict(lists.test)),
        "sentences_a_second": short(speed),
    }
