"""Section 3: taggings of a hidden Markov model, reranked by the kernel of tagged sequences."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from espalier.kernels import Tagging
from espalier.parsing import Tagger
from espalier.rerank import VotedPerceptron
from espalier.structures import TaggedSequence
from espalier_experiments.collins2001.candidates import Lists, make_lists, shared_settings
from espalier_experiments.collins2001.corpora import PARTS, tagged_sentences
from espalier_experiments.collins2001.learning import PAPER, UPDATES, best_trial, choose, trial
from espalier_experiments.collins2001.tables import over
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.records import Record, short
from espalier_experiments.store import Results, Task

NAME = "tagging"
K, SAMPLED, LEARNED, EPOCHS = 100, 10, 4000, 2
DECAYS, WORD_WEIGHTS = (0.3, 0.5), (1.0, 2.0)
N_REPEATED, N_IN_TEST = 810, 94  # training sentences of web text that are like one before, test sentences like one


class Data(NamedTuple):
    """A treebank and the column of its tags."""

    treebank: str
    tags: Literal["upos", "xpos"]


SETS = {
    "ATIS, universal tags": Data("atis_ud", "upos"),
    "web, universal tags": Data("ewt_ud", "upos"),
    "web, Penn tags": Data("ewt_ud", "xpos"),
}


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    fixed = {"decays": DECAYS, "word_weights": WORD_WEIGHTS, "updates": UPDATES, "retrained": True, **shared_settings()}
    if quick:
        return {"candidates": 5, "sampled": 5, "groups": 30, "epochs": 1, **fixed}
    return {"candidates": K, "sampled": SAMPLED, "groups": LEARNED, "epochs": EPOCHS, **fixed}


def tasks(setup: Setup) -> list[Task]:
    """One task for each set of tags: its kernels are compared on development data, and the best are tested."""
    return [Task({"data": data}, learn, setup.arguments) for data in (list(SETS)[:1] if setup.quick else SETS)]


@lru_cache(maxsize=1)
def lists_of(setup: Setup, data: str) -> tuple[Lists, Record]:
    """The candidates, made once for all kernels; and what is known of the data."""
    common, (treebank, tags) = settings(quick=setup.quick), SETS[data]
    parts = [tagged_sentences(setup.data, treebank, part, tags) for part in PARTS]
    if setup.quick:
        parts = [part[:size] for part, size in zip(parts, (60, 20, 20), strict=True)]
    counts = {"k": common["candidates"], "sample": common["groups"]}
    lists = make_lists(parts, seed=setup.seed, make=Tagger.from_sentences, **counts)
    return lists, {"sentences": [len(part) for part in parts], **_unknown(parts[0], parts[2], lists)}


def _unknown(train: list[TaggedSequence], test: list[TaggedSequence], lists: Lists) -> Record:
    """How many test words the tagger has not seen, and how many of these it tags as the treebank does, in per cent."""
    known = {word for sentence in train for word in sentence.words}
    right, total, n_words = 0, 0, 0
    for sentence, group in zip(test, lists.test.groups, strict=True):
        n_words += len(sentence.words)
        for word, tag, own in zip(sentence.words, sentence.tags, group.candidates[group.best].tags, strict=True):
            total += word not in known
            right += word not in known and tag == own
    return {"unknown": short(100.0 * total / n_words), "unknown_right": short(100.0 * right / max(total, 1))}


def learn(data: str, setup: Setup) -> Record:
    """Perceptrons with the kernel of tagged sequences."""
    lists, known = lists_of(setup, data)
    common = settings(quick=setup.quick)
    options = {"epochs": common["epochs"], "sample": common["sampled"], "score_weight": 0.0, "updates": UPDATES}
    options |= {"random_state": setup.seed, "n_threads": setup.n_threads}

    def perceptron(record: Record) -> VotedPerceptron:
        return VotedPerceptron(Tagging(record["decay"], record["word_weight"]), **options)

    kernels = [{"decay": decay, "word_weight": word} for decay in DECAYS for word in WORD_WEIGHTS]
    trials = [{**own, **trial(perceptron(own), lists)} for own in (kernels[:1] if setup.quick else kernels)]
    choose(trials, lists, perceptron)
    several = float(np.mean([len(group) > 1 for group in lists.test.groups]))
    return {**known, "baselines": lists.baselines, "several": short(100.0 * several), "trials": trials}


def page(results: Results) -> Page:
    """Accuracy before and after."""
    common = results.settings
    out = Page(results.path.stem, "Taggings: a hidden Markov model proposes, a kernel chooses")
    out.aim(
        "Rerank the taggings of a hidden Markov model with the paper's second kernel.",
        "Accuracy of the tags on the test part.",
        "The first tagging of the model, and the best among its candidates.",
    )
    out.say(
        f"Section 3 of {PAPER}, which gives the kernel and no experiment. A trigram hidden Markov model is made of the "
        f"training sentences; its {common['candidates']} best taggings of each sentence are the candidates. Those to "
        f"learn from are of {common['groups']:,} training sentences at most, drawn at random, from five taggers that "
        "have not seen them; sentences that come back "
        f"({N_REPEATED} of the 12,544 of web text, as do {N_IN_TEST} of its test sentences) are all left to the same "
        f"tagger; {common['sampled']} of each are drawn, and the gold tagging is added. A perceptron with "
        f"the `Tagging` kernel runs for {common['epochs']} epochs. Its decay and the weight of words, and that of the "
        "tagger's log probability beside it, are those with the best accuracy on development sentences; with these it "
        "is trained again, on training and development sentences together, and tested. The parts are "
        "those of the Universal Dependencies treebanks of ATIS and of English web text."
    )
    out.section("Accuracy on test sentences, per cent of words")
    rows = [[data, *_cells(record)] for data in SETS for record in results.where(data=data)]
    header = ["tagger", "kernel alone", "kernel with the tagger", "error taken away", "oracle", "decay, word", "share"]
    out.table(["", *header], rows)
    out.say(
        "*Error taken away* is by the kernel with the tagger, relative to the tagger's error. The share is the weight "
        "of the tagger's score, where the spread of the kernel's values inside groups weighs 1."
    )
    out.section("The data")
    header = [
        "training",
        "development",
        "test",
        "words not seen, %",
        "of these tagged right, %",
        "gold among candidates, %",
    ]
    shown = {data: results.where(data=data)[0] for data in SETS if results.where(data=data)}
    out.table(["sentences", *header], [[data, *_counts(record)] for data, record in shown.items()])
    return out


def _cells(record: Record) -> list[str]:
    alone, both = (best_trial(record["trials"], kind) for kind in ("alone", "weighed"))
    return [
        over([record], "baselines.test.parser.f1", 2),
        over([alone], "test.alone.f1", 2),
        over([both], "test.weighed.f1", 2),
        over([both], "test.weighed.improvement", 1),
        over([record], "baselines.test.oracle.f1", 2),
        f"{both['decay']:g}, {both['word_weight']:g}",
        f"{both['share']:g}",
    ]


def _counts(record: Record) -> list[str]:
    among = record["baselines"]["test"]["gold_among"]
    return [
        *(f"{n:,}" for n in record["sentences"]),
        *(f"{value:.1f}" for value in (record["unknown"], record["unknown_right"], among)),
    ]
