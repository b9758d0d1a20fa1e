"""``Arcs``: dependency trees as arcs with features, interned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.arc_features import ArcFeatures
from espalier.corpus.arc_order import bottom_up, previous_siblings
from espalier.corpus.arc_templates import TEMPLATES as TEMPLATES
from espalier.corpus.arc_templates import check_templates
from espalier.corpus.interned import Corpus
from espalier.corpus.selection import Rows, chosen_rows, ranges
from espalier.corpus.soundness import FEATURE, check_arcs
from espalier.corpus.vocabulary import Vocabulary
from espalier.errors import InputError
from espalier.storage import Arrays
from espalier.structures.dependency import DependencyTree
from espalier.structures.interop import as_dependency_tree
from espalier.structures.numbers import truth_value


class Arcs(Corpus):
    """A corpus of dependency trees whose arcs have features: read-only, and cheap to select from.

    Make one with :meth:`from_trees`. A kernel makes its own if it is given plain trees. With ``root``, each tree has
    another token in front, ROOT, which is the head of its roots; without it the arc to a root does not count.
    """

    __slots__ = ("root", "templates")

    templates: tuple[str, ...]
    root: bool

    _rows = "dependency trees"
    _refusal = ("corpus of dependency trees", "Make one with Arcs.from_trees.")
    _stored = ("start", "head", "feature_start", *FEATURE)
    _numbered = ("first", "second")
    _settings: ClassVar = {"templates": "templates", "root": "root"}
    _defaults: ClassVar = {"root": False}
    _check = staticmethod(check_arcs)

    def __init__(
        self, arrays: Mapping[str, NDArray[Any]], vocabulary: Vocabulary, templates: Sequence[str], root: bool = False
    ) -> None:
        self._take(arrays, vocabulary, templates, root)

    @classmethod
    def _checked_settings(cls, templates: Any, root: Any) -> tuple[object, ...]:
        return check_templates(templates), truth_value("root", root)

    @classmethod
    def _completed(cls, arrays: Arrays) -> Arrays:
        head, start = arrays["head"], arrays["start"]
        return arrays | {"previous": previous_siblings(head, start), "order": bottom_up(head, start)}

    @staticmethod
    def from_trees(
        trees: Iterable[object],
        templates: Sequence[str],
        *,
        root: bool = False,
        vocabulary: Vocabulary | None = None,
    ) -> Arcs:
        """Intern dependency trees, or what converts to them, with these features of their arcs.

        With ``root``, the arc from ROOT to each root is an arc like any other.
        """
        templates, root = check_templates(templates), truth_value("root", root)
        is_one = isinstance(trees, str | bytes | DependencyTree)
        if is_one or not isinstance(trees, Iterable) or hasattr(trees, "tocsr"):
            raise TypeError(f"A corpus is a list of dependency trees, got {type(trees).__name__}.")
        vocabulary = Vocabulary() if vocabulary is None else vocabulary
        listed = []
        for row, item in enumerate(trees):
            try:
                listed.append(item if isinstance(item, DependencyTree) else as_dependency_tree(item))
            except (TypeError, InputError) as error:
                raise InputError(f"Row {row}: {error}") from None
        start = np.cumsum([0, *map(len, listed)], dtype=np.int64)
        heads = np.fromiter(chain.from_iterable(tree.heads for tree in listed), np.int32, int(start[-1]))
        features = ArcFeatures(listed, heads, start, vocabulary, root=root).of(templates)
        if root:
            head = np.insert(heads, start[:-1], -1)
            start = start + np.arange(len(start))
        else:
            head = heads - np.int32(1)
        return Arcs._of(Arcs._completed({"start": start, "head": head, **features}), vocabulary, templates, root)

    @property
    def arrays(self) -> Arrays:
        """Trees and features by numbers, from which plans make what the compiled core reads.

        By tree its ``start`` among the tokens, which are its words and with ``root`` a ROOT before them; by token its
        ``head`` and the ``previous`` child of that head in its tree, -1 if there is none, and where its features start;
        by tree all tokens in an ``order`` in which children come before heads and left before right. A feature is its
        ``template``, counted as the corpus lists them, and two texts, by their numbers in the vocabulary: the ``first``
        is that of the template's first part, the ``second`` that of its other parts, joined. A single part is
        ``second``, and ``first`` is -1.
        """
        return dict(self._arrays)

    def __getitem__(self, rows: int | Rows) -> Arcs:
        tokens, start = ranges(self._arrays["start"], chosen_rows(rows, len(self)))
        features, feature_start = ranges(self._arrays["feature_start"], tokens)
        arrays = {name: self._arrays[name][tokens] for name in ("head", "previous", "order")}
        arrays |= {name: self._arrays[name][features] for name in FEATURE}
        return self._like(arrays | {"start": start, "feature_start": feature_start})

    def __repr__(self) -> str:
        n_words = int(self._arrays["start"][-1]) - (len(self) if self.root else 0)
        return f"<Arcs: {len(self):,} trees with {n_words:,} words>"


def as_arcs(column: Any, templates: tuple[str, ...], root: bool, vocabulary: Vocabulary | None = None) -> Arcs:
    """Return ``column`` itself if it is interned; otherwise intern it."""
    if not isinstance(column, Arcs):
        return Arcs.from_trees(column, templates, root=root, vocabulary=vocabulary)
    if column.templates != templates:
        raise InputError(f"These trees were interned with {column.templates!r}, not with {templates!r}.")
    if column.root != root:
        raise InputError(f"These trees were interned with root={column.root}, not with root={root}.")
    return column
