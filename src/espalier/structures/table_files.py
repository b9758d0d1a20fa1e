"""Tables in files: JSON Lines, CSV, TSV and Parquet.

The type of a value is never guessed: text files give texts unless you name a column as numeric, and
JSON and Parquet state which values are numbers.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Literal, NoReturn

import numpy as np

from espalier.errors import InputError, MissingDependencyError, TreeSyntaxError, warn_user
from espalier.structures import notation
from espalier.structures.columns import first_repeated
from espalier.structures.files import Readable, read_bytes, read_text, source_name
from espalier.structures.limits import DEFAULT_LIMITS, MOST_DIGITS, ReadLimits, shortened
from espalier.structures.numbers import finite_in_text
from espalier.structures.table import Table, unknown_column

TableFormat = Literal["jsonl", "csv", "tsv", "parquet"]
NumberedRows = Iterator[tuple[int, list[str]]]  # each with the number of its first line

_FORMATS: dict[str, TableFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
}
_REMEDY = "Pass header=False or columns= if the file has no header row, or header=True if this is one."


def read_table(
    path: Readable,
    *,
    format: TableFormat | None = None,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    numeric: Collection[str] = (),
    quotes: bool | None = None,
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Table:
    r"""Read a table from a file, one row per line or record.

    An InputError names the line of a row with too few or too many fields, of a name that occurs twice, or of a value
    that is not a finite number. Parquet needs polars or pyarrow, or a MissingDependencyError says so.

    Parameters
    ----------
    path
        A path or an open file. Text may be compressed with gzip. An address on a network is refused.
    format
        ``"jsonl"``, ``"csv"``, ``"tsv"`` or ``"parquet"``; by default what the name ends in.
    columns
        For CSV and TSV, the names of the columns if the file has no header row; with ``header=True`` they take the
        place of the names in the file.
    header
        For CSV and TSV, whether the first row holds the names of the columns. False without ``columns`` names them
        ``column_1``, ``column_2`` and so on. By default true unless ``columns`` are given; a first row that looks
        like data is then refused if it contains a tree, and causes a warning if it contains a number or a value of its
        column.
    numeric
        For CSV and TSV, the columns to read as float64; all others stay texts.
    quotes
        For CSV and TSV, whether a value may be in double quotes, which then may contain separators
        and line breaks. By default true for CSV and false for TSV, where a quote is a character
        like any other.
    encoding, limits
        As for :func:`read_brackets`.

    Returns
    -------
    table
        In JSON Lines and Parquet a column of numbers becomes an array and a column of equally long
        lists of numbers a matrix; every other column is kept as it is. null is None.

    Examples
    --------
    >>> import io
    >>> table = read_table(io.StringIO("tree,score\n(A a),1\n(B b),2.5\n"), format="csv",
    ...                    numeric=["score"])
    >>> table["tree"], table["score"].tolist()
    (('(A a)', '(B b)'), [1.0, 2.5])
    """
    kind = _format(path, format)
    if kind in ("jsonl", "parquet") and (numeric or any(given is not None for given in (columns, header, quotes))):
        raise ValueError(f"columns, header, numeric and quotes are for CSV and TSV, not for {kind}.")
    if kind == "parquet":
        table = Table(_read_parquet(path, limits))
        return Table(_tightened({column: table[column] for column in table.columns}))
    text = read_text(path, encoding=encoding, limits=limits)
    name = source_name(path)
    if kind == "jsonl":
        return Table(_tightened(_read_json_lines(text, name)))
    if quotes is None:
        quotes = kind == "csv"
    rows = _rows(text, "," if kind == "csv" else "\t", quotes, name)
    is_guessed = header is None and columns is None
    columns, rows = _named_columns(rows, columns, header, name)
    table = _read_rows(rows, columns, numeric, name)
    if is_guessed:
        _warn_of_values_as_names(table, name)
    return table


def _format(path: Readable, format: TableFormat | None) -> TableFormat:
    if format is not None:
        if format not in _FORMATS.values():
            raise ValueError(f"format must be jsonl, csv, tsv or parquet, got {format!r}.")
        return format
    name = source_name(path)
    suffix = os.path.splitext(name.removesuffix(".gz"))[1].lower()
    if suffix not in _FORMATS:
        raise InputError(
            f"The name {name!r} does not say the format of the table; it ends in none of "
            f"{', '.join(_FORMATS)}. Pass format=."
        )
    return _FORMATS[suffix]


def _rows(text: str, separator: str, quotes: bool, name: str) -> NumberedRows:
    """The rows of a text file, each with the number of its first line."""
    if not quotes:
        lines = text.removesuffix("\n").split("\n") if text else []
        for number, line in enumerate(lines, 1):
            yield number, line.removesuffix("\r").split(separator)
        return
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    start = 1
    try:
        for row in reader:
            yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{name}, line {start}: {error}. If quotes are plain characters here, pass "
            "quotes=False; JSON Lines has no limit on the length of a value."
        ) from None


def _named_columns(
    rows: NumberedRows, columns: Sequence[str] | None, header: bool | None, name: str
) -> tuple[Sequence[str], NumberedRows]:
    """The names of the columns, and the rows that follow."""
    if isinstance(columns, str):
        raise TypeError(f"columns must be a sequence of names, got the str {columns!r}.")
    if header is not None and not isinstance(header, (bool, np.bool_)):
        raise TypeError(
            f"header must be True, False or None, got {header!r}. It says whether the first row contains the names; "
            "pass the names themselves as columns=[...], which reads every row."
        )
    if header is None and columns is not None:
        return columns, rows
    first = next(rows, None)
    if header is not None and not header:
        every_row = [] if first is None else [first]
        made_up = [f"column_{k}" for _, fields in every_row for k in range(1, len(fields) + 1)]
        return made_up if columns is None else columns, itertools.chain(every_row, rows)
    if first is None:
        raise InputError(f"{name} is empty: a header row with the names of columns is needed.")
    if header is None:
        _check_header(first[1], name)
    return first[1] if columns is None else columns, rows


def _warn_of_values_as_names(table: Table, name: str) -> None:
    """Warn if a first row that was read as names contains a value of its own column."""
    for column in table.columns:
        values = table[column]
        if isinstance(values, tuple) and column in values:
            warn_user(
                f"The first row of {name} was read as the names of the columns, but {shortened(column)!r} is also a "
                f"value of its column. {_REMEDY}"
            )
            return


def _check_header(fields: Sequence[str], name: str) -> None:
    """Refuse a first row that can hardly be a header, and warn if it may not be one."""
    for field in fields:
        if _is_tree(field):
            raise InputError(f"The first row of {name} contains a tree, {shortened(field)!r}, not names. {_REMEDY}")
    numbers = [field for field in fields if finite_in_text(field) is not None]
    if numbers:
        warn_user(
            f"The first row of {name} was read as the names of the columns, but it contains numbers, such as "
            f"{shortened(numbers[0])!r}. {_REMEDY}"
        )


def _is_tree(field: str) -> bool:
    if not field.startswith("("):
        return False
    try:
        return len(notation.parse(field)[1]) > 1  # a name in brackets, as (km), is no tree
    except TreeSyntaxError:
        return False


def _read_rows(rows: NumberedRows, columns: Sequence[str], numeric: Collection[str], name: str) -> Table:
    names = list(columns)
    if len(set(names)) < len(names):
        twice = first_repeated(names)
        raise InputError(f"{name}: there are two columns named {twice!r}; rename one of them.")
    if isinstance(numeric, str):
        raise TypeError(f"numeric must be a collection of names, got the str {numeric!r}.")
    numeric = set(numeric)
    for column in sorted(numeric.difference(names), key=str):
        raise unknown_column(column, names)
    values: list[list[object]] = [[] for _ in names]
    parsers: list[Callable[[str], object]] = [finite_in_text if column in numeric else str for column in names]
    for line, row in rows:
        if len(row) != len(names):
            raise InputError(
                f"{name}, line {line}: {len(row)} fields where {len(names)} columns are expected "
                f"({', '.join(names)}). Remove or escape a separator inside a value."
            )
        for column, parser, field, into in zip(names, parsers, row, values, strict=True):
            value = parser(field)
            if value is None:
                raise InputError(f"{name}, line {line}, column {column!r}: {field!r} is not a finite number.")
            into.append(value)
    return Table(
        (column, np.array(listed, dtype=np.float64) if column in numeric else listed)
        for column, listed in zip(names, values, strict=True)
    )


def _read_json_lines(text: str, name: str) -> dict[str, list[object]]:
    lines = text.removesuffix("\n").split("\n") if text.strip(notation.BLANKS) else []
    columns: dict[str, list[object]] = {}
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(
                line, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite, parse_int=_integer
            )
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name}, line {number}: this is not a JSON object: {error}.") from None
        if not isinstance(record, dict):
            raise InputError(
                f"{name}, line {number}: an object with named values is needed, got {type(record).__name__}."
            )
        if number == 1:
            columns = {key: [] for key in record}
        if record.keys() != columns.keys():
            odd = sorted(record.keys() ^ columns.keys())
            raise InputError(
                f"{name}, line {number}: the names differ from those of line 1 in "
                f"{', '.join(map(repr, odd))}. Give every line the same names; null is allowed."
            )
        for key, value in record.items():
            columns[key].append(value)
    return columns


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError(f"the name {first_repeated(key for key, _ in pairs)!r} occurs twice")
    return record


def _no_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON; write null for a missing value")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{shortened(text)} is too large for a float64")
    return value


def _integer(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"{shortened(text)} has {len(text):,} digits, but at most {MOST_DIGITS} are possible")
    return int(text)


def _tightened(columns: Mapping[str, object]) -> dict[str, object]:
    """Turn columns of numbers, and of equally long lists of numbers, into arrays."""
    return {
        name: np.array(values) if isinstance(values, list | tuple) and _is_numeric(values) else values
        for name, values in columns.items()
    }


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_numeric(values: Sequence[object]) -> bool:
    if not values or all(map(_is_number, values)):
        return bool(values)
    if not isinstance(values[0], list | tuple) or not values[0]:
        return False
    n = len(values[0])
    return all(isinstance(v, list | tuple) and len(v) == n and all(map(_is_number, v)) for v in values)


def _read_parquet(path: Readable, limits: ReadLimits) -> object:
    most, name = limits.max_lines, source_name(path)
    try:
        import polars
    except ImportError:
        pass
    else:
        # Bytes and not a path: polars would look for a path on the network, or among many files.
        source = io.BytesIO(read_bytes(path, limits=limits))
        try:
            frame = polars.read_parquet(source, n_rows=None if most is None else most + 1)
        except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError) as error:
            raise InputError(f"{name} is not a Parquet file: {error}") from None
        limits.check_rows(len(frame), name)
        # A value that comes back often is stored once, here as in the file, but not by what reads the table.
        limits.check_bytes(int(frame.estimated_size()), name)
        return frame
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingDependencyError("polars or pyarrow", extra="tables", purpose="Reading a Parquet file") from None
    try:
        file = parquet.ParquetFile(io.BytesIO(read_bytes(path, limits=limits)))
        limits.check_rows(file.metadata.num_rows, name)
        table = file.read()
        limits.check_bytes(table.nbytes, name)
        return table.to_pydict()
    except pyarrow.ArrowInvalid as error:
        raise InputError(f"{name} is not a Parquet file: {error}") from None
