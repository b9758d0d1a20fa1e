"""Items of any kind, taken apart the same way; and the names with which a kernel's text is read."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from espalier.structures.notation import BLANKS
from espalier.structures.table import Table
from espalier.structures.tree import Tree


def length(items: Any) -> int:
    if isinstance(items, Mapping) or (hasattr(items, "columns") and not isinstance(items, Table)):
        return len(Table(items))
    return int(items.shape[0]) if hasattr(items, "tocsr") else len(items)


def chosen(items: Any, rows: list[int]) -> object:
    if isinstance(items, list | tuple):
        return [items[row] for row in rows]
    if isinstance(items, Mapping) or hasattr(items, "columns"):
        items = Table(items)
    return items[np.array(rows, np.int64)]


def item_at(items: Any, row: int) -> object:
    if isinstance(items, Mapping) or hasattr(items, "columns"):
        items = Table(items)
    return items[[row]] if hasattr(items, "tocsr") else items[row]


def halves(items: object) -> tuple[object, object]:
    n = length(items)
    return chosen(items, list(range(n // 2))), chosen(items, list(range(n // 2, n)))


def are_trees(items: object) -> bool:
    if hasattr(items, "arrays"):  # a Forest
        return True
    return isinstance(items, list | tuple) and all(
        isinstance(item, Tree) or (isinstance(item, str) and item.lstrip(BLANKS).startswith("(")) for item in items
    )


def fingerprint(items: Any) -> object:
    if isinstance(items, np.ndarray) and items.dtype != object:
        return items.dtype, items.shape, items.tobytes()
    if hasattr(items, "tocsr"):
        coo = items.tocoo()
        return items.shape, coo.row.tobytes(), coo.col.tobytes(), coo.data.tobytes()
    if hasattr(items, "arrays"):
        return {name: fingerprint(array) for name, array in items.arrays.items()}
    if isinstance(items, Mapping) or hasattr(items, "columns"):
        return [(name, fingerprint(items[name])) for name in Table(items).columns]
    return [repr(item) for item in items]


def is_importable(kind: type) -> bool:
    return getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind


def namespace_of(kernel: Any) -> dict[str, object]:
    names: dict[str, object] = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("espalier.kernels."):
            names |= vars(module)
    return names | {type(part).__name__: type(part) for part in kernel._every_kernel()}
