"""A corpus of trees in which every distinct subtree is stored once.

Interning (hash-consing) numbers distinct subtrees so that children come before parents, by height; a tree
is its root and the counts of the subtrees below it. The arrays are read-only and shared: ``forest[indices]``
is a view on the same subtrees, so splitting a corpus costs almost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.corpus.interned import Corpus
from espalier.corpus.selection import Rows, chosen_rows, not_unicode, ranges
from espalier.corpus.soundness import check_forest
from espalier.corpus.vocabulary import Vocabulary, check_same_vocabulary
from espalier.errors import InputError, TreeSyntaxError
from espalier.storage import Arrays
from espalier.structures.files import read_text
from espalier.structures.interop import as_tree
from espalier.structures.limits import DEFAULT_LIMITS, ReadLimits
from espalier.structures.notation import syntax_error
from espalier.structures.numbers import check_choice
from espalier.structures.table import refuse_lazy
from espalier.structures.tree import Tree

if TYPE_CHECKING:
    from espalier.corpus.describe import ForestDescription

Missing = Literal["error", "empty"]

STORE = ("label", "height", "child_start", "child")
TREES = ("root", "tree_start", "tree_subtree", "tree_count")


class Forest(Corpus):
    """Trees interned together: distinct subtrees, and how often each tree contains them.

    Make one with :meth:`from_brackets`, :meth:`from_trees`, :meth:`from_file` or :meth:`load`. Arrays that are given to
    the constructor, also by a pickle or a copy, are checked in time linear in their size, and copied if they could be
    changed from outside.

    Examples
    --------
    >>> forest = Forest.from_brackets(["(NP (D the) (N cat))", "(NP (D the) (N dog))"])
    >>> len(forest), forest.n_subtrees, forest[1].to_brackets()
    (2, 8, '(NP (D the) (N dog))')
    >>> len(forest[[1]]), forest[[1]].n_subtrees
    (1, 8)
    """

    __slots__ = ()

    _rows = "trees"
    _refusal = ("forest", "Make a forest with Forest.from_trees or Forest.from_brackets.")
    _stored = (*STORE, *TREES)
    _check = staticmethod(check_forest)

    def __init__(self, arrays: Mapping[str, NDArray[Any]], vocabulary: Vocabulary) -> None:
        self._take(arrays, vocabulary)

    @classmethod
    def from_brackets(cls, texts: Iterable[str], *, vocabulary: Vocabulary | None = None) -> Forest:
        """Intern one bracketed tree per text, read by the compiled core."""
        texts = list(texts)
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f"Row {row} must be a bracketed string, got {type(text).__name__}.")
        vocabulary = Vocabulary() if vocabulary is None else vocabulary
        interner = _core.Interner(vocabulary._native)
        try:
            interner.add_texts(texts)
        except _core.BracketError as error:
            message, position, row = error.args
            raise syntax_error(message, texts[row], position, source=f"row {row}") from None
        except UnicodeEncodeError:
            row = next(r for r, text in enumerate(texts) if any("\ud800" <= c <= "\udfff" for c in text))
            raise InputError(not_unicode(row)) from None
        return cls._of(interner.finish(), vocabulary)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        vocabulary: Vocabulary | None = None,
        encoding: str = "utf-8",
        limits: ReadLimits = DEFAULT_LIMITS,
    ) -> Forest:
        """Intern every tree of a file of brackets (``.gz`` too), without building Tree objects."""
        text = read_text(path, encoding=encoding, limits=limits)
        return cls.from_text(text, vocabulary=vocabulary, source=str(path))

    @classmethod
    def from_text(cls, text: str, *, vocabulary: Vocabulary | None = None, source: str = "<text>") -> Forest:
        """Intern every tree of a text of brackets; errors name its source."""
        vocabulary = Vocabulary() if vocabulary is None else vocabulary
        interner = _core.Interner(vocabulary._native)
        try:
            interner.add_text(text)
        except _core.BracketError as error:
            raise syntax_error(error.args[0], text, error.args[1], source=source) from None
        return cls._of(interner.finish(), vocabulary)

    @classmethod
    def from_trees(
        cls,
        trees: Iterable[Any],
        *,
        vocabulary: Vocabulary | None = None,
        missing: Missing = "error",
    ) -> Forest:
        """Intern trees: bracketed strings, ``Tree`` objects, or anything :func:`~espalier.as_tree` accepts.

        Parameters
        ----------
        trees
            The trees. ``None`` is an error that names its row, or an empty structure with ``missing="empty"``:
            it shares nothing with any tree.
        vocabulary
            Grow this vocabulary instead of a new one, so that the result can be compared with its corpora.
        """
        refuse_lazy(trees)
        items = list(trees)
        check_choice("missing", missing, "error", "empty")
        if missing == "error":
            for row, item in enumerate(items):
                if item is None:
                    raise InputError(
                        f"Row {row} has no tree (None). Drop the row, or count it as an empty structure "
                        "with Forest.from_trees(..., missing='empty')."
                    )
        if items and all(isinstance(item, str) for item in items):
            return cls.from_brackets(items, vocabulary=vocabulary)
        vocabulary = Vocabulary() if vocabulary is None else vocabulary
        interner = _core.Interner(vocabulary._native)
        _add_subtrees(interner, *_flatten(items, vocabulary))
        return cls._of(interner.finish(), vocabulary)

    def extended(self, trees: Iterable[object], *, missing: Missing = "error") -> Forest:
        """Return a forest of these trees followed by more; this one does not change."""
        more = Forest.from_trees(trees, vocabulary=self._vocabulary.extended(), missing=missing)
        return concatenate([self, more])

    @property
    def arrays(self) -> Arrays:
        """The arrays that the compiled core reads, by name: see docs/engine.md. They cannot be written to."""
        return dict(self._arrays)

    @property
    def n_subtrees(self) -> int:
        """How many distinct subtrees are stored, leaves included (views share them)."""
        return len(self._arrays["label"])

    def __len__(self) -> int:
        return len(self._arrays["root"])

    @overload
    def __getitem__(self, rows: int) -> Tree: ...
    @overload
    def __getitem__(self, rows: Rows) -> Forest: ...
    def __getitem__(self, rows: int | Rows) -> Tree | Forest:
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            rows = rows[0]  # forest[rows, ...], as scikit-learn writes it
        if isinstance(rows, int | np.integer):
            if not -len(self) <= rows < len(self):
                raise IndexError(f"Row {rows} is out of range: the forest has {len(self):,} trees.")
            return self._tree(int(rows) % len(self))
        chosen = chosen_rows(rows, len(self))
        entries, start = ranges(self._arrays["tree_start"], chosen)
        arrays = {name: self._arrays[name] for name in STORE}
        arrays |= {name: self._arrays[name][entries] for name in ("tree_subtree", "tree_count")}
        return self._like(arrays | {"root": self._arrays["root"][chosen], "tree_start": start})

    def __iter__(self) -> Iterator[Tree]:
        return (self._tree(row) for row in range(len(self)))

    def _tree(self, row: int) -> Tree:
        arrays = self._arrays
        root = int(arrays["root"][row])
        if root < 0:
            return None  # type: ignore[return-value]  # an empty structure comes out as it went in
        built: dict[int, Tree] = {}
        for u in arrays["tree_subtree"][arrays["tree_start"][row] : arrays["tree_start"][row + 1]].tolist():
            children = arrays["child"][arrays["child_start"][u] : arrays["child_start"][u + 1]].tolist()
            built[u] = Tree(self._vocabulary[int(arrays["label"][u])], tuple(built[c] for c in children))
        return built[root]

    def compact(self) -> Forest:
        """Return a copy that stores only the subtrees of its own trees, with the same vocabulary.

        A view shares the subtrees of the whole corpus and keeps them alive; its compact copy does not.

        Examples
        --------
        >>> forest = Forest.from_brackets(["(NP (D the) (N cat))", "(NP (D the) (N dog))"])
        >>> forest[[1]].n_subtrees, forest[[1]].compact().n_subtrees
        (8, 5)
        """
        arrays = self._arrays
        # Ascending, so that children still precede parents; a tree lists every subtree that it holds.
        used = np.unique(arrays["tree_subtree"])
        entries, start = ranges(arrays["child_start"], used)

        def renumbered(subtrees: NDArray[Any]) -> NDArray[Any]:
            return np.searchsorted(used, subtrees).astype(np.int32)

        compacted = {"label": arrays["label"][used], "height": arrays["height"][used], "child_start": start}
        compacted["child"] = renumbered(arrays["child"][entries])
        compacted["root"] = np.where(arrays["root"] < 0, np.int32(-1), renumbered(arrays["root"]))
        compacted["tree_start"] = arrays["tree_start"]
        compacted["tree_subtree"] = renumbered(arrays["tree_subtree"])
        compacted["tree_count"] = arrays["tree_count"]
        return self._like(compacted)

    def with_vocabulary(self, vocabulary: Vocabulary) -> Forest:
        """Return the same trees with their labels numbered by another vocabulary, looked up by their spelling.

        A forest that was made independently can then be compared with the corpora of that vocabulary. The vocabulary
        grows by the labels that it lacks; pass ``other.vocabulary.extended()`` to leave it as it is.

        Examples
        --------
        >>> corpus = Forest.from_brackets(["(NP (D the) (N cat))"])
        >>> alone = Forest.from_brackets(["(N cat)", "(V sleeps)"])
        >>> same = alone.with_vocabulary(corpus.vocabulary.extended())
        >>> same.vocabulary.extends(corpus.vocabulary), [tree.to_brackets() for tree in same]
        (True, ['(N cat)', '(V sleeps)'])
        """
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError(f"vocabulary must be a Vocabulary, got {type(vocabulary).__name__}.")
        if vocabulary is self._vocabulary:
            return self
        if vocabulary.extends(self._vocabulary):
            return self._like(self._arrays, vocabulary)
        own = self.compact()  # so that the vocabulary gets no label that these trees do not hold
        used, places = np.unique(own.arrays["label"], return_inverse=True)
        numbers = [vocabulary._native.add(self._vocabulary[label]) for label in used.tolist()]
        # Distinct subtrees stay distinct, and their order by height stays: nothing else depends on the numbers.
        return self._like({**own.arrays, "label": np.array(numbers, np.int32)[places]}, vocabulary)

    def describe(self) -> ForestDescription:
        """Count trees, nodes, subtrees, productions, labels and pairs, and the memory kernels need."""
        from espalier.corpus.describe import describe_forest

        return describe_forest(self)

    def to_state(self) -> dict[str, object]:
        """Return the arrays and the vocabulary; of a view, only the subtrees that its trees have."""
        return super(Forest, self.compact()).to_state()

    def __repr__(self) -> str:
        return f"<Forest of {len(self):,} trees over {self.n_subtrees:,} distinct subtrees>"

    def __reduce__(self) -> tuple[object, ...]:
        # A view is sent without the subtrees of other trees.
        holds_all = len(np.unique(self._arrays["tree_subtree"])) == self.n_subtrees
        return super(Forest, self if holds_all else self.compact()).__reduce__()


def concatenate(forests: Iterable[Forest]) -> Forest:
    """Join forests that share a vocabulary into one."""
    forests = _listed_forests(forests)
    vocabulary = forests[0].vocabulary
    for forest in forests[1:]:
        vocabulary = check_same_vocabulary(vocabulary, forest.vocabulary)
    interner = _core.Interner(vocabulary._native)
    for forest in forests:
        arrays = forest.arrays
        _add_subtrees(interner, *(arrays[name] for name in ("label", "child_start", "child", "root")))
    return Forest._of(interner.finish(), vocabulary)


def _listed_forests(forests: object) -> list[Forest]:
    if isinstance(forests, Forest | str) or not isinstance(forests, Iterable):
        raise TypeError(f"Forests are joined from a list, got one {type(forests).__name__}. Write [train, test].")
    listed = list(forests)
    if not listed:
        raise ValueError("There is nothing to join: give at least one forest.")
    for place, forest in enumerate(listed):
        if not isinstance(forest, Forest):
            raise TypeError(
                f"Only forests are joined, but item {place} is of type {type(forest).__name__}. Make a forest of trees "
                "with Forest.from_trees(trees, vocabulary=first.vocabulary); of tables join the columns of trees."
            )
    return listed


def as_forest(column: object, vocabulary: Vocabulary | None = None) -> Forest:
    """Return ``column`` itself if it is a Forest; otherwise intern it."""
    if isinstance(column, Forest):
        return column
    if isinstance(column, str | bytes):
        raise TypeError("A corpus is a list of trees, got one string. Write [text].")
    if not isinstance(column, Iterable):
        raise TypeError(f"A corpus is a list of trees or a Forest, got {type(column).__name__}.")
    return Forest.from_trees(column, vocabulary=vocabulary)


def _add_subtrees(
    interner: _core.Interner,
    label: NDArray[np.int32],
    child_start: NDArray[np.int64],
    child: NDArray[np.int32],
    roots: NDArray[np.int32],
) -> None:
    """Add trees by the numbers of their subtrees; a root below 0 is an empty structure."""
    ids = interner.add_subtrees(label, child_start, child)
    interner.add_roots(np.where(roots < 0, -1, ids[roots]).astype(np.int32) if len(ids) else roots)


def _flatten(
    items: list[object], vocabulary: Vocabulary
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Number the distinct Tree objects, children first; the core merges equal ones."""
    labels: list[int] = []
    starts, children, roots = [0], list[int](), list[int]()
    number: dict[int, int] = {}
    known: dict[str, int] = {}
    alive: list[Tree] = []  # ids of objects are only good while the objects live
    for row, item in enumerate(items):
        if item is None:
            roots.append(-1)
            continue
        try:
            tree = as_tree(item)
        except TreeSyntaxError as error:
            raise error.moved(f"row {row}") from None
        except (TypeError, InputError) as error:
            raise type(error)(f"Row {row}: {error}") from None
        alive.append(tree)
        stack = [tree]
        while stack:
            node = stack[-1]
            if id(node) in number:
                stack.pop()
                continue
            waiting = [child for child in node.children if id(child) not in number]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            if node.label not in known:
                known[node.label] = vocabulary._native.add(node.label)
            number[id(node)] = len(labels)
            labels.append(known[node.label])
            children.extend(number[id(child)] for child in node.children)
            starts.append(len(children))
        roots.append(number[id(tree)])
    return (
        np.array(labels, np.int32),
        np.array(starts, np.int64),
        np.array(children, np.int32),
        np.array(roots, np.int32),
    )
