"""The inputs of a kernel: a corpus, a list, an array, or a table of columns.

Each column is interned at most once for a whole expression of kernels, and the columns of a second input share the
vocabulary of the first without changing it. Whether the strings of a column are trees in brackets or words is decided
once for all kernels of the expression, and is the same for both inputs. If a kernel is called, both inputs decide
together, whatever their order. If a learner predicts, its training data decide alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.arcs import Arcs, as_arcs
from espalier.corpus.forest import Forest, as_forest
from espalier.corpus.graphs import Graphs, NodeLabels, as_graphs
from espalier.corpus.interned import Corpus
from espalier.corpus.rows import kind_of_rows, rows_of, rows_state
from espalier.corpus.sequences import Sequences, Unit, as_sequences
from espalier.corpus.texts import check_words, row_that_reads_as_a_tree
from espalier.corpus.vocabulary import check_same_vocabulary
from espalier.errors import InputError, TreeSyntaxError, VocabularyMismatchError
from espalier.jobs.schedule import Schedule
from espalier.kernels.vector_columns import Vectors, as_vectors, check_dimensions, join_columns, unit_vectors
from espalier.storage import State, require
from espalier.structures.dependency import DependencyTree
from espalier.structures.graph import Graph
from espalier.structures.sequence import TaggedSequence
from espalier.structures.table import Table, as_table, refuse_lazy
from espalier.structures.tree import Tree

AnyCorpus = TypeVar("AnyCorpus", bound=Corpus)
Reading = Literal["trees", "words"]

_ITEMS = {"forest": "trees", "sequences": "sequences", "arcs": "dependency trees", "graphs": "graphs"}


class Inputs:
    """One side of a kernel call, with its interned columns."""

    def __init__(self, data: object, like: Inputs | None = None, *, translates: bool = False) -> None:
        self._data = _table_or_column(data)
        self._like = like
        self._translates = translates
        self._beside: Inputs | None = None  # the second side, if both decide together whether strings are trees
        self._corpora: dict[tuple[object, ...], Any] = {}  # by column, form and settings
        self._vectors: dict[str | tuple[str, ...] | None, Vectors] = {}
        self._has_unit_vectors = False
        self._readings: dict[str | None, Reading | None] = {}  # by column: whether its strings are trees or words
        self.diagonals: dict[Any, Any] = {}  # by kernel: those that ``RememberedDiagonalPlan`` keeps
        self.warned: set[str] = set()  # kernels that have warned about these inputs

    @staticmethod
    def of(data: Any, like: Inputs | None = None, *, translates: bool = False) -> Inputs:
        """Wrap what a caller gave; a second side shares the vocabularies of the first, ``like``.

        A forest with a vocabulary of its own is an error, or is translated into that of the first side if
        ``translates``: callers of ``predict`` cannot choose the vocabulary of the training rows.
        """
        return data if isinstance(data, Inputs) else Inputs(data, like, translates=translates)

    def __len__(self) -> int:
        data = self._data
        return int(data.shape[0]) if hasattr(data, "tocsr") else len(data)

    def plan_of(self, kernel: Any, other: Inputs | None, schedule: Schedule, *, diagonal: bool = False) -> Any:
        """The plan of a kernel over these inputs, alone or with others; kernels of kernels ask for those inside."""
        return kernel._make_plan(self, other, schedule, diagonal=diagonal)

    def rows(self, rows: NDArray[np.intp]) -> Inputs:
        """Some of the rows, in this order."""
        return self.read_alike(take_rows(self._data, rows))

    def blocks(self, training: Inputs, memory: int) -> list[Inputs]:
        """New rows, so many at a time that their matrix with those of training takes a quarter of the memory at most.

        They are read like those of training; a corpus of another vocabulary is translated.
        """
        step = max(1, memory // (4 * 8 * max(1, len(training))))
        return [Inputs(part, training, translates=True) for part in self.parts(step)]

    def parts(self, step: int) -> list[object]:
        """The rows, so many at a time; without any rows, one part that is empty."""
        if len(self) <= step:
            return [self._data]
        return [take_rows(self._data, slice(first, first + step)) for first in range(0, len(self), step)]

    def read_alike(self, data: object) -> Inputs:
        """Some rows as inputs of their own; their strings are read as those of all rows are."""
        inputs = Inputs(data)
        inputs._readings.update(self._readings)
        inputs._beside = self._beside
        return inputs

    def with_unit_vectors(self) -> Inputs:
        """The same items with each vector scaled so that its largest number is 1 or -1; vectors of zeros stay."""
        inputs = self.read_alike(self._data)
        inputs._has_unit_vectors = True
        return inputs

    def decide_with(self, second: Inputs) -> None:
        """Use the items of the second side, too, to decide whether the strings of this one are trees or words."""
        self._beside = Inputs(second._data)

    def read_strings(self, columns: Iterable[str | None], reading: Reading) -> Inputs:
        """Decide whether the strings of some columns are trees or words, unless that is decided already."""
        for on in columns:
            self._readings.setdefault(on, reading)
        return self

    def to_state(self, columns: Collection[str | None] | None = None) -> dict[str, object]:
        """Return the rows (of a table, only some columns) and how their strings are read."""
        return {"rows": rows_state(self._data, columns), "readings": list(self._readings.items())}

    @staticmethod
    def from_state(state: State) -> Inputs:
        """Make the inputs that a file holds; their strings are read as they were when the file was written."""
        inputs = Inputs(rows_of(state.part("rows")))
        for on, reading in state.object("readings", tuple):
            require(
                isinstance(on, str | None) and reading in ("trees", "words", None), "strings are read as trees or words"
            )
            inputs._readings[on] = reading
        return inputs

    def description(self) -> dict[str, object]:
        """What a file states about the rows: how many there are, and of what kind."""
        if isinstance(self._data, Table):
            return {"rows": len(self), "columns": {name: kind_of_rows(self._data[name]) for name in self._data.columns}}
        return {"rows": len(self), "items": kind_of_rows(self._data)}

    def column(self, on: str | None) -> Iterable[object]:
        """The column that a kernel names, or all the data if it names none: a corpus, a list, an array, a series."""
        if isinstance(self._data, Table):
            if on is None:
                raise InputError(
                    f"This kernel names no column, but was given a table of {', '.join(self._data.columns)}. "
                    "Name the column to read, for example SubsetTree(on='source')."
                )
        elif on is not None:
            raise InputError(
                f"This kernel reads the column {on!r}, but was not given a table. "
                f"Pass a Table, a frame or a dict such as {{{on!r}: trees}}."
            )
        column: Iterable[object] = self._data if on is None else self._data[on]
        return column

    def forest(self, on: str | None) -> Forest:
        """The column as a forest."""
        return self._interned("forest", on, self.column, as_forest)

    def sequences(self, on: str | None, of: Unit) -> Sequences:
        """The column as sequences of words, characters or tags."""
        return self._interned("sequences", on, self.sequence_items, as_sequences, of)

    def arcs(self, on: str | None, templates: tuple[str, ...], root: bool = False) -> Arcs:
        """The column as dependency trees whose arcs have these features, with or without the arcs to roots."""
        return self._interned("arcs", on, self.column, as_arcs, templates, root)

    def graphs(self, on: str | None, labels: NodeLabels) -> Graphs:
        """The column as graphs, with these labels of the nodes of dependency trees."""
        return self._interned("graphs", on, self.column, as_graphs, labels)

    def _interned(
        self,
        form: str,
        on: str | None,
        items: Callable[[str | None], object],
        read: Callable[..., AnyCorpus],
        *settings: Any,
    ) -> AnyCorpus:
        """The column in one form, read once; the second side uses the vocabulary of the first."""
        key = (on, form, *settings)
        if key not in self._corpora:
            # Read the first side in the same form: by the method of that name, with the same arguments.
            first = getattr(self._like, form)(on, *settings) if self._like is not None else None
            column = items(on)
            with _naming(on):
                _refuse_numbers(column, on, _ITEMS[form])
                corpus = read(column, *settings, None if first is None else first.vocabulary.extended())
            self._corpora[key] = corpus if first is None else self._comparable(corpus, first)
        found: AnyCorpus = self._corpora[key]
        return found

    def sequence_items(self, on: str | None) -> Iterable[object]:
        """The column for a kernel of sequences; strings that are read as trees are parsed."""
        column, reading = self.column(on), self._reading(on)
        if reading != "trees" or isinstance(column, Forest | Sequences):
            return column
        with _naming(on):
            return [_tree_of(item, row) if isinstance(item, str) else item for row, item in enumerate(column)]

    def _reading(self, on: str | None) -> Reading | None:
        """What the strings of a column are to a kernel of sequences; None if nothing decides."""
        if on not in self._readings:
            if self._like is not None:
                other = self._like._reading(on)
            else:
                other = None if self._beside is None else _suggested(self._beside.column(on))
            with _naming(on):
                _refuse_numbers(self.column(on), on, _ITEMS["sequences"])
                self._readings[on] = _decided(self.column(on), other)
        return self._readings[on]

    def _comparable(self, corpus: AnyCorpus, first: AnyCorpus) -> AnyCorpus:
        try:
            check_same_vocabulary(first.vocabulary, corpus.vocabulary)
        except VocabularyMismatchError:
            if not self._translates:
                raise
            return corpus.with_vocabulary(first.vocabulary.extended())
        return corpus

    def vectors(self, on: str | tuple[str, ...] | None) -> Vectors:
        """The column, or several side by side, as vectors: a dense array or a sparse matrix of finite numbers."""
        if on not in self._vectors:
            if isinstance(on, tuple):
                vectors = join_columns([self.vectors(name) for name in on])
            else:
                vectors = as_vectors(self.column(on), on)
                vectors = unit_vectors(vectors) if self._has_unit_vectors else vectors
            if self._like is not None:
                check_dimensions(self._like.vectors(on), vectors)
            self._vectors[on] = vectors
        return self._vectors[on]

    def items(self, on: str | None) -> list[object]:
        """The column as a list of items."""
        return list(self.column(on))


def take_rows(data: Any, rows: NDArray[np.intp] | slice) -> object:
    """Some rows of a corpus, a table, a list, an array or a sparse matrix.

    Examples
    --------
    >>> take_rows(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if isinstance(data, list | tuple):
        return list(data[rows]) if isinstance(rows, slice) else [data[row] for row in rows.tolist()]
    if hasattr(data, "iloc"):  # a Series of pandas, whose brackets look for labels
        return data.iloc[rows]
    return data[rows]


def _decided(column: object, other: Reading | None) -> Reading | None:
    """Whether the strings of a column are trees or words, given how the other column is read.

    A column without strings decides for those that are compared with it: beside a forest, strings are trees.
    """
    if isinstance(column, Forest | Sequences):
        return "trees" if isinstance(column, Forest) else "words"
    if other == "trees" or not isinstance(column, Iterable):
        return other
    check_words(column, nested=other == "words")
    kinds = {type(item) for item in column}
    if any(issubclass(kind, str) for kind in kinds):
        return "words"
    return "trees" if Tree in kinds else None


def _suggested(column: object) -> Reading | None:
    """How the second column suggests reading the strings of the first; None if either reading would do."""
    if isinstance(column, Forest | Sequences):
        return "trees" if isinstance(column, Forest) else "words"
    if not isinstance(column, Iterable) or hasattr(column, "tocsr"):
        return None
    items = list(column)
    if any(isinstance(item, str) and item.strip() for item in items):
        return "words" if row_that_reads_as_a_tree(items) is None else None
    return "trees" if any(isinstance(item, Tree) for item in items) else None


def _tree_of(text: str, row: int) -> Tree:
    try:
        return Tree.from_brackets(text)
    except TreeSyntaxError as error:
        raise InputError(
            f"Row {row} is not a tree in brackets, {text!r:.60}, but the strings of this input are read as trees, "
            f"because the items on the other side are trees or another kernel reads trees here ({error.message}). "
            "Pass plain words as lists of words."
        ) from None


def _refuse_numbers(column: object, on: str | None, what: str) -> None:
    if hasattr(column, "tocsr"):
        kind = "a sparse matrix"
    elif isinstance(column, np.ndarray) and column.dtype.kind in "biufc":
        kind = f"an array of {column.dtype}"
    else:
        return
    vectors = "RBF()" if on is None else f"RBF(on={on!r})"
    raise TypeError(
        f"This kernel reads {what}, but was given numbers, {kind}. Pass {what}, or use a kernel of vectors such as "
        f"{vectors}."
    )


@contextmanager
def _naming(on: str | None) -> Iterator[None]:
    """Add the column's name to errors about it."""
    try:
        yield
    except (TypeError, InputError, TreeSyntaxError) as error:
        if on is None:
            raise
        if isinstance(error, TreeSyntaxError):
            raise error.moved(f"column {on!r}, {error.source}") from None
        raise type(error)(f"Column {on!r}: {error}") from None


def _table_or_column(data: Any) -> Any:
    if isinstance(data, Corpus | Table | np.ndarray | list | tuple):
        return data
    if hasattr(data, "tocsr"):
        return data.tocsr()  # the sparse format that has rows
    refuse_lazy(data)
    if isinstance(data, Mapping) or (hasattr(data, "columns") and hasattr(data, "__getitem__")):
        return as_table(data)
    if isinstance(data, str | bytes | Tree | DependencyTree | TaggedSequence | Graph) or hasattr(
        data, "__espalier_tree__"
    ):
        kind = "string" if isinstance(data, str | bytes) else type(data).__name__
        raise TypeError(f"A kernel must be called with a list of items, got one {kind}. Write [item].")
    if hasattr(data, "__len__") and hasattr(data, "__getitem__"):
        return data
    try:
        return list(data)
    except TypeError:
        raise TypeError(
            f"A kernel must be called with a list, an array, a corpus or a table, got {type(data).__name__}."
        ) from None
