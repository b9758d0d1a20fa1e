"""Section 5, structured prediction: a Gaussian process over whole tag sequences, learned from few sentences."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from espalier.kernels import BagOfWords, Kernel, Normalized, Spectrum, fixed
from espalier.parsing import PerceptronTagger, Tagger
from espalier.structures import Table, TaggedSequence
from espalier_experiments.beck2014.chains import Chains, Indices, Matrix
from espalier_experiments.beck2014.learning import PAPER
from espalier_experiments.beck2014.tag_process import Predictor, TagProcess, Values
from espalier_experiments.collins2001.corpora import tagged_sentences
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.records import Record, short
from espalier_experiments.store import Results, Task

NAME = "sequences"
TREEBANKS = {"ATIS": "atis_ud", "web": "ewt_ud"}
SIZES, DRAWS, N_TEST = (50, 100, 200), 3, 500
SCALES, FOLDS, SPREAD = (64.0, 256.0, 1024.0), 3, 1.0
BURNT, KEPT = 50, 100
LEAST = 1e-6  # of a probability, for the mean of logarithms: tags that no training sentence has


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    return {"test_sentences": 10 if quick else N_TEST, "folds": FOLDS, "draws": 2 if quick else KEPT}


def tasks(setup: Setup) -> list[Task]:
    """One task for each treebank, number of training sentences, and draw of these."""
    sizes, draws = ((6,), 1) if setup.quick else (SIZES, DRAWS)
    return [
        Task({"treebank": treebank, "sentences": size, "drawn": drawn}, learn, setup.arguments)
        for size in sizes
        for treebank in (list(TREEBANKS)[:1] if setup.quick else TREEBANKS)
        for drawn in range(draws)
    ]


def kernel(scale: float) -> Kernel:
    """Tokens are alike if their words, their characters and their neighbours are."""
    terms: list[tuple[float, Kernel]] = [
        (0.25, BagOfWords(on="word")),
        (0.35, _characters("spelling", 4)),
        (0.1, BagOfWords(on="previous")),
        (0.1, BagOfWords(on="next")),
        (0.1, _characters("previous spelling", 3)),
        (0.1, _characters("next spelling", 3)),
    ]
    total: Kernel = fixed(scale * terms[0][0]) * terms[0][1]
    for weight, term in terms[1:]:
        total = total + fixed(scale * weight) * term
    return total


def _characters(on: str, length: int) -> Kernel:
    return Normalized(Spectrum(length, 1, order_weights=fixed(1.0), of="characters", on=on))


def tokens(sentences: Sequence[TaggedSequence]) -> Table:
    """A row for each token: its word, its spelling with marks at both ends, and those of its neighbours."""
    words = [[word.lower() for word in own.words] for own in sentences]
    previous = [word for own in words for word in ["<s>", *own[:-1]]]
    following = [word for own in words for word in [*own[1:], "</s>"]]
    return Table(
        {
            "word": [word for own in words for word in own],
            "spelling": [f"^{word}$" for own in sentences for word in own.words],
            "previous": previous,
            "next": following,
            "previous spelling": [f"^{word}$" for word in previous],
            "next spelling": [f"^{word}$" for word in following],
        }
    )


def learn(treebank: str, sentences: int, drawn: int, setup: Setup) -> Record:
    """Learn from some sentences, in every way; measure on test sentences."""
    common = settings(quick=setup.quick)
    rng = np.random.default_rng([setup.seed, drawn])
    pool, test = (tagged_sentences(setup.data, TREEBANKS[treebank], part, "upos") for part in ("train", "test"))
    names = {name: place for place, name in enumerate(sorted({tag for own in pool for tag in own.tags}))}
    train = [pool[row] for row in np.sort(rng.permutation(len(pool))[:sentences]).tolist()]
    test_rows = np.random.default_rng(setup.seed).permutation(len(test))[: common["test_sentences"]]
    test = [test[row] for row in np.sort(test_rows).tolist()]
    gold = codes(test, names)
    out: Record = {"tokens": len(codes(train, names)), "test_tokens": len(gold)}
    for name, tagger in (("trigrams", Tagger), ("perceptron", PerceptronTagger)):
        found = tagger.from_sentences(train).tag_all([own.words for own in test])
        out[name] = {"accuracy": share_right(codes([own.best[0].sequence for own in found], names), gold)}
    for name, spread in (("single tokens", 0.0), ("chains", SPREAD)):
        scale = chosen_scale(train, names, spread)
        began = time.perf_counter()
        process = process_of(train, names, scale, spread)
        best = process.most_probable()
        seconds = time.perf_counter() - began
        predictor = Predictor.of(process, tokens(test), [len(own.tags) for own in test])
        out[name] = {"scale": scale, "fit_seconds": short(seconds), **measured(predictor.marginals(best), gold)}
        if spread:
            out["draws"] = averaged(process, best, predictor, gold, common["draws"], setup.seed)
    return out


def codes(sentences: Sequence[TaggedSequence], names: dict[str, int]) -> Indices:
    """The tags of all tokens as numbers; one more than there are for a tag that the treebank's training part lacks."""
    return np.array([names.get(tag, len(names)) for own in sentences for tag in own.tags], np.intp)


def process_of(sentences: Sequence[TaggedSequence], names: dict[str, int], scale: float, spread: float) -> TagProcess:
    """The process of some sentences."""
    chains = Chains.of([len(own.tags) for own in sentences], len(names))
    return TagProcess.of(kernel(scale), spread, tokens(sentences), chains, codes(sentences, names))


def chosen_scale(sentences: Sequence[TaggedSequence], names: dict[str, int], spread: float) -> float:
    """The variance whose most probable values predict left-out training sentences best."""
    heights = dict.fromkeys(SCALES, 0.0)
    for fold in range(FOLDS):
        known = [own for row, own in enumerate(sentences) if row % FOLDS != fold]
        rest = [own for row, own in enumerate(sentences) if row % FOLDS == fold]
        for scale in SCALES:
            process = process_of(known, names, scale, spread)
            predictor = Predictor.of(process, tokens(rest), [len(own.tags) for own in rest])
            found = measured(predictor.marginals(process.most_probable()), codes(rest, names))
            heights[scale] -= found["log_loss"] * sum(len(own.tags) for own in rest)
    return max(SCALES, key=lambda scale: heights[scale])


def averaged(process: TagProcess, best: Values, predictor: Predictor, gold: Indices, n_kept: int, seed: int) -> Record:
    """The mean of the probabilities at many draws of the posterior."""
    rng, began = np.random.default_rng(seed), time.perf_counter()
    total, means, heights = np.zeros(()), np.zeros(()), []
    for values, height in process.draws(best, BURNT, n_kept, seed):
        total, means = total + predictor.marginals(values, rng), means + predictor.marginals(values)
        heights.append(height / len(process.tags))
    half = len(heights) // 2
    return {
        **measured(total / n_kept, gold),
        "at_means": measured(means / n_kept, gold),
        "halves": [short(float(np.mean(part))) for part in (heights[:half], heights[half:])],
        "draw_seconds": short(time.perf_counter() - began),
    }


def measured(p: Matrix, gold: Indices) -> Record:
    """Accuracy in per cent, and the mean of minus the log probability of the right tag."""
    known = np.concatenate([p, np.zeros((len(p), 1))], axis=1)
    right = np.maximum(known[np.arange(len(gold)), gold], LEAST)
    return {"accuracy": share_right(p.argmax(axis=1), gold), "log_loss": short(float(-np.log(right).mean()))}


def share_right(found: Indices, gold: Indices) -> float:
    """Tags that are right, in per cent."""
    return short(100.0 * float((found == gold).mean()))


def page(results: Results) -> Page:
    """Accuracy and log loss by treebank and number of sentences."""
    common = results.settings
    out = Page(results.path.stem, "Whole tag sequences: a Gaussian process learned from few sentences")
    out.aim(
        "Learn tags of whole sentences by a Gaussian process, with kernels on words, characters and neighbours.",
        f"Accuracy of universal tags, and the mean log loss of a token, on {common['test_sentences']} test sentences.",
        "The trigram tagger and the perceptron tagger, learned from the same sentences.",
    )
    out.say(
        f"{PAPER}, section 5, and Beck et al. (2015), section 5.4, leave structured prediction open. This is the "
        "model of Bratieres, Quadrianto and Ghahramani (2013) at a small scale: a latent function of tokens for each "
        "tag, and a weight for each pair of neighbouring tags. *Single tokens* leaves the pairs out. Training "
        f"sentences are drawn at random, {DRAWS} times; figures are means. The variance of the functions is the one of "
        f"{', '.join(f'{scale:g}' for scale in SCALES)} with the best log loss of {common['folds']} parts of the "
        "training sentences, each predicted from the others. *Most probable* takes the latent values at the top of "
        f"the posterior. *Draws* averages the probabilities at {common['draws']} draws of Hamiltonian Monte Carlo, "
        "test values drawn too; *draws, means of new values* takes the mean of these instead. The tag of a token is "
        "the one with the largest probability. Taggers have their default settings."
    )
    header = ["sentences", "tokens", "trigrams", "perceptron", "single tokens", "chains, most probable"]
    header += ["chains, draws", "chains, draws, means of new values"]
    groups = [
        (treebank, results.where(treebank=treebank, sentences=size))
        for treebank in TREEBANKS
        for size in sorted({record["sentences"] for record in results})
    ]
    groups = [(treebank, records) for treebank, records in groups if records]
    out.section("Accuracy, per cent")
    out.table(["treebank", *header], [_row(treebank, own, "accuracy", ".2f") for treebank, own in groups])
    out.section("Log loss")
    out.table(["treebank", *header], [_row(treebank, own, "log_loss", ".3f") for treebank, own in groups])
    out.section("Cost and convergence")
    out.say(
        "Seconds of the climb and of the draws on one core, with the predictions of all test sentences; and the mean "
        "log probability of a training tag in both halves of the draws, which are close if the draws have settled."
    )
    rows = []
    for treebank, records in groups:
        scales = ", ".join(f"{record['chains']['scale']:g}" for record in records)
        seconds = [np.mean([record[a][b] for record in records]) for a, b in _COSTS]
        halves = [float(np.mean([record["draws"]["halves"][k] for record in records])) for k in (0, 1)]
        rows.append(
            [
                treebank,
                f"{records[0]['sentences']}",
                scales,
                *(f"{own:.1f}" for own in seconds),
                *(f"{own:.3f}" for own in halves),
            ]
        )
    out.table(["treebank", "sentences", "variances", "climb", "draws", "first half", "second half"], rows)
    return out


_COSTS = (("chains", "fit_seconds"), ("draws", "draw_seconds"))


def _row(treebank: str, records: list[Record], entry: str, digits: str) -> list[str]:
    def mean(*path: str) -> str:
        found = []
        for record in records:
            own: Any = record
            for name in path:
                own = own.get(name)
                if own is None:
                    return ""
            found.append(own)
        return format(float(np.mean(found)), digits)

    tokens_each = f"{np.mean([record['tokens'] for record in records]):,.0f}"
    cells = [mean(name, entry) for name in ("trigrams", "perceptron", "single tokens", "chains", "draws")]
    return [treebank, f"{records[0]['sentences']}", tokens_each, *cells, mean("draws", "at_means", entry)]
