"""The data sets of the experiments, read from a folder that is not part of the project.

``ESPALIER_DATA`` names the folder, or an argument does. Rows out equal rows in, texts stay as they are, and nothing
depends on a file's order: where a choice is drawn, what it is drawn from is sorted first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Forest
from espalier.errors import InputError
from espalier.structures import Table, TaggedSequence, Tree, read_brackets, read_klp, read_text

Pair = Literal["fr-en", "en-es"]
Part = Literal["train", "test"]

VARIABLE = "ESPALIER_DATA"
EMOTIONS = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
PAIRS: tuple[Pair, ...] = ("fr-en", "en-es")
N_PAIRS = {"fr-en": 2497, "en-es": 858}
N_FEATURES = 17
LENGTH = 1  # the feature "number of words of the translation", counted from 0


def data_folder(folder: str | Path | None = None) -> Path:
    """The folder of the data sets: the argument, or what ``ESPALIER_DATA`` says."""
    chosen = os.environ.get(VARIABLE) if folder is None else folder
    if not chosen:
        raise InputError(
            f"The experiments read data that is not part of the project. Set {VARIABLE} to the folder that holds it, "
            "or pass it: data='...' in Python, --data in the command."
        )
    path = Path(chosen)
    if not path.is_dir():
        raise InputError(f"There is no folder of data at {path}. Set {VARIABLE}, or pass the folder that holds it.")
    return path


def affective(folder: str | Path | None = None, part: Literal["trial", "test"] = "test") -> Table:
    """The headlines of SemEval-2007 Affective Text, each with a parse and six emotions from 0 to 100.

    The test part has 1,000, the trial part 250.

    Returns
    -------
    table
        Columns ``id``, ``headline``, ``tree`` (a Forest) and ``emotions`` (one column per name in ``EMOTIONS``).
    """
    path = data_folder(folder) / "affective" / f"{part}.tsv"
    ids, headlines, trees, scores = [], [], [], []
    for number, line in _lines(path, header="id\t" + "\t".join(EMOTIONS)):
        fields = line.split("\t")
        if len(fields) < 10:
            raise InputError(f"{path}, line {number}: expected 10 fields separated by tabs, got {len(fields)}.")
        ids.append(int(fields[0]))
        scores.append([float(value) for value in fields[1:7]])
        headlines.append("\t".join(fields[8:-1]))  # a headline may itself hold a tab
        trees.append(fields[-1])
    if len(set(ids)) != len(ids):
        raise InputError(f"{path}: two headlines have the same id.")
    table = Table(id=np.array(ids), headline=headlines, tree=Forest.from_brackets(trees))
    return table.with_column("emotions", np.array(scores), feature_names=EMOTIONS)


def emotion_folds(table: Table, n_folds: int = 5, *, seed: int = 0) -> NDArray[np.int64]:
    """The test fold of each headline: headlines that repeat, but for case and punctuation, stand in one fold."""
    groups: dict[str, list[int]] = {}
    for row in np.argsort(table["id"], kind="stable").tolist():
        groups.setdefault(plain_text(table["headline"][row]), []).append(row)
    listed = list(groups.values())
    folds = np.empty(len(table), np.int64)
    sizes = np.zeros(n_folds, np.int64)
    order = np.random.default_rng(seed).permutation(len(listed))
    # Large groups first, so that the folds can be evened out with single headlines.
    for group in sorted((listed[k] for k in order), key=len, reverse=True):
        fold = int(np.argmin(sizes))
        folds[group] = fold
        sizes[fold] += len(group)
    return folds


def plain_text(text: str) -> str:
    """The words of a text without case, punctuation and spacing: what makes two headlines the same.

    Examples
    --------
    >>> plain_text("Goal!  Delight for Sheva")
    'goal delight for sheva'
    """
    return " ".join(re.findall(r"\w+", text.casefold()))


def quality(folder: str | Path | None = None, pair: Pair = "fr-en") -> Table:
    """Machine translations, and the seconds per word that it took to correct them.

    Returns
    -------
    table
        Columns ``source`` and ``target`` (Forests over one vocabulary each, without the outer ``ROOT``), ``features``
        (17 numbers), ``length`` (of the translation), ``response`` (time divided by it) and ``fold`` (its test fold).
    """
    if pair not in N_PAIRS:
        raise InputError(f"There is no language pair {pair!r}; there are {', '.join(PAIRS)}.")
    place = data_folder(folder) / "qe" / pair
    forests = [_forest(place / f"{side}.trees.gz") for side in ("source", "target")]
    features = np.array([line.split() for _, line in _lines(place / "feats.17")], dtype=np.float64)
    time = np.array([line for _, line in _lines(place / "time")], dtype=np.float64)
    found = {"source": len(forests[0]), "target": len(forests[1]), "features": len(features), "time": len(time)}
    for name, n_rows in found.items():
        if n_rows != N_PAIRS[pair]:
            raise InputError(f"{place}: {name} has {n_rows:,} rows, expected {N_PAIRS[pair]:,}.")
    if features.shape[1] != N_FEATURES:
        raise InputError(f"{place / 'feats.17'} has {features.shape[1]} columns, expected {N_FEATURES}.")
    if features[:, LENGTH].min() <= 0:
        raise InputError(f"{place / 'feats.17'}: a translation has no words, so it has no time per word.")
    return Table(
        source=forests[0],
        target=forests[1],
        features=features,
        response=time / features[:, LENGTH],
        length=features[:, LENGTH],
        fold=_given_folds(place / "folds.tsv", N_PAIRS[pair]),
    )


def _given_folds(path: Path, n_rows: int) -> NDArray[np.int64]:
    folds = np.full(n_rows, -1, np.int64)
    for number, line in _lines(path, header="row\ttest_fold"):
        row, fold = (int(field) for field in line.split("\t"))
        if not 0 <= row < n_rows or folds[row] >= 0:
            raise InputError(f"{path}, line {number}: row {row} is given twice, or is none of the {n_rows:,} rows.")
        folds[row] = fold
    if folds.min() < 0 or set(folds.tolist()) != set(range(10)):
        raise InputError(f"{path}: every row must have a test fold from 0 to 9.")
    return folds


def _forest(path: Path) -> Forest:
    return Forest.from_trees(tree.without_outer() for tree in read_brackets(path))


def treebank_trees(folder: str | Path | None = None, n: int = 1000, *, seed: int = 0) -> Forest:
    """Draw ``n`` different trees of the Wall Street Journal, as the synthetic experiments need them.

    The trees are those of the sample that NLTK distributes, without the empty outer label, traces, function tags
    and indices: bare Penn Treebank constituents, which a parser would give too.
    """
    path = data_folder(folder) / "wsj" / "sample.mrg.gz"
    bare = {tree.to_brackets() for tree in map(_bare, read_brackets(path)) if tree is not None}
    if len(bare) < n:
        raise InputError(f"{path} holds {len(bare):,} different trees, too few to draw {n:,}.")
    listed = sorted(bare)  # so that the file's order does not matter
    rows = np.random.default_rng(seed).choice(len(listed), size=n, replace=False)
    return Forest.from_brackets(listed[row] for row in rows.tolist())


def _bare(tree: Tree) -> Tree | None:
    kept = tree.without_outer().without_traces()
    return None if kept is None else kept.without_function_tags()


def inner_labels(*forests: Forest) -> tuple[str, ...]:
    """The labels that have children somewhere in these forests, sorted: those that can have a decay of their own."""
    found: set[str] = set()
    for forest in forests:
        arrays = forest.arrays
        inner = np.diff(arrays["child_start"]) > 0
        found |= {forest.vocabulary[number] for number in np.unique(arrays["label"][inner]).tolist()}
    return tuple(sorted(found))


def _lines(path: Path, *, header: str | None = None) -> Sequence[tuple[int, str]]:
    """The lines of a file with their numbers from 1, without a header that is checked."""
    if not path.is_file():
        raise InputError(f"There is no {path}; the folder of data is not complete.")
    lines = [(number, line) for number, line in enumerate(read_text(path).split("\n"), start=1) if line.strip()]
    if header is None:
        return lines
    if not lines or not lines[0][1].startswith(header):
        raise InputError(f"{path} must start with the line {header!r}.")
    return lines[1:]


def questions(folder: str | Path | None = None, part: Part = "train") -> Table:
    """The questions of TREC with automatic parses.

    Returns
    -------
    table
        Columns ``coarse`` (one of six labels), ``fine`` (one of fifty), ``question`` and ``tree`` (a Forest).
    """
    name = {"train": "constituency_train.tsv.gz", "test": "constituency_test.tsv"}[part]
    path = data_folder(folder) / "trec" / name
    fine, texts, trees = [], [], []
    for number, line in _lines(path):
        fields = line.split("\t")
        if len(fields) != 3:
            raise InputError(f"{path}, line {number}: expected 3 fields separated by tabs, got {len(fields)}.")
        fine.append(fields[0])
        texts.append(fields[1])
        trees.append(fields[2])
    coarse = [label.split(":")[0] for label in fine]
    return Table(coarse=coarse, fine=fine, question=texts, tree=Forest.from_brackets(trees))


def question_dependencies(folder: str | Path | None = None, part: Part = "train") -> Table:
    """The same questions with dependency trees written as trees: columns ``coarse`` and ``grct`` (a Forest)."""
    table = read_klp(data_folder(folder) / "trec" / f"dependency_{part}.klp.gz")
    return Table(coarse=list(table["label"]), grct=Forest.from_trees(table["grct"]))


def question_views(folder: str | Path | None = None) -> Table:
    """The questions of TREC in every form that a kernel may read, training questions before test questions.

    Returns
    -------
    table
        Columns ``part`` (``"train"`` or ``"test"``), ``coarse`` and ``fine`` (labels), ``text`` and ``words``
        (lower-case), ``tagged`` (words with the tags of the parse), and Forests: ``tree`` (constituents), and the
        dependencies as ``grct``, ``lct`` and ``loct``.
    """
    parts: tuple[Part, ...] = ("train", "test")
    constituents = [questions(folder, part) for part in parts]
    dependencies = [_dependencies_of(folder, part, table) for part, table in zip(parts, constituents, strict=True)]
    trees = [tree for table in constituents for tree in table["tree"]]
    tagged = [_tagged(tree) for tree in trees]
    columns = {name: [value for table in constituents for value in table[name]] for name in ("coarse", "fine")}
    forests = {
        name: Forest.from_trees(tree for table in dependencies for tree in table[name])
        for name in ("grct", "lct", "loct")
    }
    return Table(
        part=[part for part, table in zip(parts, constituents, strict=True) for _ in range(len(table))],
        **columns,
        text=[text.lower() for table in constituents for text in table["question"]],
        words=[list(sentence.words) for sentence in tagged],
        tagged=tagged,
        tree=Forest.from_trees(trees),
        **forests,
    )


def _dependencies_of(folder: str | Path | None, part: Part, table: Table) -> Table:
    """The dependencies of some questions, which must stand in the same order in their file."""
    path = data_folder(folder) / "trec" / f"dependency_{part}.klp.gz"
    dependencies = read_klp(path)
    if len(dependencies) != len(table):
        raise InputError(f"{path} has {len(dependencies):,} questions, and the constituents {len(table):,}.")
    for row, (own, other) in enumerate(zip(table["question"], dependencies["quest"], strict=True)):
        if _letters(own) != _letters(other) or table["coarse"][row] != dependencies["label"][row]:
            raise InputError(f"{path}, line {row + 1}: expected the question {own!r}, got {other!r}.")
    return dependencies


def _letters(text: str) -> str:
    """What the two files of questions agree on: one spells a question with a letter where the other has a space."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _tagged(tree: Tree) -> TaggedSequence:
    """The words of a parse in lower case, each with its tag."""
    nodes = [node for node in tree if node.is_preterminal]
    return TaggedSequence([node.children[0].label.lower() for node in nodes], [node.label for node in nodes])


def reviews(folder: str | Path | None = None, n_tokens: int = 100) -> Table:
    """The reviews of four kinds of products by Blitzer et al. (2007), 1,000 good ones and 1,000 bad ones of each.

    Rows are sorted, so that nothing depends on the order of the file.

    Returns
    -------
    table
        Columns ``domain``, ``polarity``, ``words`` (the first tokens of the text, in lower case) and ``group``: equal
        for reviews with the same text, but for case and punctuation.
    """
    path = data_folder(folder) / "sentiment" / "reviews.tsv.gz"
    rows = []
    for number, line in _lines(path, header="domain\tpolarity\trating\ttitle\ttext"):
        fields = line.split("\t")
        if len(fields) != 5:
            raise InputError(f"{path}, line {number}: expected 5 fields separated by tabs, got {len(fields)}.")
        rows.append((fields[0], fields[4], fields[1], fields[3]))
    rows.sort()
    texts = [plain_text(text) for _, text, _, _ in rows]
    numbers = {text: number for number, text in enumerate(sorted(set(texts)))}
    return Table(
        domain=[row[0] for row in rows],
        polarity=[row[2] for row in rows],
        words=[re.findall(r"\w+|[^\w\s]+", row[1].lower())[:n_tokens] for row in rows],
        group=np.array([numbers[text] for text in texts]),
    )


def graded_sentences(folder: str | Path | None = None, part: Literal["train", "dev", "test"] = "train") -> Table:
    """Sentences of the Stanford Sentiment Treebank with the grade at the root, from 0 to 4, and binary trees.

    The grades of all nodes are taken out of the trees: every label becomes ``X``. Words are in lower case.

    Returns
    -------
    table
        Columns ``grade``, ``words`` and ``tree`` (a Forest).
    """
    trees = read_brackets(data_folder(folder) / "sst" / f"{part}.txt.gz")
    plain = [tree.fold(lambda node, below: Tree("X", below) if below else Tree(node.label.lower())) for tree in trees]
    return Table(
        grade=np.array([int(tree.label) for tree in trees]),
        words=[list(tree.words()) for tree in plain],
        tree=Forest.from_trees(plain),
    )
