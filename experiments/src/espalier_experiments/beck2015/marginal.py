"""What averaging over hyperparameters gains on few headlines: the maximum, the cheap way, and draws by NUTS."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from espalier.bayes import Marginalized, UnconvergedError, approximate, sample
from espalier.gp import LogNormal
from espalier.kernels import Kernel, Learned, Normalized, PerLabel, SubsetTree
from espalier_experiments import data, measures
from espalier_experiments.beck2015.settings import PAPER, Setup
from espalier_experiments.page import Page, number
from espalier_experiments.records import fit_gp, short
from espalier_experiments.selection import Record
from espalier_experiments.store import Results, Task

NAME = "marginal"
ROWS, EMOTION = 200, "joy"
N_DRAWS, N_WARMUP = 300, 150  # of each of four chains
MODELS = ("one decay", "one decay per label")
METHODS = ("maximum, no priors", "maximum", "cheap way", "NUTS")
DECAY, FRONTIER = LogNormal(0.1, 1.0), LogNormal(0.5, 0.5)
SCALE, NOISE = LogNormal(0.5, 1.0), LogNormal(0.5, 1.0)


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    rows, draws, warmup = (30, 10, 20) if quick else (ROWS, N_DRAWS, N_WARMUP)
    return {"rows": rows, "emotion": EMOTION, "draws": draws, "warmup": warmup}


def tasks(setup: Setup) -> list[Task]:
    """One task for each model and each way to treat its hyperparameters."""
    return [
        Task({"model": model, "method": method}, learn, setup.arguments)
        for model in (MODELS[:1] if setup.quick else MODELS)
        for method in METHODS
    ]


def learn(model: str, method: str, setup: Setup) -> Record:
    """Learn from some headlines, drawn at random, and measure on all others."""
    common = settings(quick=setup.quick)
    table = data.affective(setup.data)
    order = np.random.default_rng(setup.seed).permutation(len(table))
    train, test = (table[np.sort(rows)] for rows in (order[: common["rows"]], order[common["rows"] :]))
    y, y_test = (part["emotions"][:, data.EMOTIONS.index(EMOTION)] for part in (train, test))
    has_priors = method != METHODS[0]
    noise = Learned(0.5, prior=NOISE) if has_priors else 0.5
    fitted, seconds = fit_gp(kernel(model, has_priors=has_priors), train, y, noise=noise, n_threads=setup.n_threads)
    record: Record = {"numbers": len(fitted.learned_), "evaluations": fitted.restarts_[0].n_evaluations}
    start = time.perf_counter()
    averaged: Any = fitted
    if method in METHODS[2:]:
        averaged = _averaged(fitted, method, common)
        record["evaluations"] += averaged.draws.n_evaluations
        record |= _diagnostics(averaged)
    predicted = averaged.predict_distribution(test)
    return {
        **record,
        "fit_seconds": short(seconds),
        "more_seconds": short(time.perf_counter() - start),
        "nlpd": measures.nlpd(predicted.log_density(y_test)),
        "rmse": measures.rmse(y_test, predicted.mean),
    }


def kernel(model: str, *, has_priors: bool) -> Kernel:
    """The normalised subset tree kernel with a learned scale."""
    decay: Any = Learned(0.1, prior=DECAY if has_priors else None)
    if model == MODELS[1]:
        decay = PerLabel(decay)
    frontier = Learned(0.5, prior=FRONTIER if has_priors else None)
    scale = Learned(0.5, prior=SCALE if has_priors else None)
    return scale * Normalized(SubsetTree(decay=decay, frontier=frontier, on="tree"))


def _averaged(fitted: Any, method: str, common: Record) -> Marginalized:
    with warnings.catch_warnings():  # the page has these numbers
        warnings.filterwarnings("ignore", message="The density of the hyperparameters")
        warnings.filterwarnings("ignore", message=r".* transitions diverged")
        if method == METHODS[2]:
            return approximate(fitted)
        try:
            return sample(fitted, n_draws=common["draws"], n_warmup=common["warmup"])
        except UnconvergedError as error:
            return Marginalized(fitted, error.draws)


def _diagnostics(averaged: Marginalized) -> Record:
    draws = averaged.draws
    if draws.kind == "design":
        return {"points": len(draws), "agreement": draws.agreement}
    rows = draws.summary().rows
    return {
        "points": len(draws),
        "r_hat": max(row.r_hat for row in rows),
        "ess": min(min(row.ess_bulk, row.ess_tail) for row in rows),
        "divergent": draws.n_divergent,
    }


def page(results: Results) -> Page:
    """The ways beside each other."""
    records = list(results)
    out = Page(results.path.stem, "Averaging over hyperparameters, on few headlines")
    out.aim(
        "See what averaging over hyperparameters gains on few data, and what it costs.",
        "The negative log density of headlines that were not learned from (NLPD), and how often the evidence was "
        "computed.",
        "The most probable hyperparameters, with and without priors.",
    )
    out.say(
        f"The data are the headlines of {PAPER}. {ROWS} of the 1,000, drawn at random, are learned from, and the other "
        f"{1000 - ROWS} are measured; the emotion is {EMOTION}. The kernel is the normalised subset tree kernel with a "
        "learned scale, frontier and noise, and one decay, or one for each label. Nothing was chosen by its result. "
        f"Decays have the prior {DECAY!r}, frontier {FRONTIER!r}, scale {SCALE!r}, noise {NOISE!r}."
    )
    out.say(
        "*Maximum* takes the most probable numbers, as `fit` does. *Cheap way* is `espalier.bayes.approximate`, and "
        f"*NUTS* is `espalier.bayes.sample` with four chains of {N_DRAWS} draws after {N_WARMUP} of warm-up, of which "
        "predictions use 100. Evaluations include those of the fit. Other programs ran on the same cores, so that "
        "seconds only show the order of magnitude; those of *more* include the predictions."
    )
    out.section("Densities and costs")
    header = ["model, method", "numbers", "NLPD", "RMSE", "evaluations", "seconds of fit", "seconds more"]
    out.table(header, [_row(r) for r in _ordered(records)])
    out.section("Diagnostics")
    out.say(
        "The agreement of a design is 1 if its points are as probable as under a normal distribution, and near 0 if a "
        "few points have all the weight. For draws, R-hat should be at most 1.01 and the effective sample at least 100 "
        "for every number; the worst is shown."
    )
    header = ["model, method", "points", "agreement", "largest R-hat", "least effective sample", "divergent"]
    out.table(header, [_diagnosed(r) for r in _ordered(records) if r.get("points")])
    return out


def _ordered(records: Sequence[Record]) -> list[Record]:
    return sorted(records, key=lambda r: (MODELS.index(r["model"]), METHODS.index(r["method"])))


def _row(record: Record) -> list[str]:
    counts = [f"{record[name]:,}" for name in ("numbers", "evaluations")]
    times = [f"{record[name]:.3g}" for name in ("fit_seconds", "more_seconds")]
    return [
        f"{record['model']}, {record['method']}",
        counts[0],
        number(record["nlpd"]),
        number(record["rmse"]),
        counts[1],
        *times,
    ]


def _diagnosed(record: Record) -> list[str]:
    whole = [f"{record[name]:.0f}" if name in record else "-" for name in ("ess", "divergent")]
    r_hat, agreement = (number(record.get(name)) for name in ("r_hat", "agreement"))
    return [f"{record['model']}, {record['method']}", f"{record['points']:,}", agreement, r_hat, *whole]
