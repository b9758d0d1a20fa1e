"""Kernels written as text, such as ``Normalized(SubsetTree(decay=0.4))``, read without running code.

The text is parsed, never evaluated. It may contain calls of Espalier kernels and of helpers for hyperparameters,
numbers, strings, lists and mappings of these, and ``+`` and ``*`` between kernels. Everything else is an error that
shows its place.
"""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from espalier import kernels
from espalier.errors import InputError
from espalier.kernels.base import Kernel
from espalier.kernels.hyperparameters import Learned, PerDimension, PerLabel, fixed
from espalier.kernels.similarity import Exact
from espalier.kernels.stored import MAX_INTEGERS, MAX_NESTED
from espalier.kernels.wordnet import WordNet, saved_wordnet
from espalier.storage import State
from espalier.structures.limits import shortened

_MAX_LENGTH, _MAX_DEPTH, _MAX_TERMS = 100_000, 100, 1_000

_HELPERS = {helper.__name__: helper for helper in (fixed, Learned, PerLabel, PerDimension, Exact)}


@functools.cache
def kernel_classes() -> Mapping[str, type[Kernel]]:
    """The kernels of Espalier by name; a user's own classes are not among them."""
    public = [getattr(kernels, name) for name in kernels.__all__]
    classes = [made for made in public if inspect.isclass(made) and issubclass(made, Kernel) and made is not Kernel]
    return {made.__name__: made for made in classes}


def parse_kernel(text: str, *, saved: bool = False) -> Kernel:
    """Read a kernel from an expression such as the repr of a kernel.

    Parameters
    ----------
    text
        The expression. An ``InputError`` shows the place of what is no kernel, or a wrong argument of one.
    saved
        Whether it is from a file: then it may have any length, and may not name a folder from which to read.

    Examples
    --------
    >>> parse_kernel("SubsetTree(decay=0.3) + 2.0 * Normalized(SubsetTree())")
    SubsetTree(decay=0.3) + 2.0 * Normalized(SubsetTree())
    >>> parse_kernel("SubsetTree(decay=exit())")
    Traceback (most recent call last):
    espalier.errors.InputError: 'exit' is no kernel of Espalier and no helper for hyperparameters.
        SubsetTree(decay=exit())
                         ^
    """
    if len(text) > _MAX_LENGTH and not saved:
        raise InputError(f"A kernel expression has at most {_MAX_LENGTH:,} characters, this has {len(text):,}.")
    text = text.replace("\n", " ").replace("\r", " ").strip()
    try:
        parsed = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise _error("This is not a kernel expression", text, (error.offset or 1) - 1) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise _error(f"This is not a kernel expression: {error}", text, 0) from None
    value = _Reader(text, saved_wordnet if saved else WordNet).read(parsed.body, 0)
    if not isinstance(value, Kernel):
        raise _error("This is a value, not a kernel; write for example SubsetTree(decay=0.4)", text, 0)
    return value


class KernelText:
    """A kernel as in files of Espalier 0.1: the text of its repr."""

    @staticmethod
    def from_state(state: State) -> Kernel:
        """Read the kernel."""
        return parse_kernel(state.text("text"), saved=True)


class _Reader:
    """Turns the nodes of an expression into values; a node of any other kind is refused."""

    def __init__(self, text: str, make_wordnet: Callable[..., WordNet]) -> None:
        self.text = text
        self._integers = 0
        self.names: dict[str, Callable[..., object]] = {**kernel_classes(), **_HELPERS, "WordNet": make_wordnet}
        self.n_around = 0  # how many kernels enclose what is read

    def _adds_up_to(self, value: int) -> int:
        self._integers += value
        return self._integers

    def read(self, node: ast.expr, depth: int) -> object:
        if depth > _MAX_DEPTH:
            raise self.refuse(f"This expression is nested more than {_MAX_DEPTH} deep", node)
        depth += 1
        match node:
            case ast.Constant(value=int() as value) if self._adds_up_to(value) > MAX_INTEGERS:
                raise self.refuse(f"The integers up to here add up to more than {MAX_INTEGERS:,}", node)
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return -value
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return tuple([self.read(item, depth) for item in items])
            case ast.Dict(keys=keys, values=values):
                return self.mapping(node, keys, values, depth)
            case ast.BinOp(op=ast.Add() | ast.Mult()):
                return self.chain(node, depth)
            case ast.Call(func=ast.Name(id=name)):
                return self.call(node, name, depth)
            case ast.Name(id=name):
                self.known(node, name)
                raise self.refuse(f"{name} is not called; write {name}(...)", node)
        raise self.refuse("Only kernels, numbers, texts, + and * are allowed in a kernel expression", node)

    def chain(self, node: ast.BinOp, depth: int) -> object:
        """A sum or product of many: ``a + b + c`` is ``(a + b) + c``; read by a loop, so its length adds no depth."""
        later: list[ast.BinOp] = []
        first: ast.expr = node
        while isinstance(first, ast.BinOp) and isinstance(first.op, ast.Add | ast.Mult):
            later.append(first)
            first = first.left
        if len(later) > _MAX_TERMS:
            raise self.refuse(f"This expression combines more than {_MAX_TERMS:,} kernels", node)
        value = self.read(first, depth)
        for step in reversed(later):
            value = self.combine(step, step.op, value, self.read(step.right, depth))
        return value

    def mapping(self, node: ast.expr, keys: list[ast.expr | None], values: list[ast.expr], depth: int) -> object:
        out: dict[str, object] = {}
        for key, value in zip(keys, values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                raise self.refuse("The keys of a mapping must be texts", key or node)
            out[key.value] = self.read(value, depth)
        return out

    def known(self, node: ast.expr, name: str) -> Callable[..., object]:
        if name not in self.names:
            near = difflib.get_close_matches(name, self.names, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise self.refuse(
                f"{shortened(name)!r} is no kernel of Espalier and no helper for hyperparameters{hint}", node
            )
        return self.names[name]

    def call(self, node: ast.Call, name: str, depth: int) -> object:
        make = self.known(node, name)
        for argument in [*node.args, *node.keywords]:
            if isinstance(argument, ast.Starred) or (isinstance(argument, ast.keyword) and argument.arg is None):
                raise self.refuse("Arguments must be written out, without * and **", argument)
        if self.n_around > MAX_NESTED:
            raise self.refuse(f"More than {MAX_NESTED} kernels enclose this one", node)
        self.n_around += 1
        arguments = [self.read(argument, depth) for argument in node.args]
        options = {key.arg: self.read(key.value, depth) for key in node.keywords if key.arg is not None}
        self.n_around -= 1
        try:
            bound = inspect.signature(make).bind(*arguments, **options)
        except TypeError as error:
            raise self.refuse(f"{name}: {error}; it is written {name}{_signature(make)}", node) from None
        try:
            made = make(*bound.args, **bound.kwargs)
            hash(made)  # kernels are hashable: this fails if an argument cannot be a setting
            return made
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise self.refuse(f"{name}: {error}", node) from None

    def combine(self, node: ast.expr, operator: ast.operator, left: Any, right: Any) -> object:
        add = isinstance(operator, ast.Add)
        both = isinstance(left, Kernel) and isinstance(right, Kernel)
        if not both and (add or not (isinstance(left, Kernel) or isinstance(right, Kernel))):
            what = "Only kernels can be added" if add else "A kernel can only be multiplied by a kernel or a number"
            raise self.refuse(what, node)
        try:
            return left + right if add else left * right
        except (TypeError, ValueError, OverflowError) as error:
            raise self.refuse(str(error), node) from None

    def refuse(self, message: str, node: ast.expr | ast.keyword) -> InputError:
        # Python counts columns in bytes.
        return _error(message, self.text, len(self.text.encode()[: node.col_offset].decode()))


def _signature(make: Callable[..., object]) -> str:
    names = [
        name if parameter.default is parameter.empty else f"{name}={parameter.default!r}"
        for name, parameter in inspect.signature(make).parameters.items()
    ]
    return f"({', '.join(names)})"


def _error(message: str, text: str, position: int) -> InputError:
    """An error with the expression below it and a caret under the place."""
    sentence = message if message.endswith((".", "?")) else f"{message}."
    if not text.strip():
        return InputError(f"{sentence} The expression is empty.")
    start = max(0, position - 60)
    shown = "".join(c if c.isprintable() else " " for c in text[start : start + 100])
    return InputError(f"{sentence}\n    {shown}\n    {' ' * (position - start)}^")
