"""Quality and speed of the perceptron tagger and the dependency parser on real treebanks: ``make bench``.

The pages are ``dependencies.md`` and ``dependency_speed.md`` in ``docs/results``. ``--only speed`` and ``--only
quality`` make one of them; speed wants a quiet machine. Times are of the processor, not of the clock, but for two
threads. Test parts are read only for the tables that name them; settings were chosen on development parts.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import DATA, ROOT, available
from benchmarks.parsing import seconds
from benchmarks.report import Report, cpu_name, write_page
from benchmarks.timing import best
from espalier.jobs import Processes
from espalier.parsing import (
    DependencyParser,
    PerceptronTagger,
    Tagger,
    evaluate_attachment,
    jackknifed_tags,
    oracle,
    tag_accuracy,
)
from espalier.structures import DependencyTree, read_conllu, read_conllu_documents

QUALITY_PAGE = ROOT / "docs" / "results" / "dependencies.md"
SPEED_PAGE = ROOT / "docs" / "results" / "dependency_speed.md"
FOLDS = 10
RUNS = 3  # of which the quickest counts
OTHERS = {
    "ATIS": ("atis_ud/en_atis-ud-{}.conllu.gz", "upos", "utf-8"),
    "Spanish": ("conll2007/esp.{}.gz", "joint", "utf-8"),
    "Basque": ("conll2007/eus.{}.gz", "joint", "latin-1"),
}


def ewt(part: str) -> tuple[list[DependencyTree], list[int]]:
    """The trees of a part of the English Web Treebank, and the number of the document of each."""
    documents = read_conllu_documents(DATA / "ewt_ud" / f"en_ewt-ud-{part}.conllu.gz", tags="joint")
    trees = [tree for document in documents for tree in document]
    return trees, [n for n, document in enumerate(documents) for _ in document]


def words_of(trees: Sequence[DependencyTree]) -> list[list[str]]:
    return [list(tree.words) for tree in trees]


def retagged(tagger: PerceptronTagger, trees: Sequence[DependencyTree]) -> list[DependencyTree]:
    """The trees with tags of a tagger."""
    found = tagger.tag_all(words_of(trees))
    return [replace(tree, tags=own[0].sequence.tags) for tree, own in zip(trees, found, strict=True)]


def part_of_tags(trees: Sequence[Any], part: int) -> list[Any]:
    """The trees with one part of their joint tags."""
    return [replace(tree, tags=[tag.split("|")[part] for tag in tree.tags]) for tree in trees]


def tag_rows(train: list[DependencyTree], test: list[DependencyTree]) -> list[list[str]]:
    known = {word for tree in train for word in tree.words}
    rows = []
    for name, make in (("`Tagger`", Tagger), ("`PerceptronTagger`", PerceptronTagger)):
        taken, tagger = seconds(lambda: make.from_sentences(train))
        time_taken, found = seconds(lambda: tagger.tag_all(words_of(test), n_threads=1), RUNS)
        tagged = [own[0].sequence for own in found]
        cells = [
            f"{tag_accuracy(part_of_tags(test, part), part_of_tags(tagged, part), among=among):.2f}"
            for part in (0, 1)
            for among in (None, lambda word: word not in known)
        ]
        rows.append([name, *cells, f"{taken:.1f}", f"{len(test) / time_taken:,.0f}"])
    return rows


def attachment_cells(gold: list[DependencyTree], parses: list[Any]) -> list[str]:
    trees = [own[0].tree for own in parses]
    whole = evaluate_attachment(gold, trees)
    return [
        f"{whole.uas:.2f}",
        f"{evaluate_attachment(gold, trees, punctuation=False).uas:.2f}",
        f"{whole.las:.2f}",
        f"{evaluate_attachment(gold, trees, subtypes=False).las:.2f}",
        f"{oracle(gold, [own.candidates for own in parses])[1].uas:.2f}",
    ]


def pruner_cells(parser: DependencyParser, gold: list[DependencyTree], given: list[DependencyTree]) -> list[str]:
    kept = [heads for own in parser.kept_heads(given) for heads in own]
    right = [head for tree in gold for head in tree.heads]
    recall = 100 * np.mean([head in heads for head, heads in zip(right, kept, strict=True)])
    return [f"{recall:.2f}", f"{np.mean([len(heads) for heads in kept]):.2f}"]


def order_rows(
    train: list[DependencyTree], sets: dict[str, tuple[list[DependencyTree], list[DependencyTree]]]
) -> tuple[list[list[str]], DependencyParser]:
    rows = []
    parsers = {}
    for order in (1, 2, 3):
        taken, parsers[order] = seconds(lambda: DependencyParser.from_treebank(train, order=order))
        for name, (gold, given) in sets.items():
            if order != 2 and "test" in name:
                continue  # the order is chosen on the development part
            found = parsers[order].parse_all(given, 10)
            rows.append([name, f"{order}", *attachment_cells(gold, found), f"{taken:.0f}"])
    return rows, parsers[2]


def speed_rows(parser: DependencyParser, given: list[DependencyTree]) -> list[list[str]]:
    rows = []
    for k in (1, 10, 50):
        taken, _ = seconds(lambda: parser.parse_all(given, k, n_threads=1), RUNS)
        one, two = best(*(lambda n=n: parser.parse_all(given, k, n_threads=n) for n in (1, 2)), runs=RUNS)
        rows.append([f"{k}", f"{len(given) / taken:,.0f}", f"{one / two:.2f}"])
    return rows


def long_rows(parser: DependencyParser, given: list[DependencyTree]) -> list[list[str]]:
    """Words of the treebank in a row, as one sentence."""
    pairs = [pair for tree in given for pair in zip(tree.words, tree.tags, strict=True)]
    rows = []
    for n in (50, 100, 300, 1000):
        taken, _ = seconds(lambda: parser.parse(pairs[:n], 10, n_threads=1), RUNS)
        rows.append([f"{n:,}", f"{1000 * taken:,.0f}"])
    return rows


def other_rows(name: str) -> list[list[str]]:
    path, tags, encoding = OTHERS[name]
    train, test = (read_conllu(DATA / path.format(part), tags=tags, encoding=encoding) for part in ("train", "test"))
    tagger = PerceptronTagger.from_sentences(train)
    with Processes(2) as executor:
        learned = jackknifed_tags(train, folds=FOLDS, executor=executor)
    given = retagged(tagger, test)
    rows = []
    for pseudo in (True, False) if name == "Basque" else (True,):
        parser = DependencyParser.from_treebank(learned, pseudo_projective=pseudo)
        found = parser.parse_all(given, 10)
        lifting = "pseudo-projective" if pseudo else "plain lifting"
        cells = attachment_cells(test, found)
        accuracy = f"{tag_accuracy(test, given):.2f}"
        rows.append(
            [name, f"{len(train):,} / {len(test):,}", accuracy, lifting, *cells, *pruner_cells(parser, test, given)]
        )
    return rows


def file_size(model: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.espalier"
        model.save(path)
        return f"{path.stat().st_size / 1e6:.1f}"


def say_maker(report: Report) -> None:
    report.say("Made by `python -m benchmarks.dependencies`, a part of `make bench`.")
    report.say(f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores, {cpu_name()}.")


def quality() -> None:
    report = Report()
    report.say("# The tagger and the dependency parser: quality\n")
    say_maker(report)
    report.aim(
        "Tags and k best dependency trees that are hard to improve.",
        "Tags and heads that are right in new documents, and the best of ten trees.",
        "The trigram tagger with the perceptron, arcs alone with larger parts, tags of a tagger with gold tags.",
    )
    train, documents = ewt("train")
    (dev, _), (test, _) = ewt("dev"), ewt("test")
    header = ["", "UPOS", "unknown words", "XPOS", "unknown words", "seconds to learn", "sentences a second"]
    report.table(
        f"Tags of the English Web Treebank, {len(test):,} test sentences",
        ["tagger", *header[1:]],
        tag_rows(train, test),
        "Words with the right tag, in per cent. Joint tags of both columns are learned. Unknown words are not in the "
        "training part. One thread.",
    )
    tagger = PerceptronTagger.from_sentences(train)
    with Processes(2) as executor:
        learned = jackknifed_tags(train, folds=FOLDS, documents=documents, executor=executor)
        flattered = jackknifed_tags(train, folds=FOLDS, executor=executor)
    rows = [
        [name, *(f"{tag_accuracy(part_of_tags(train, part), part_of_tags(found, part)):.2f}" for part in (0, 1))]
        for name, found in (("by document", learned), ("by sentence", flattered))
    ]
    report.table(
        "Jackknifed tags of the training part, ten parts",
        ["parts", "UPOS", "XPOS"],
        rows,
        "If the sentences of one document are in several parts, tags look better than those of new documents are. The "
        "parser below learns from tags jackknifed by document.",
    )
    given_dev, given_test = retagged(tagger, dev), retagged(tagger, test)
    order, parser = order_rows(learned, {"development": (dev, given_dev), "test": (test, given_test)})
    columns = ["UAS", "UAS without punctuation", "LAS", "LAS, universal relations", "oracle UAS of ten"]
    report.table(
        "Trees of the English Web Treebank, tags of the tagger",
        ["part", "order", *columns, "seconds to learn"],
        order,
        "Per cent of all tokens but where punctuation is left out. The order was chosen on the development part.",
    )
    gold = DependencyParser.from_treebank(train)
    report.table(
        "Gold tags, order 2",
        ["part", *columns],
        [["test", *attachment_cells(test, gold.parse_all(test, 10))]],
    )
    report.table(
        "The pruner",
        ["part", "gold heads kept, per cent", "heads kept for a word"],
        [["development", *pruner_cells(parser, dev, given_dev)], ["test", *pruner_cells(parser, test, given_test)]],
    )
    report.table(
        "Other treebanks, order 2",
        ["treebank", "sentences", "tags", "crossing arcs", *columns, "gold heads kept", "heads kept for a word"],
        [row for name in OTHERS for row in other_rows(name)],
        "Test parts, tags of the tagger, learned from tags jackknifed by sentence (these files mark no documents). In "
        "the Spanish file most relations are blank. Tags: words with the right tag, in per cent.",
    )
    write_page(report, QUALITY_PAGE)


def speed() -> None:
    report = Report()
    report.say("# The tagger and the dependency parser: speed and size\n")
    say_maker(report)
    report.aim(
        "Two thousand sentences a second for the best tree, and 1,200 for the ten best.",
        "Sentences a second with trees built and labelled, long sentences, and files.",
        "One tree with many, one thread with two.",
    )
    (train, _), (dev, _) = ewt("train"), ewt("dev")
    tagger, parser = PerceptronTagger.from_sentences(train), DependencyParser.from_treebank(train)
    given = retagged(tagger, dev)
    report.table(
        "Sentences a second",
        ["trees of each", "one thread", "two threads, times as fast"],
        speed_rows(parser, given),
        f"The {len(dev):,} development sentences of the English Web Treebank, of "
        f"{np.mean([len(tree) for tree in dev]):.1f} words on average, with tags of the tagger; the parser learned "
        f"from gold tags. The least of {RUNS} runs.",
    )
    report.table("One long sentence, ten trees, milliseconds", ["words", "milliseconds"], long_rows(parser, given))
    report.table(
        "Saved models, megabytes",
        ["model", "megabytes"],
        [["tagger", file_size(tagger)], ["parser", file_size(parser)]],
    )
    write_page(report, SPEED_PAGE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("quality", "speed"))
    only = parser.parse_args().only
    if not available():
        sys.exit("The benchmarks read real corpora: set ESPALIER_DATA to the folder that holds them.")
    if only != "speed":
        quality()
    if only != "quality":
        speed()


if __name__ == "__main__":
    main()
