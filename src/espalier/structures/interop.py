"""Trees of other libraries as ``Tree``, told by their shape and without importing those libraries.

A class of your own converts itself by a method ``__espalier_tree__()`` that returns anything which
``as_tree`` accepts.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from espalier.errors import InputError
from espalier.structures.dependency import DependencyTree
from espalier.structures.tree import Tree

_ACCEPTED = (
    "bracketed text, a Tree, a DependencyTree, nested (label, children) tuples, a tree of NLTK or "
    "Stanza, a Token, Span or Doc of spaCy, a Sentence of Stanza, an element of lxml or ElementTree, "
    "a node of Python's ast, or an object with a method __espalier_tree__()"
)

# What one node says of itself: a label and its children, still in their own form.
_Node = tuple[str, list[Any]]


def as_tree(obj: Any) -> Tree:
    """Convert an object to a ``Tree``.

    Parameters
    ----------
    obj
        One of these, without limit of depth:

        * text in bracket notation;
        * a ``Tree``, which is returned as it is;
        * an object with a method ``__espalier_tree__()``;
        * a tuple ``(label, children)``, where children are tuples again, texts (leaves), or any
          object of this list;
        * an NLTK tree; a leaf ``(word, tag)`` becomes a tag above its word;
        * a Stanza constituency tree: anything with attributes ``label`` and ``children``;
        * a ``DependencyTree``, a spaCy Token (its subtree), Span or Doc, or a Stanza sentence: its
          grammatical relation tree;
        * an lxml or ElementTree element: the tag above its attributes, each ``(@name value)``, its
          text and its children; text is stripped of surrounding white space, and comments and
          processing instructions are left out;
        * a node of ``ast``: the class's name above its fields; a field that is a list is a node
          with the field's name, and a name or constant is a leaf. ``ctx`` fields and fields
          without a value are left out.

    Raises
    ------
    TypeError
        If the object is none of these.

    Examples
    --------
    >>> print(as_tree(("NP", [("D", ["the"]), ("N", ["cat"])])))
    (NP (D the) (N cat))
    """
    if isinstance(obj, str):
        return Tree.from_brackets(obj)
    stack: list[tuple[str, int] | _Pending] = [_Pending(obj)]
    done: list[Tree] = []
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            label, n = item
            children = done[len(done) - n :]
            del done[len(done) - n :]
            done.append(Tree(label, children))
            continue
        found = _open(item.value)
        if isinstance(found, Tree):
            done.append(found)
        else:
            stack.append((found[0], len(found[1])))
            stack.extend(_Pending(child) for child in reversed(found[1]))
    return done[0]


def as_dependency_tree(obj: Any) -> DependencyTree:
    """Convert a spaCy Token, Span or Doc, or a Stanza sentence, to a ``DependencyTree``.

    Tags are spaCy's ``tag_`` and Stanza's ``xpos``, or the universal tag where those are empty.
    """
    if isinstance(obj, DependencyTree):
        return obj
    tokens = _spacy_tokens(obj)
    if tokens is not None:
        return _from_spacy(tokens)
    words = _stanza_words(obj)
    if words is not None:
        return _from_stanza(words)
    raise TypeError(
        "A dependency tree is made of a Token, Span or Doc of spaCy or a Sentence of Stanza, "
        f"got {type(obj).__name__}. read_conllu reads files."
    )


def python_tree(source: str) -> Tree:
    """The syntax tree of Python source code; ``as_tree`` describes its labels."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # the code is data, not ours to judge
            module = ast.parse(source)
    except SyntaxError as error:
        raise InputError(f"This is not Python code: {error}.") from None
    except (RecursionError, MemoryError):
        raise InputError("Python's own parser cannot read code that is nested this deep.") from None
    except ValueError as error:
        raise InputError(f"This is not Python code: {error}.") from None
    return as_tree(module)


class _Pending:
    """An object that is still to be converted; a wrapper, because anything may be in it."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _open(obj: Any) -> Tree | _Node:
    """One step: a finished tree, or a label with children that are still to be opened."""
    if isinstance(obj, Tree):
        return obj
    if isinstance(obj, str):
        return Tree(obj)
    if isinstance(obj, DependencyTree):
        return obj.grammatical_relation_tree()
    if isinstance(obj, ast.AST):
        return type(obj).__name__, list(_ast_children(obj))
    if isinstance(obj, _Node_types):
        return obj.label, obj.children
    for opener in _OPENERS:
        found = opener(obj)
        if found is not None:
            return found
    raise TypeError(f"A tree is made of {_ACCEPTED}; got {obj!r:.80} of type {type(obj).__name__}.")
