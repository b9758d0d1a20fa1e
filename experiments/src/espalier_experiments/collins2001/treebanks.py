"""Longer sentences: parses of the Wall Street Journal and of the English Web Treebank, reranked."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from espalier.kernels import SubsetTree
from espalier.rerank import Chooser, RankingSVM, VotedPerceptron
from espalier.structures import Tree
from espalier_experiments.collins2001.candidates import Lists, best_grammar, make_lists, shared_settings
from espalier_experiments.collins2001.corpora import PARTS, newspaper_trees, shuffled, up_to, web_trees
from espalier_experiments.collins2001.learning import PAPER, SAMPLE, UPDATES, best_trial, choose, trial
from espalier_experiments.collins2001.tables import HEADER, HOW_MEASURED, gaps, measures
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.records import Record, short
from espalier_experiments.store import Results, Task

NAME = "treebanks"
TREEBANKS = {"wsj": "Wall Street Journal, the sample of NLTK", "ewt": "English Web Treebank"}
PARSERS = ("plain", "markov")
WORDS, K, BEAM = 40, 100, 12.0
WSJ_PARTS = (2500, 400)  # training and development; the rest is for test
LEARNED = 4000  # training groups at most
MARKOV_GRID, RARE_GRID, N_CHOOSING = ((2, 1), (2, 2)), (4,), 400
DECAYS, EPOCHS = (0.2, 0.4, 0.6), 2
SVM_DECAY, SVM_C, SVM_PASSES = 0.4, (0.03, 0.1), 100


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    fixed = {"beam": BEAM, "epochs": EPOCHS, "decays": DECAYS, "updates": UPDATES, "retrained": True}
    fixed |= {"svm_decay": SVM_DECAY, "svm_C": SVM_C, "passes": SVM_PASSES, **shared_settings()}
    fixed |= {"wsj_parts": WSJ_PARTS, "markov_grid": MARKOV_GRID, "rare_grid": RARE_GRID, "choosing": N_CHOOSING}
    if quick:
        return {"words": 12, "candidates": 5, "sampled": 5, "groups": 40, **fixed}
    return {"words": WORDS, "candidates": K, "sampled": SAMPLE, "groups": LEARNED, **fixed}


def tasks(setup: Setup) -> list[Task]:
    """One task for each treebank, grammar and learner; learners on the same candidates stand side by side."""
    return [
        Task({"treebank": treebank, "parser": parser, "learner": learner}, LEARNERS[learner], setup.arguments)
        for treebank in TREEBANKS
        for parser in PARSERS
        for learner in LEARNERS
    ]


def parts_of(setup: Setup, treebank: str) -> list[list[Tree]]:
    """Training, development and test trees."""
    n_words = settings(quick=setup.quick)["words"]
    if setup.quick or treebank == "wsj":
        trees = newspaper_trees(setup.data) if treebank == "wsj" else web_trees(setup.data, "test")
        return shuffled(up_to(trees, n_words), setup.seed, (60, 20, 20) if setup.quick else (*WSJ_PARTS, None))
    return [up_to(web_trees(setup.data, part), n_words) for part in PARTS]


@lru_cache(maxsize=1)
def lists_of(setup: Setup, treebank: str, parser: str) -> tuple[Lists, Record]:
    """The candidates, made once for all learners; and the options of the grammar with the numbers of sentences."""
    common, parts = settings(quick=setup.quick), parts_of(setup, treebank)
    options: Record = {}
    if parser == "markov":
        few = parts[1][:N_CHOOSING]
        options = best_grammar(parts[0], few, markovs=MARKOV_GRID, rares=RARE_GRID, beam=BEAM)
    counts = {"k": common["candidates"], "sample": common["groups"]}
    lists = make_lists(parts, seed=setup.seed, beam=BEAM, **counts, **options)
    return lists, {"grammar": options, "sentences": [len(part) for part in parts], "groups": len(lists.train)}


def learn_perceptron(treebank: str, parser: str, learner: str, setup: Setup) -> Record:
    """Perceptrons by decay."""
    lists, known = lists_of(setup, treebank, parser)

    def perceptron(record: Record) -> Chooser:
        kernel = SubsetTree(record["decay"])
        return VotedPerceptron(kernel, epochs=EPOCHS, updates=UPDATES, **_common(setup))

    settings = [{"decay": decay} for decay in (DECAYS[:1] if setup.quick else DECAYS)]
    trials = [{**own, **trial(perceptron(own), lists)} for own in settings]
    choose(trials, lists, perceptron)
    return {**known, "baselines": lists.baselines, "trials": trials}


def learn_svm(treebank: str, parser: str, learner: str, setup: Setup) -> Record:
    """Ranking machines by C."""
    lists, _ = lists_of(setup, treebank, parser)

    def machine(C: float) -> RankingSVM:
        return RankingSVM(SubsetTree(SVM_DECAY), C=C, max_iterations=SVM_PASSES, **_common(setup))

    trials = []
    for C in SVM_C[:1] if setup.quick else SVM_C:
        own = machine(C)
        record = {"decay": SVM_DECAY, "C": C, **trial(own, lists)}
        trials.append({**record, "passes": own.n_passes_, "gap": short(own.gap_)})
    choose(trials, lists, lambda record: machine(record["C"]))
    return {"trials": trials}


def _common(setup: Setup) -> dict[str, Any]:
    sample = settings(quick=setup.quick)["sampled"]
    return {"sample": sample, "score_weight": 0.0, "random_state": setup.seed, "n_threads": setup.n_threads}


LEARNERS = {"perceptron": learn_perceptron, "svm": learn_svm}
SHOWN = {"perceptron": "perceptron", "svm": "ranking SVM"}


def page(results: Results) -> Page:
    """F1 of parsers, learners and oracles."""
    common = results.settings
    out = Page(results.path.stem, "Longer sentences: two treebanks, reranked")
    out.aim(
        "Rerank sentences that are longer and more varied than questions.",
        "The paper's score, F1 and exact matches on the test part.",
        "The first parse of the plain and of the best markovized grammar, and the best candidate there is.",
    )
    out.say(
        f"As [questions](questions.md), after {PAPER}, on sentences of up to {common['words']} words. The sample of "
        f"the Wall Street Journal is split at random into {WSJ_PARTS[0]:,} training and {WSJ_PARTS[1]} development "
        "sentences, the rest is for test; the English Web Treebank has its own parts. Traces, function tags and an "
        f"outer label are left out. The {common['candidates']} best parses are found with a beam of "
        f"{common['beam']:g}, and learners see those of {common['groups']:,} training sentences at most, drawn at "
        f"random, which four fifths of the training trees have parsed; {common['sampled']} of each are drawn, and the "
        f"gold tree is added. Perceptrons run for {EPOCHS} epochs. Decays, C and the markovized grammar are those with "
        f"the best score on development sentences, the grammar on {N_CHOOSING} of them; the weight of the grammar's "
        "score is the one with the best F1 there. With these settings learners are trained again, on training and "
        f"development sentences together, and tested.{gaps(results, SVM_PASSES)}"
    )
    out.say(HOW_MEASURED)
    for treebank, title in TREEBANKS.items():
        for parser in PARSERS:
            found = {name: results.where(treebank=treebank, parser=parser, learner=name) for name in LEARNERS}
            if found["perceptron"]:
                out.section(f"{title}, {_named(parser, found['perceptron'][0])}")
                _table(out, found)
    return out


def _named(parser: str, record: Record) -> str:
    if parser == "plain":
        return "plain grammar"
    ancestors, siblings = record["grammar"]["markov"]
    tags = ", split tags" if record["grammar"].get("split_tags") else ""
    return f"markovized grammar ({ancestors}, {siblings}){tags}"


def _table(out: Page, found: dict[str, list[Record]]) -> None:
    base = found["perceptron"]
    train, development, test = base[0]["sentences"]
    out.say(
        f"{train:,} training sentences, of which {base[0]['groups']:,} are learned from, {development:,} for "
        f"development and {test:,} for test."
    )
    rows = [["the grammar's first parse", "", *measures(base, "baselines.test.parser")]]
    for name, records in found.items():
        for kind, shown in (("alone", "alone"), ("weighed", "with the grammar")):
            trials = [best_trial(record["trials"], kind) for record in records]
            if trials:
                rows.append([f"{SHOWN[name]} {shown}", _setting(trials[0], kind), *measures(trials, f"test.{kind}")])
    rows.append(["oracle", "", *measures(base, "baselines.test.oracle")])
    out.table(["", "chosen", *HEADER], rows)


def _setting(own: Record, kind: str) -> str:
    price = f", C {own['C']:g}" if "C" in own else ""
    return f"decay {own['decay']:g}{price}" + (f", share {own['share']:g}" if kind == "weighed" else "")
