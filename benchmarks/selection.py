"""Speed of selecting features and of choosing by them: ``make bench``. The page is ``docs/results/selection.md``.

Times are of the processor on one thread, unless the page says otherwise. Counting runs on drawn numbers; polynomials
run on real reviews of products; trees of the English Web Treebank are those of a parser that learned from others.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import LinearSVC

from benchmarks.corpora import DATA, ROOT, available
from benchmarks.dependencies import ewt, retagged
from benchmarks.parsing import seconds
from benchmarks.report import Report, cpu_name, write_page
from espalier import FeatureReranker, KernelSpaceSelector, _core
from espalier.kernels import ARC_TEMPLATES, DependencySubtree, Polynomial, Spectrum
from espalier.parsing import DependencyParser, PerceptronTagger
from espalier.rerank import propose
from espalier.structures import read_table

PAGE = ROOT / "docs" / "results" / "selection.md"
N_OCCURRENCES, N_EXAMPLES = 30_000_000, 10_000
RUNS = 2


def drawn_keys(n: int, seed: int = 0) -> np.ndarray:
    """Half of the occurrences are of few frequent keys, the others of keys that hardly come again."""
    rng = np.random.default_rng(seed)
    frequent = (n / 12 * rng.random(n) ** 3).astype(np.uint64)
    rare = rng.integers(1 << 40, (1 << 40) + 2 * n, n).astype(np.uint64)
    return np.where(rng.random(n) < 0.5, frequent, rare) * np.uint64(2654435761) & np.uint64((1 << 62) - 1)


def counting_rows() -> list[list[str]]:
    keys = drawn_keys(N_OCCURRENCES)
    start = np.linspace(0, len(keys), N_EXAMPLES + 1).astype(np.int64)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, memory in (("exact, in memory", 1 << 32), ("exact, most of it spilled", 1 << 27)):
            taken, found = seconds(lambda m=memory: _core.count_occurrences(keys, start, 3.0, m, folder, 1), RUNS)
            spilled = f"{found['n_spilled'] / 1e6:,.0f}"
            rows.append([name, f"{1e9 * taken / len(keys):.1f}", f"{memory / 1e6:,.0f}", spilled])
    for name, memory in (("blocked filter", 1 << 27),):
        taken, _ = seconds(lambda m=memory: _core.filter_occurrences(keys, 3, m), RUNS)
        rows.append([name, f"{1e9 * taken / len(keys):.1f}", f"{memory / 1e6:,.0f}", ""])
    return rows


def false_positive_rows() -> list[list[str]]:
    """Keys that pass though they came at most three times, by counters for each different key."""
    keys = drawn_keys(N_OCCURRENCES // 10)
    distinct, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    rows = []
    for counters in (32, 16, 8, 4, 2):
        passed = _core.filter_occurrences(keys, 3, max(64, len(distinct) * counters // 4))
        ever = np.zeros(len(distinct), bool)
        ever[inverse.reshape(-1)[passed > 0]] = True
        rare = counts <= 3
        rows.append([f"{counters}", f"{100 * ever[rare].mean():.2f}", f"{100 * ever[~rare].mean():.1f}"])
    return rows


def lists(n_train: int = 4000) -> tuple[list[Any], list[Any]]:
    """Groups to learn from and to choose in, of a parser that learned from other sentences."""
    (train, _), (dev, _) = ewt("train"), ewt("dev")
    tagger = PerceptronTagger.from_sentences(train[n_train:])
    parser = DependencyParser.from_treebank(train[n_train:])
    return tuple(propose(parser, retagged(tagger, part), 10) for part in (train[:n_train], dev))  # type: ignore[return-value]


def reranking_rows(learned: Sequence[Any], new: Sequence[Any]) -> list[list[str]]:
    rows = []
    for max_order in (1, 2, 3):
        kernel = DependencySubtree(ARC_TEMPLATES[16:], root=True)
        selector = KernelSpaceSelector(kernel, max_order=max_order, max_passes=1, cost="errors", n_threads=1)
        taken, _ = seconds(lambda own=selector: own.fit(learned))
        model = FeatureReranker(selector, n_threads=1, epochs=1).fit(learned, development=new)
        model.decision_function(new[:100])
        chosen, _ = seconds(lambda own=model: own.decision_function(new), RUNS)
        steps = selector.history_[0].orders
        n = sum(own.n_counted for own in steps)
        rows.append(
            [
                f"{max_order}",
                f"{n / 1e6:,.0f} M",
                f"{taken:.1f}",
                f"{len(selector.features_):,}",
                f"{len(model.features_):,}",
                f"{len(new) / chosen:,.0f}",
            ]
        )
    return rows


def reviews() -> tuple[list[str], list[str], list[str]]:
    table = read_table(DATA / "sentiment" / "reviews.tsv.gz")
    texts = [" ".join(str(text).lower().split()[:100]) for text in table["text"]]
    return texts, list(map(str, table["polarity"])), list(map(str, table["domain"]))


def polynomial_rows(texts: list[str], labels: list[str]) -> list[list[str]]:
    """Products of two words: selected, and by listing all of them, where these fit."""
    rows = []
    rng = np.random.default_rng(0)
    order = rng.permutation(len(texts))
    for n_words in (100, 300, 1000):
        words = CountVectorizer(binary=True, max_features=n_words)
        X = words.fit_transform([texts[k] for k in order]).astype(np.float64)
        y = np.array([labels[k] for k in order])
        train, test = slice(0, 6000), slice(6000, None)
        selector = KernelSpaceSelector(Polynomial(2), C=10.0, n_threads=1)
        model = make_pipeline(selector, LinearSVC(C=0.01))
        taken, _ = seconds(lambda own=model: own.fit(X[train], y[train]))
        n = n_words * (n_words + 1) // 2
        rows.append(
            [
                f"{n_words:,}",
                f"{n:,}",
                "selected",
                f"{len(selector.features_):,}",
                f"{taken:.1f}",
                f"{100 * model.score(X[test], y[test]):.1f}",
            ]
        )
        listing = PolynomialFeatures(2, interaction_only=True, include_bias=False)
        listed = make_pipeline(listing, LinearSVC(C=0.02, penalty="l1", dual=False, max_iter=200))
        taken, _ = seconds(lambda own=listed: own.fit(X[train], y[train]))
        kept = int(np.count_nonzero(listed[-1].coef_))
        rows.append(
            [
                f"{n_words:,}",
                f"{n:,}",
                "PolynomialFeatures, L1",
                f"{kept:,}",
                f"{taken:.1f}",
                f"{100 * listed.score(X[test], y[test]):.1f}",
            ]
        )
    return rows


def text_rows(texts: list[str], labels: list[str]) -> list[list[str]]:
    """Five folds of reviews: n-grams that are selected, and logistic regression on words and bigrams."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    y = np.array(labels)
    systems: dict[str, Callable[[], Any]] = {
        "words and bigrams, logistic regression": lambda: make_pipeline(
            CountVectorizer(binary=True, ngram_range=(1, 2), token_pattern=r"\S+", min_df=2),
            LogisticRegression(C=0.3, max_iter=500),
        ),
        "n-grams up to 2, selected, logistic regression": lambda: make_pipeline(
            KernelSpaceSelector(Spectrum(2, 1), C=3.0, max_order=2), LogisticRegression(C=0.3, max_iter=500)
        ),
        "n-grams up to 4, selected, logistic regression": lambda: make_pipeline(
            KernelSpaceSelector(Spectrum(4, 1), C=3.0, max_order=4), LogisticRegression(C=0.3, max_iter=500)
        ),
    }
    rows = []
    for name, make in systems.items():
        right, n_features, began = 0, [], time.process_time()
        for train, test in folds.split(texts, y):
            model = make().fit([texts[k] for k in train], y[train])
            right += int((model.predict([texts[k] for k in test]) == y[test]).sum())
            n_features.append(model[-1].coef_.shape[1])
        taken = time.process_time() - began
        rows.append([name, f"{np.mean(n_features):,.0f}", f"{100 * right / len(y):.2f}", f"{taken:.0f}"])
    return rows


def main() -> None:
    report = Report()
    report.say("# Selecting features: speed\n")
    report.say("Made by `python -m benchmarks.selection`, a part of `make bench`.")
    report.say(f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores, {cpu_name()}.")
    report.aim(
        "Count at 30 ns an occurrence, filter at 40, and choose in 5,000 lists a second at order 2, 1,000 at order 3.",
        "Processor time on one thread.",
        "Counting with a filter, selected products with listed ones, n-grams with words and bigrams.",
    )
    report.table(
        f"Counting {N_OCCURRENCES / 1e6:.0f} million occurrences",
        ["method", "ns an occurrence", "memory, MB", "spilled, MB"],
        counting_rows(),
        f"Drawn keys in {N_EXAMPLES:,} examples, half of them rare; the least of {RUNS} runs.",
    )
    report.table(
        "What passes the filter",
        ["counters for each different key", "per cent of keys in at most 3", "per cent of the others"],
        false_positive_rows(),
        "Keys that pass by mistake are counted exactly afterwards, so that results never change.",
    )
    if available():
        learned, new = lists()
        report.table(
            "Lists of ten dependency trees",
            [
                "order",
                "occurrences of a pass",
                "seconds of a pass",
                "survivors",
                "features of the reranker",
                "lists a second",
            ],
            reranking_rows(learned, new),
            f"English Web Treebank; {len(learned):,} lists to learn from, {len(new):,} to choose in, of a parser that "
            "learned from other sentences. Table 1's joined forms, C = 3, one pass. Lists a second: choosing among "
            "trees in memory, extraction included.",
        )
    if available():
        texts, labels, _ = reviews()
        report.table(
            "Products of two words in reviews",
            ["words", "products", "method", "features", "seconds", "accuracy"],
            polynomial_rows(texts, labels),
            "6,000 reviews of products, their first 100 words, to learn from, 2,000 to test; a linear machine on what "
            "is selected (C = 10), and one with an L1 penalty on all products.",
        )
        report.table(
            "Reviews by n-grams",
            ["features", "how many", "accuracy", "seconds of five folds"],
            text_rows(texts, labels),
            f"{len(texts):,} reviews, five folds, the first 100 words of each.",
        )
    write_page(report, PAGE)


if __name__ == "__main__":
    main()
