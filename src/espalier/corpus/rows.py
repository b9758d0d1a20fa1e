"""The rows of a learner in a saved file: a corpus, a table, an array, a sparse matrix, or a list."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from espalier.errors import InputError
from espalier.storage import State, Storable, require
from espalier.structures.dependency import DependencyTree
from espalier.structures.graph import Graph
from espalier.structures.interop import as_tree
from espalier.structures.sequence import TaggedSequence
from espalier.structures.table import Table
from espalier.structures.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_STRUCTURES = (Tree, DependencyTree, TaggedSequence, Graph)


def rows_state(data: Any, columns: Collection[str | None] | None = None) -> dict[str, object]:
    """Return the state of rows; of a table, only some columns if these are named."""
    if isinstance(data, Table):
        kept = [name for name in data.columns if columns is None or name in columns]
        listed = [{"name": name, "rows": rows_state(data[name])} for name in kept]
        names = {name: data.feature_names[name] for name in kept if name in data.feature_names}
        return {"form": "table", "n_rows": len(data), "columns": listed, "feature_names": list(names.items())}
    if isinstance(data, Storable):
        return {"form": "corpus", "corpus": data}
    if hasattr(data, "tocsr"):
        matrix = data.tocsr()
        parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
        return {"form": "sparse", "shape": matrix.shape, **parts}
    if isinstance(data, np.ndarray) and data.dtype.kind in "biuf":
        return {"form": "array", "array": data}
    items = list(data)
    if items and all(isinstance(item, Tree) for item in items):
        return {"form": "trees", "brackets": [tree.to_state()["brackets"] for tree in items]}
    return {"form": "items", "items": [_item(item, row) for row, item in enumerate(items)]}


def kind_of_rows(data: Any) -> str:
    """Describe rows in a few words."""
    if isinstance(data, Storable):
        return str(data.trained_on().get("items", "items"))
    if hasattr(data, "tocsr"):
        return f"{data.shape[1]} sparse numbers"
    if isinstance(data, np.ndarray) and data.dtype.kind in "biuf":
        return "numbers" if data.ndim == 1 else f"{data.shape[1]} numbers"
    first = next(iter(data), None)
    return {"Tree": "trees", "str": "strings"}.get(type(first).__name__, type(first).__name__)


def _item(item: object, row: int) -> object:
    """Return an item for JSON, or the state of a structure."""
    if item is None or isinstance(item, (str, bool, int, float, np.generic, np.ndarray, *_STRUCTURES)):
        return item
    if isinstance(item, list | tuple) and not hasattr(item, "label"):  # trees of NLTK are lists
        return [_item(part, row) for part in item]
    try:
        return as_tree(item)
    except (TypeError, ValueError):
        raise InputError(
            f"Row {row} is a {type(item).__name__}, which no file can hold. Train with structures of Espalier, such as "
            "es.as_tree(item) or es.as_dependency_tree(item)."
        ) from None


def rows_of(state: State) -> object:
    """Return the rows that a state describes."""
    form = state.text("form", "table", "corpus", "sparse", "array", "trees", "items")
    if form == "table":
        return _table(state)
    if form == "corpus":
        return state.object("corpus", Storable)
    if form == "sparse":
        return _sparse(state)
    if form == "array":
        array = state.value("array")
        require(isinstance(array, np.ndarray) and array.ndim > 0, "its rows are no array")
        return array
    if form == "trees":
        return [Tree.from_brackets(text) for text in state.texts("brackets")]
    return list(state.object("items", tuple))


def _table(state: State) -> Table:
    columns = {part.text("name"): rows_of(part.part("rows")) for part in state.parts("columns")}
    table = Table(columns)
    require(not columns or len(table) == state.whole("n_rows"), "its columns have another length")
    for name, features in state.object("feature_names", tuple):
        table = table.with_column(name, table[name], feature_names=features)
    return table


def _sparse(state: State) -> csr_matrix:
    from scipy.sparse import csr_matrix

    shape = state.object("shape", tuple)
    data, indices, indptr = (state.object(name, np.ndarray) for name in ("data", "indices", "indptr"))
    sound = data.ndim == indices.ndim == indptr.ndim == 1 and indices.dtype.kind == indptr.dtype.kind == "i"
    require(sound, "its rows are no sparse matrix")
    whole = len(shape) == 2 and all(type(size) is int and size >= 0 for size in shape)
    require(whole and len(indptr) == shape[0] + 1, "its sparse matrix has another shape")
    matrix = csr_matrix((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)
    return matrix
