"""Trees of other libraries as ``Tree``, recognised by their attributes, without importing those libraries.

A class of your own converts itself by a method ``__espalier_tree__()`` that returns anything which
``as_tree`` accepts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from espalier.errors import InputError
from espalier.structures.dependency import DependencyTree
from espalier.structures.notation import BLANKS
from espalier.structures.tree import Tree

_ACCEPTED = (
    "bracketed text, a Tree, a DependencyTree, nested (label, children) tuples, a tree of NLTK or "
    "Stanza, a Token, Span or Doc of spaCy, a Sentence of Stanza, an element of lxml or "
    "ElementTree, a node of Python's ast, or an object with a method __espalier_tree__()"
)

_MOST_STEPS = 100  # of objects whose __espalier_tree__ returns another such object

# What one node says of itself: a label and its children, still in their own form.
_Node = tuple[str, list[Any]]


def as_tree(obj: object) -> Tree:
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
          text and its children; text is stripped of surrounding ASCII white space, and comments and
          processing instructions are left out;
        * a node of ``ast``: the class's name above its fields; a field that is a list is a node
          with the field's name, and a name or constant is a leaf. ``ctx`` fields and fields
          without a value are left out.

    Any other object is a TypeError.

    Examples
    --------
    >>> print(as_tree(("NP", [("D", ["the"]), ("N", ["cat"])])))
    (NP (D the) (N cat))
    """
    if isinstance(obj, str):
        return Tree.from_brackets(obj)
    stack: list[tuple[str | None, Any]] = [(None, obj)]  # None and an object, or a label and a number of children
    done: list[Tree] = []
    while stack:
        label, value = stack.pop()
        if label is not None:
            start = len(done) - value
            done[start:] = [Tree(label, done[start:])]
            continue
        found = _open(value)
        if isinstance(found, Tree):
            done.append(found)
        else:
            stack.append((found[0], len(found[1])))
            stack.extend((None, child) for child in reversed(found[1]))
    return done[0]


def as_dependency_tree(obj: object) -> DependencyTree:
    """Convert a spaCy Token, Span or Doc, or a Stanza sentence, to a ``DependencyTree``.

    Tags are spaCy's ``tag_`` and Stanza's ``xpos``, or the universal tag if those are empty.
    """
    tree = _dependencies(obj)
    if tree is None:
        raise TypeError(
            "as_dependency_tree converts a Token, Span or Doc of spaCy or a Sentence of Stanza, "
            f"got {type(obj).__name__}. read_conllu reads files."
        )
    return tree


def python_tree(source: str) -> Tree:
    """The syntax tree of Python source code; ``as_tree`` describes its labels."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise InputError(f"This is not Python code: {error}.") from None
    except (RecursionError, MemoryError):
        raise InputError("Python's own parser cannot read code that is nested this deep.") from None
    return as_tree(module)


def _open(obj: Any) -> Tree | _Node:
    """One step: a finished tree, or a label with children that are still to be opened."""
    for _ in range(_MOST_STEPS):
        if isinstance(obj, (Tree, str)) or not hasattr(type(obj), "__espalier_tree__"):
            break
        obj = obj.__espalier_tree__()
        if isinstance(obj, str):
            return Tree.from_brackets(obj)
    if isinstance(obj, Tree):
        return obj
    if isinstance(obj, str):
        return Tree(obj)
    if isinstance(obj, ast.AST):
        return type(obj).__name__, list(_ast_children(obj))
    for opener in (_open_tuple, _open_nltk, _open_element, _open_dependencies, _open_labelled):
        found = opener(obj)
        if found is not None:
            return found
    raise TypeError(f"as_tree converts {_ACCEPTED}; got {obj!r:.80} of type {type(obj).__name__}.")


def _open_tuple(obj: object) -> _Node | None:
    if not isinstance(obj, tuple) or len(obj) not in (1, 2) or not isinstance(obj[0], str):
        return None
    children = obj[1] if len(obj) == 2 else []
    return (obj[0], list(children)) if isinstance(children, (list, tuple)) else None


def _open_nltk(obj: object) -> _Node | None:
    name = getattr(obj, "label", None)
    if not isinstance(obj, list) or not callable(name):
        return None
    label = name()
    return "" if label is None else str(label), [_nltk_child(child) for child in obj]


def _nltk_child(child: Any) -> object:
    is_tagged = isinstance(child, tuple) and len(child) == 2
    if is_tagged and all(isinstance(part, str) for part in child):
        return Tree(child[1], [child[0]])
    return child


def _open_element(obj: Any) -> _Node | None:
    if hasattr(obj, "getroot"):
        obj = obj.getroot()
    if not hasattr(obj, "attrib") or not isinstance(getattr(obj, "tag", None), str):
        return None
    children: list[object] = [Tree(f"@{name}", [value]) for name, value in obj.attrib.items()]
    texts = [(None, obj.text), *((child, child.tail) for child in obj)]
    for child, text in texts:
        # The tag of a comment or a processing instruction is a function.
        if child is not None and isinstance(child.tag, str):
            children.append(child)
        if text and (words := text.strip(BLANKS)):
            children.append(words)
    return obj.tag, children


def _open_dependencies(obj: object) -> Tree | None:
    tree = _dependencies(obj)
    return None if tree is None else tree.grammatical_relation_tree()


def _open_labelled(obj: object) -> _Node | None:
    label, children = getattr(obj, "label", None), getattr(obj, "children", None)
    if not isinstance(label, str) or not isinstance(children, (list, tuple)):
        return None
    return label, list(children)


def _ast_children(node: ast.AST) -> Iterator[object]:
    if isinstance(node, (ast.Constant, ast.MatchSingleton)):
        yield repr(node.value)
        return
    for name, value in ast.iter_fields(node):
        if name == "ctx" or value is None or value == []:
            continue
        if isinstance(value, list):
            yield name, [_ast_value(item) for item in value]
        else:
            yield _ast_value(value)


def _ast_value(value: object) -> object:
    return value if isinstance(value, (ast.AST, str)) else repr(value)


def _dependencies(obj: Any) -> DependencyTree | None:
    """What spaCy and Stanza have parsed: a Doc or Span, the subtree of a Token, or a sentence."""
    if isinstance(obj, DependencyTree):
        return obj
    if hasattr(obj, "dep_") and hasattr(obj, "subtree"):
        return _from_spacy(list(obj.subtree))
    if hasattr(obj, "sents") and hasattr(obj, "ents"):
        return _from_spacy(list(obj))
    if hasattr(obj, "tokens") and isinstance(getattr(obj, "words", None), list):
        return _from_stanza(obj.words)
    return None


def _from_spacy(tokens: list[Any]) -> DependencyTree:
    if not any(token.dep_ for token in tokens):
        raise InputError("These spaCy tokens have no dependency parse. Run a pipeline with a parser.")
    n_sentences = sum(token.head.i == token.i for token in tokens)
    if n_sentences > 1:
        raise InputError(f"This spaCy object contains {n_sentences} sentences. Convert each of its .sents.")
    number = {token.i: index for index, token in enumerate(tokens, 1)}
    return DependencyTree(
        [token.text for token in tokens],
        [token.tag_ or token.pos_ for token in tokens],
        [0 if t.head.i == t.i else number.get(t.head.i, 0) for t in tokens],
        [token.dep_ for token in tokens],
        lemmas=[token.lemma_ or token.text for token in tokens],
    )


def _from_stanza(words: list[Any]) -> DependencyTree:
    if any(word.head is None for word in words):
        raise InputError(
            "This Stanza sentence has no dependency parse. Add 'depparse' to the processors, or "
            "convert its .constituency."
        )
    return DependencyTree(
        [word.text for word in words],
        [word.xpos or word.upos or "_" for word in words],
        [word.head for word in words],
        [word.deprel for word in words],
        lemmas=[word.lemma or word.text for word in words],
    )
