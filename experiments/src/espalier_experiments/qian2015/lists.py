"""The candidates of four treebanks: tags of a tagger, ten-fold lists of the k best trees, kept in a folder."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from espalier.jobs import Processes
from espalier.parsing import (
    Attachment,
    DependencyParser,
    PerceptronTagger,
    evaluate_attachment,
    jackknifed_taggings,
    oracle,
    paired_bootstrap,
)
from espalier.rerank import jackknifed, propose
from espalier.structures import (
    DependencyTree,
    Group,
    ReadLimits,
    read_conllu,
    read_conllu_documents,
    read_groups,
    write_groups,
)
from espalier_experiments.collins2001.corpora import newspaper_trees
from espalier_experiments.papers import Setup
from espalier_experiments.records import Record, short

KEPT = Path("build") / "qian2015"  # lists take minutes, so they are kept between experiments
FOLDS, K, ORDER = 10, 10, 2
# The parser here, and two like the paper's.
PARSERS: dict[str, dict[str, Any]] = {
    "softmax": {"order": ORDER},
    "1-best MIRA": {"order": 3, "learning": "mira"},
    "10-best MIRA": {"order": 3, "learning": "mira", "rivals": 10},
}
# Files, columns of tags, encoding.
TREEBANKS = {
    "ewt": ("ewt_ud/en_ewt-ud-{}.conllu.gz", "joint", "utf-8"),
    "atis": ("atis_ud/en_atis-ud-{}.conllu.gz", "upos", "utf-8"),
    "spanish": ("conll2007/esp.{}.gz", "joint", "utf-8"),
    "basque": ("conll2007/eus.{}.gz", "joint", "latin-1"),
}
NAMES = {
    "ewt": "English Web Treebank",
    "atis": "ATIS",
    "spanish": "Spanish",
    "basque": "Basque",
    "wsj": "Wall Street Journal, the sample of NLTK",
}
HAVE_DEVELOPMENT = ("ewt", "atis")


@dataclass(frozen=True)
class Lists:
    """The groups of a treebank. Gold trees have the tags of the tagger; training groups have the gold tree in them."""

    train: list[Group]
    development: list[Group]
    test: list[Group]


def treebank_parts(setup: Setup, treebank: str) -> tuple[dict[str, list[DependencyTree]], list[int] | None]:
    """The trees of each part, and the document of each training tree where the file marks documents."""
    if treebank == "wsj":
        trees = [tree.to_dependencies() for tree in newspaper_trees(setup.data)]
        n = len(trees) // 10  # the last articles
        return _with_development({"train": trees[:-n], "test": trees[-n:]}, setup.seed), None
    path, tags, encoding = TREEBANKS[treebank]
    if treebank == "ewt":
        found = {
            name: read_conllu_documents(setup.data / path.format(file), tags="joint")
            for name, file in (("train", "train"), ("development", "dev"), ("test", "test"))
        }
        documents = [number for number, document in enumerate(found["train"]) for _ in document]
        return {name: [tree for own in part for tree in own] for name, part in found.items()}, documents
    files = {"train": "train", "test": "test"} | ({"development": "dev"} if treebank in HAVE_DEVELOPMENT else {})
    parts = {
        name: list(read_conllu(setup.data / path.format(file), tags=tags, encoding=encoding))  # type: ignore[arg-type]
        for name, file in files.items()
    }
    return _with_development(parts, setup.seed), None


def _with_development(parts: dict[str, list[DependencyTree]], seed: int) -> dict[str, list[DependencyTree]]:
    """The parts of a treebank; if none is for development, a tenth of the training part serves."""
    if "development" in parts:
        return parts
    whole = parts["train"]
    order = np.random.default_rng(seed).permutation(len(whole)).tolist()
    n = len(order) // 10
    return {
        "train": [whole[row] for row in sorted(order[n:])],
        "development": [whole[row] for row in sorted(order[:n])],
        "test": parts["test"],
    }


@lru_cache(maxsize=1)
def lists_of(
    setup: Setup, treebank: str, k: int = K, taggings: int = 1, parser: str = "softmax"
) -> tuple[Lists, Record]:
    """The candidates of a treebank, made once and read again later; and what making them took.

    With several taggings of each sentence, candidates are the best trees of all of them, and no gold tree is added.
    ``parser`` is one of ``PARSERS``.
    """
    parts, documents = treebank_parts(setup, treebank)
    if setup.quick:
        parts = {name: part[:n] for (name, part), n in zip(parts.items(), (60, 20, 20), strict=True)}
        documents = None
    several = f"-taggings{taggings}" if taggings > 1 else ""
    by = f"-{parser}" if parser != "softmax" else ""
    folder = KEPT / f"{treebank}-{k}{several}{by}{'-quick' if setup.quick else ''}-seed{setup.seed}"
    if not (folder / "test.jsonl").exists():
        _make(parts, documents, folder, k, taggings, PARSERS[parser], setup)
    groups = {
        name: read_groups(folder / f"{name}.jsonl", limits=ReadLimits(None, None, None))
        for name in ("train", "development", "test")
    }
    seconds = float((folder / "seconds.txt").read_text())
    known = {"sentences": [len(groups[name]) for name in groups], "list_seconds": short(seconds)}
    return Lists(**groups), known


def _make(
    parts: dict[str, list[DependencyTree]],
    documents: Sequence[int] | None,
    folder: Path,
    k: int,
    n_taggings: int,
    model: dict[str, Any],
    setup: Setup,
) -> None:
    options: dict[str, Any] = {"folds": 2 if setup.quick else FOLDS, "documents": documents}
    model = model | ({"bits": 16, "epochs": 2} if setup.quick else {})
    train = parts["train"]
    tagger = PerceptronTagger.from_sentences(train)
    with Processes(2) as executor:
        taggings = jackknifed_taggings(train, n_taggings, executor=executor, **options)
        tagged = [replace(tree, tags=own[0][0].tags) for tree, own in zip(train, taggings, strict=True)]
        began = time.monotonic()
        groups = jackknifed(
            tagged,
            k,
            taggings=taggings if n_taggings > 1 else None,
            make=DependencyParser.from_treebank,
            executor=executor,
            folder=folder / "parts",
            n_threads=1,
            add_gold=n_taggings == 1,
            **options,
            **model,
        )
    seconds = time.monotonic() - began
    write_groups(groups, folder / "train.jsonl")
    parser = DependencyParser.from_treebank(tagged, **model)
    for name in ("development", "test"):
        found = tagger.tag_all([list(tree.words) for tree in parts[name]], n_taggings)
        given = [replace(tree, tags=own[0].sequence.tags) for tree, own in zip(parts[name], found, strict=True)]
        write_groups(propose(parser, given, k, taggings=found if n_taggings > 1 else None), folder / f"{name}.jsonl")
    (folder / "seconds.txt").write_text(f"{seconds:.1f}\n")


def attachment(groups: Sequence[Group], trees: Sequence[Any]) -> Attachment:
    """Trees measured against the gold trees of groups."""
    return evaluate_attachment([group.gold for group in groups], trees)


def baselines(groups: Sequence[Group]) -> Record:
    """The parser's first tree and the best of each list."""
    _, best = oracle([group.gold for group in groups], [group.candidates for group in groups])
    return {"parser": measured(groups, first_trees(groups)), "oracle": short(best.uas)}


def first_trees(groups: Sequence[Group]) -> list[Any]:
    """The tree that the parser prefers, of each group."""
    return [group.candidates[group.best] for group in groups]


def measured(groups: Sequence[Group], trees: Sequence[Any]) -> Record:
    """UAS with and without punctuation, and LAS."""
    gold = [group.gold for group in groups]
    whole, plain = (evaluate_attachment(gold, trees, punctuation=own) for own in (True, False))
    return {"uas": short(whole.uas), "plain": short(plain.uas), "las": short(whole.las)}


def compared(groups: Sequence[Group], trees: Sequence[Any], before: Sequence[Any] | None = None) -> Record:
    """Trees against others, the parser's first: the difference in UAS, its interval and p-value, errors removed."""
    base = attachment(groups, first_trees(groups) if before is None else before)
    own = attachment(groups, trees)
    found = paired_bootstrap(own, base)
    removed = 100 * (own.uas - base.uas) / (100 - base.uas) if base.uas < 100 else 0.0
    return {
        **measured(groups, trees),
        "difference": short(own.uas - base.uas),
        "low": short(found.interval[0]),
        "high": short(found.interval[1]),
        "p": short(found.p_value),
        "removed": short(removed),
    }
