"""What is parsed and tagged: short questions with gold trees, two treebanks, and sentences with tags."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from espalier.errors import InputError
from espalier.parsing import is_tagged, plain
from espalier.structures import TaggedSequence, Tree, read_brackets, read_conllu
from espalier_experiments.data import data_folder

Part = Literal["train", "dev", "test"]
PARTS: tuple[Part, ...] = ("train", "dev", "test")

N_QUESTIONS = 4000


@cache
def question_trees(folder: Path) -> tuple[list[Tree], int]:
    """The trees of QuestionBank, and how many lines were left out.

    Left out are trees in which a node has no label or a word no tag: no grammar can be read off them.
    """
    path = data_folder(folder) / "questionbank" / "trees.txt"
    if not path.is_file():
        raise InputError(f"There is no {path}; the folder of data is not complete.")
    listed = read_brackets(path)
    if len(listed) != N_QUESTIONS:
        raise InputError(f"{path} has {len(listed):,} trees, expected {N_QUESTIONS:,}.")
    kept = [tree for tree in map(plain, listed) if tree is not None and is_tagged(tree)]
    return kept, len(listed) - len(kept)


def shuffled(trees: list[Tree], seed: int, sizes: Iterable[int | None]) -> list[list[Tree]]:
    """Parts drawn at random; None takes the rest."""
    order = np.random.default_rng(seed).permutation(len(trees)).tolist()
    parts, first = [], 0
    for size in sizes:
        last = len(order) if size is None else first + size
        if last > len(order):
            raise InputError(f"There are {len(order):,} trees, too few for {last:,}.")
        parts.append([trees[row] for row in order[first:last]])
        first = last
    return parts


@cache
def newspaper_trees(folder: Path) -> list[Tree]:
    """The trees of the Wall Street Journal that NLTK distributes, in their order."""
    return _bare(data_folder(folder) / "wsj" / "sample.mrg.gz")


@cache
def web_trees(folder: Path, part: Part) -> list[Tree]:
    """The trees of one part of the English Web Treebank, in their order."""
    return _bare(data_folder(folder) / "ewt_srl" / f"{part}.mrg.gz")


def _bare(path: Path) -> list[Tree]:
    return [tree for tree in map(plain, read_brackets(path)) if tree is not None and is_tagged(tree)]


def up_to(trees: Iterable[Tree], n_words: int) -> list[Tree]:
    """Those of at most so many words."""
    return [tree for tree in trees if len(tree.words()) <= n_words]


def tagged_sentences(folder: Path, treebank: str, part: Part, tags: Literal["upos", "xpos"]) -> list[TaggedSequence]:
    """The sentences of one part of a treebank of Universal Dependencies, with their tags."""
    name = {"atis_ud": "en_atis", "ewt_ud": "en_ewt"}[treebank]
    path = data_folder(folder) / treebank / f"{name}-ud-{part}.conllu.gz"
    return [TaggedSequence(tree.words, tree.tags) for tree in read_conllu(path, tags=tags)]
