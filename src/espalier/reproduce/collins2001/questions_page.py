"""The page of reranked questions: Tables 1 and 2, what was chosen, and what it reaches on test questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from espalier.reproduce.collins2001.learning import PAPER, best_trial
from espalier.reproduce.collins2001.page import HEADER, HOW_MEASURED, counted, gaps, measures, over
from espalier.reproduce.page import Page
from espalier.reproduce.records import Record
from espalier.reproduce.store import Results

# Scores and improvements of the paper's tables, on its development data.
PAPER_DEPTH = {
    1: "73 ± 1, -1 ± 4",
    2: "79 ± 1, 20 ± 6",
    3: "80 ± 1, 23 ± 3",
    4: "79 ± 1, 21 ± 4",
    5: "79 ± 1, 19 ± 4",
    6: "78 ± 0.01, 18 ± 3",
}
PAPER_DECAY = {
    0.1: "77 ± 1, 11 ± 6",
    0.2: "78 ± 1, 17 ± 5",
    0.3: "79 ± 1, 20 ± 4",
    0.4: "79 ± 1, 21 ± 3",
    0.5: "79 ± 1, 21 ± 4",
    0.6: "79 ± 1, 22 ± 4",
    0.7: "79 ± 1, 21 ± 4",
    0.8: "79 ± 1, 19 ± 4",
    0.9: "78 ± 1, 17 ± 5",
}
PARTS = {"small": "800 / 200 / 336", "large": "2,400 / 400 / 1,189"}
GRAMMARS = {"plain": "the plain grammar", "markov": "the best markovized grammar"}
TARGET = 18.0  # per cent of the error
N_REPEATED, N_MARKS = 21, 2049  # questions that are like another; with a word tagged ?


def questions_page(results: Results) -> Page:
    """All that is shown."""
    out = Page(results.path.stem, "Questions: a grammar proposes, kernels choose")
    out.aim(
        "Take away as much of a grammar's error as the paper does.",
        "The paper's score, its relative improvement, F1 and exact matches on the test questions.",
        "The first parse of the grammar, the learners with each other, and the paper's tables 1 and 2.",
    )
    _explain(out, results)
    kinds = [(size, parser) for size in PARTS for parser in GRAMMARS if results.where(size=size, parser=parser)]
    out.section("Test questions")
    _say_reached(out, results)
    for size, parser in kinds:
        _test(out, _by_learner(results, size, parser), size, parser)
    for size, parser in kinds:
        if parser == "plain":
            _tables(out, results.where(size=size, parser=parser, learner="perceptron"), size)
    out.section("What was chosen on development data")
    for size, parser in kinds:
        _choices(out, _by_learner(results, size, parser), size, parser)
    return out


def _explain(out: Page, results: Results) -> None:
    splits = {size: len({record["split"] for record in results.where(size=size)}) for size in PARTS}
    out.say(
        f"Section 4 of {PAPER}. The ATIS trees of the paper are not free; these are the 4,000 questions of "
        "QuestionBank (Judge, Cahill and van Genabith, 2006), of which 11 are left out: in 6 a node has no label and "
        "in 5 a word has no tag. The other 3,989 are split at random into training, development and test questions: "
        f"{PARTS['small']} as in the paper ({_ways(splits['small'])}) and {PARTS['large']} "
        f"({_ways(splits['large'])}). A grammar is read off the training "
        f"trees, its {results.settings['candidates']} best parses of each question are the candidates. Those to learn "
        "from come from five grammars, each made of four fifths of the training trees, so that no question was seen "
        f"by the grammar that parses it (but for {N_REPEATED} of all questions that are like another: up to two of "
        f"{PARTS['small'].split()[-1]} test questions, and up to five of {PARTS['large'].split()[-1]}, are among the "
        f"training questions); {results.settings['sampled']} of each question are drawn, and the gold tree "
        "is added. Nothing is added at test. The seed of a split, its folds, samples and orders is its number."
    )
    out.say(HOW_MEASURED)
    out.say(
        "*Alone* is as in the paper: the learner's value decides. *With the grammar* adds the grammar's log "
        "probability with a weight chosen on development questions by F1. All else is chosen there too, by the "
        "paper's score, for each split by itself, and none of its test questions takes part. The paper trains again on "
        "training and development questions once settings are chosen; here learners see the training questions only. "
        "GPPreference learns its kernel by the evidence of at most 2,000 candidates: gold trees, and two drawn of the "
        "hundred of each question (settled in advance for all splits: one and three were worse on the development "
        "questions of some, which others test), with the grammar's log "
        "probability as one more feature, whose weight is learned too. *Markovized*: ancestors, siblings, what counts "
        "as a rare word, and whether tags remember their parents (contexts seen less than ten times are then "
        "forgotten) are those of twelve settings with the best score on development questions."
        f"{gaps(results, results.settings['passes'])}"
    )


def _ways(n_splits: int) -> str:
    return f"{n_splits} splits" if n_splits != 1 else "one split"


def _by_learner(results: Results, size: str, parser: str) -> dict[str, list[Record]]:
    names = ("perceptron", "svm", "gp")
    return {name: results.where(size=size, parser=parser, learner=name) for name in names}


def _chosen(records: Sequence[Record], kind: str, **wanted: Any) -> list[Record]:
    """For each split, the trial that is best on development data, of those that have some values."""
    out = []
    for record in records:
        trials = [own for own in record["trials"] if all(own.get(name) == value for name, value in wanted.items())]
        if trials:
            out.append(best_trial(trials, kind))
    return out


def _rows(found: dict[str, list[Record]], parser: str) -> list[tuple[str, str, list[Record], str]]:
    """Name, what the paper has, the chosen trials, and whether they are alone or with the grammar."""
    perceptron = found["perceptron"]
    rows = []
    if parser == "plain":
        rows = [
            ("perceptron alone, best depth", "80", _chosen(perceptron, "alone", epochs=1, decay=1.0), "alone"),
            ("perceptron alone, best decay", "80", _chosen(perceptron, "alone", epochs=1, depth=None), "alone"),
            ("perceptron alone, depth 3, two epochs", "81", _chosen(perceptron, "alone", epochs=2, depth=3), "alone"),
        ]
    return [
        *rows,
        ("perceptron alone, two epochs", "", _chosen(perceptron, "alone", epochs=2), "alone"),
        ("perceptron with the grammar, one epoch", "", _chosen(perceptron, "weighed", epochs=1), "weighed"),
        ("perceptron with the grammar, two epochs", "", _chosen(perceptron, "weighed", epochs=2), "weighed"),
        ("ranking SVM alone", "", _chosen(found["svm"], "alone"), "alone"),
        ("ranking SVM with the grammar", "", _chosen(found["svm"], "weighed"), "weighed"),
        ("GPPreference alone", "", _chosen(found["gp"], "alone"), "alone"),
        ("GPPreference with the grammar", "", _chosen(found["gp"], "weighed"), "weighed"),
        ("GPPreference with the grammar, weight learned", "", _chosen(found["gp"], "learned"), "learned"),
    ]


def _test(out: Page, found: dict[str, list[Record]], size: str, parser: str) -> None:
    base = found["perceptron"]
    ways = f"{len(base)} splits, means and standard deviations" if len(base) > 1 else "one split"
    out.say(f"**{PARTS[size]}, {GRAMMARS[parser]}** ({ways})")
    lines = [["the grammar's first parse", "74" if parser == "plain" else "", *measures(base, f"{TEST}.parser")]]
    for name, paper, trials, kind in _rows(found, parser):
        if trials:
            lines.append([name, paper, *measures(trials, f"test.{kind}")])
    lines.append(["oracle", "", *measures(base, f"{TEST}.oracle")])
    out.table(["", "paper", *HEADER], lines)
    out.say(f"The gold tree is among the candidates of {over(base, f'{TEST}.gold_among')} per cent of the questions.")


TEST = "baselines.test"
WAYS = {
    "weighed": "with the grammar's score",
    "learned": "with the grammar's score, its weight learned",
    "alone": "without it",
}


def _say_reached(out: Page, results: Results) -> None:
    """Which learners take away as much of the plain grammar's error as the paper's do."""
    out.say(
        "The columns are ours, the first of them excepted: the paper's scores on ATIS, where its improvements are 18 "
        f"to 23 per cent without the grammar's score. The goal here: {TARGET:.0f} per cent of the plain grammar's "
        f"error. {N_MARKS:,} of the questions have a mark that QuestionBank tags as `?`, which `evalb` "
        "counts as a word."
    )
    for size in PARTS:
        rows = [row for row in _rows(_by_learner(results, size, "plain"), "plain") if row[2]]
        for kind, how in WAYS.items():
            reached = [
                f"{_plain_name(name)} {over(trials, f'test.{kind}.improvement')}"
                for name, _, trials, own in rows
                if own == kind
            ]
            if reached:
                out.say(f"Improvement on test questions, {PARTS[size]}, {how}: {'; '.join(reached)}.")


def _plain_name(name: str) -> str:
    return name.replace(" with the grammar", "").replace(" alone", "").replace(", weight learned", "")


def _tables(out: Page, records: Sequence[Record], size: str) -> None:
    for title, name, published, fixed in (
        ("Table 1: by maximum depth", "depth", PAPER_DEPTH, {"decay": 1.0}),
        ("Table 2: by decay", "decay", PAPER_DECAY, {"depth": None}),
    ):
        out.section(f"{title}, {PARTS[size]}")
        rest = "decay 1" if name == "depth" else "any depth"
        out.say(f"Perceptron, one epoch, {rest}: score and improvement.")
        header = [f"{part}, {kind}" for part in ("development", "test") for kind in ("alone", "with the grammar")]
        lines = []
        for value, paper in published.items():
            trials = _chosen(records, "alone", epochs=1, **{name: value}, **fixed)
            cells = [
                f"{over(trials, f'{part}.{kind}.score')}, {over(trials, f'{part}.{kind}.improvement')}"
                for part in ("development", "test")
                for kind in ("alone", "weighed")
            ]
            if trials:
                lines.append([f"{name} {value:g}", paper, *cells])
        out.table(["", "paper, development", *header], lines)


def _choices(out: Page, found: dict[str, list[Record]], size: str, parser: str) -> None:
    lines = []
    for name, _, trials, kind in _rows(found, parser):
        if trials:
            share = counted([f"{trial['share']:g}" for trial in trials]) if kind == "weighed" else "-"
            lines.append([name, counted([_setting(trial) for trial in trials]), share])
    out.say(f"**{PARTS[size]}, {GRAMMARS[parser]}**: settings, and in how many splits each was chosen.")
    if parser == "markov":
        grammars = [record["grammar"] for record in found["perceptron"]]
        named = [
            f"({own['markov'][0]}, {own['markov'][1]}) with rare words seen {own['unknown']} times or less"
            f"{' and split tags' if own.get('split_tags') else ''}"
            for own in grammars
        ]
        out.say(f"Grammars (ancestors, siblings): {counted(named)}.")
    out.table(["", "setting", "the grammar's share beside the learner's spread"], lines)


def _setting(trial: Record) -> str:
    if "learned" in trial:
        return ", ".join(f"{path} {value:.2g}" for path, value in trial["learned"].items())
    names = [f"depth {trial['depth']}"] if trial.get("depth") else [f"decay {trial['decay']:g}"]
    return ", ".join([*names, *([f"C {trial['C']:g}"] if "C" in trial else [])])
