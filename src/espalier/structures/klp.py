"""KeLP's format: one example per line, with labels, texts, vectors and trees.

A line is ``label label |BS:name| text |ES| |BV:name| feature:1.0 ... |EV| |BDV:name| 1.0 2.0 |EDV|
|BT:name| (LABEL(child)(child)) |ET|``, with any number of each. Only ASCII white space separates tokens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from espalier.errors import InputError, TreeSyntaxError, warn_user
from espalier.structures import notation
from espalier.structures.files import Readable, read_text, source_name
from espalier.structures.limits import DEFAULT_LIMITS, ReadLimits
from espalier.structures.numbers import finite_in_text
from espalier.structures.table import Table, _restore
from espalier.structures.tree import Tree, trees_from_arrays

_OPENING = re.compile(r"\|B([A-Z]+):([^|]+)\|")
_TREE_LABEL = re.compile(r"[^()]+")
_TEXT_BETWEEN_NODES = re.compile(r"\)[ \t\r\v\f]*[^() \t\r\v\f]")


def read_klp(
    path: Readable,
    *,
    feature_names: Mapping[str, Sequence[str]] | None = None,
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Table:
    """Read a file in KeLP's format into a table with one column per name.

    An InputError names the line that is not in the format; a TreeSyntaxError shows brackets that do not match.

    Parameters
    ----------
    path, encoding, limits
        As for :func:`read_brackets`.
    feature_names
        For columns of sparse vectors, the features and their order: pass the ``feature_names`` of
        the training table to give test vectors the same columns. Other features are left out, with
        one warning that counts them. By default all features of the file, sorted.

    Returns
    -------
    table
        ``label`` holds the label of each line, or a tuple of labels on every line if some line has
        not exactly one. Texts become ``str``; sparse vectors a scipy CSR array, whose features are
        ``table.feature_names[name]``; dense vectors a matrix; trees become ``Tree``. A text or tree
        that a line does not have is None; a vector that is missing is an error.

    Examples
    --------
    >>> import io
    >>> line = "HUM |BS:q| Who ? |ES| |BV:bow| who:1 ?:2 |EV| |BT:t| (A(B)) |ET|"
    >>> table = read_klp(io.StringIO(line))
    >>> table
    Table of 1 rows: label (str), q (str), bow (2 sparse), t (Tree)
    >>> table.feature_names["bow"], table["t"][0]
    (('?', 'who'), Tree.from_brackets('(A B)'))
    """
    name = source_name(path)
    lines = read_text(path, encoding=encoding, limits=limits).removesuffix("\n").split("\n")
    if lines == [""]:
        return Table(label=[])
    labels, kinds, parts = _split_lines(lines, name)
    all_single = all(len(names) == 1 for names in labels)
    columns: dict[str, object] = {"label": [names[0] for names in labels] if all_single else labels}
    features: dict[str, tuple[str, ...]] = {}
    for column, kind in kinds.items():
        found = parts[column]
        if kind in ("V", "DV") and len(found) < len(lines):
            missing = next(n for n in range(1, len(lines) + 1) if n not in found)
            raise InputError(f"{name}, line {missing}: the vector {column!r} is missing.")
        if kind == "V":
            wanted = None if feature_names is None else feature_names.get(column)
            columns[column], features[column] = _sparse(found, wanted, f"{name}, vector {column!r}")
        elif kind == "DV":
            columns[column] = _dense(found, name, column)
        else:
            values = _trees(found, name) if kind == "T" else found
            columns[column] = [values.get(line) for line in range(1, len(lines) + 1)]
    table = Table(columns)
    return _restore(dict(table._columns), len(table), features)


def _split_lines(
    lines: list[str], name: str
) -> tuple[list[tuple[str, ...]], dict[str, str], dict[str, dict[int, str]]]:
    """The labels of each line, the kind of each column, and its texts by line number."""
    labels: list[tuple[str, ...]] = []
    kinds: dict[str, str] = {}
    parts: dict[str, dict[int, str]] = {}
    for number, line in enumerate(lines, 1):
        place = f"{name}, line {number}"
        names, found = _split_line(line, place)
        labels.append(names)
        for kind, column, text in found:
            if column == "label":
                raise InputError(f"{place}: the name 'label' is taken by the labels; rename it.")
            if kinds.setdefault(column, kind) != kind:
                raise InputError(f"{place}: {column!r} is of kind {kind} here and {kinds[column]} before.")
            if number in parts.setdefault(column, {}):
                raise InputError(f"{place}: {column!r} occurs twice.")
            parts[column][number] = text
    return labels, kinds, parts


def _split_line(line: str, place: str) -> tuple[tuple[str, ...], list[tuple[str, str, str]]]:
    """The labels of a line, and the kind, name and text of each of its parts."""
    opening = _OPENING.search(line)
    labels = tuple(notation.split_words(line[: opening.start() if opening else len(line)]))
    if opening is None:
        raise InputError(f"{place}: this line has no part such as |BT:name| ... |ET|.")
    if any("|" in label for label in labels):
        raise InputError(f"{place}: {' '.join(labels)!r} is not a label. Pairs of examples are not supported.")
    found: list[tuple[str, str, str]] = []
    at = opening.start()
    while at < len(line):
        opening = _OPENING.match(line, at)
        if opening is None:
            raise InputError(f"{place}, column {at + 1}: {line[at : at + 30]!r} is outside all parts.")
        kind, column = opening[1], opening[2]
        if kind not in ("S", "V", "DV", "T"):
            raise InputError(
                f"{place}, column {at + 1}: parts of kind {kind!r} are not supported; texts (S), "
                "sparse (V) and dense (DV) vectors and trees (T) are."
            )
        stop = line.find(f"|E{kind}|", opening.end())
        if stop < 0:
            raise InputError(f"{place}, column {at + 1}: {opening[0]} is not closed by |E{kind}|.")
        found.append((kind, column, line[opening.end() : stop].strip(notation.BLANKS)))
        at = stop + len(kind) + 3
        while at < len(line) and line[at] in notation.BLANKS:
            at += 1
    return labels, found


def _sparse(parts: dict[int, str], wanted: Sequence[str] | None, place: str) -> tuple[object, tuple[str, ...]]:
    """A CSR array with a row per line, and the names of its columns."""
    from scipy.sparse import csr_array

    rows: list[dict[str, float]] = []
    for line, text in sorted(parts.items()):
        row: dict[str, float] = {}
        for item in notation.split_words(text):
            feature, separator, value = item.rpartition(":")
            number = finite_in_text(value) if separator else None
            if number is None:
                raise InputError(f"{place}, line {line}: {item!r} is not a feature:number.")
            if feature in row:
                raise InputError(f"{place}, line {line}: the feature {feature!r} occurs twice.")
            row[feature] = number
        rows.append(row)
    names = sorted({feature for row in rows for feature in row}) if wanted is None else list(wanted)
    column_of = {feature: column for column, feature in enumerate(names)}
    kept = [[(column_of[f], v) for f, v in row.items() if f in column_of] for row in rows]
    n_left_out = sum(map(len, rows)) - sum(map(len, kept))
    if n_left_out:
        warn_user(f"{place}: {n_left_out} values of features that are not in feature_names are ignored.")
    matrix = csr_array(
        (
            np.array([value for row in kept for _, value in row], dtype=np.float64),
            np.array([column for row in kept for column, _ in row], dtype=np.int32),
            np.cumsum([0, *map(len, kept)], dtype=np.int32),
        ),
        shape=(len(rows), len(names)),
    )
    matrix.sort_indices()
    return matrix, tuple(names)


def _dense(parts: dict[int, str], name: str, column: str) -> object:
    rows: list[list[float | None]] = []
    for line, text in sorted(parts.items()):
        items = notation.split_words(text.replace(",", " "))
        row = [finite_in_text(item) for item in items]
        if None in row:
            item = items[row.index(None)]
            raise InputError(f"{name}, line {line}, vector {column!r}: {item!r} is not a number.")
        if rows and len(row) != len(rows[0]):
            raise InputError(
                f"{name}, line {line}, vector {column!r}: {len(row)} numbers, but {len(rows[0])} on the lines before."
            )
        rows.append(row)
    return np.array(rows, dtype=np.float64)


def _trees(parts: dict[int, str], name: str) -> dict[int, Tree]:
    """The trees by line number; parsed together, so that they share equal subtrees."""
    texts = {line: _bracketed(text, line, name) for line, text in parts.items()}
    try:
        trees = trees_from_arrays(notation.parse("\n".join(texts.values())))
    except TreeSyntaxError:
        trees = []
    for line, text in texts.items() if len(trees) != len(texts) else ():
        # One of them is no tree: parse each by itself to name its line.
        try:
            Tree.from_brackets(text)
        except TreeSyntaxError as error:
            raise TreeSyntaxError(error.message, source=name, line=line, text=text, position=error.position) from None
    return dict(zip(texts, trees, strict=True))


def _bracketed(text: str, line: int, name: str) -> str:
    """Convert KeLP's spelling, in which only a bracket ends a label, to bracket notation."""
    stray = _TEXT_BETWEEN_NODES.search(text)
    if stray:
        raise TreeSyntaxError(
            "a label is outside its bracket; KeLP writes every node as (LABEL...)",
            source=name,
            line=line,
            text=text,
            position=stray.end() - 1,
        )
    return _TREE_LABEL.sub(lambda label: notation.escape_label(label[0].strip(notation.BLANKS)), text)
