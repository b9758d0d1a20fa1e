"""Kernel expressions: what a kernel prints is read back, and nothing a user types is run."""

from __future__ import annotations

import ast

import pytest

from espalier.errors import InputError
from espalier.kernels import Normalized, PartialTree, PerLabel, Subsequence, SubsetTree, expressions, fixed
from espalier.kernels.expressions import kernel_classes, parse_kernel


@pytest.mark.parametrize(
    "kernel",
    [
        SubsetTree(),
        SubsetTree(decay=0.3, frontier=fixed(0.0), max_depth=3, lone_leaves=True),
        SubsetTree(decay=PerLabel(0.4, groups={"sentence": ["S", "SQ"]}, values={"NP": 0.2})),
        SubsetTree(on="source") * SubsetTree(on="target"),
        Normalized(PartialTree()) + 2.0 * SubsetTree(),
    ],
)
def test_what_a_kernel_prints_is_read_back(kernel):
    assert parse_kernel(repr(kernel)) == kernel
    assert parse_kernel(f"  {kernel!r}\n") == kernel


def test_all_public_kernels_can_be_named():
    assert {"SubsetTree", "Subtree", "PartialTree", "Normalized"} <= set(kernel_classes())
    assert "Kernel" not in kernel_classes()


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch /tmp/owned')",
        "exit()",
        "SubsetTree.__class__",
        "SubsetTree.__init__.__globals__['sys']",
        "SubsetTree(decay=().__class__.__bases__[0])",
        "SubsetTree(decay=(lambda: 1)())",
        "SubsetTree(decay=[x for x in (1,)][0])",
        "SubsetTree(decay=f'{1}')",
        "SubsetTree(decay=b'1')",
        "SubsetTree(decay=1j)",
        "SubsetTree(decay=0.4 if 1 else 2)",
        "SubsetTree(decay=(y := 1))",
        "SubsetTree(*[0.4])",
        "SubsetTree(**{'decay': 0.4})",
        "SubsetTree() ** 2",
        "SubsetTree() @ SubsetTree()",
        "SubsetTree() - SubsetTree()",
        "SubsetTree()()",
        "SubsetTree",
        "(SubsetTree)(decay=0.4)[0]",
        "open('/etc/passwd')",
        "eval('1')",
        "'a' * 1000000000",
        "[0] * 1000000000",
        "9**9**9",
        "SubsetTree(max_depth=99999999999)",
        "SubsetTree(); SubsetTree()",
        "import os",
        "yield",
        "await x",
        "3",
        "'SubsetTree()'",
        "",
        "   ",
        "\0",
        "(" * 5_000,
        "SubsetTree(" * 900 + ")" * 900,
        "-" * 5_000 + "1",
        "RBF()" + "+RBF()" * 1_001,
        "9" * 5_000,
        "x" * 20_000,
        "SubsetTree(on={})",
        "{1: 2}",
        "{**{}}",
        "Normalized(3)",
        "SubsetTree() + 1",
        "PerLabel(0.4)",
        "2.0 * 3.0",
    ],
)
def test_hostile_and_broken_text_is_one_clear_error(text, recwarn):
    with pytest.raises(InputError) as caught:
        parse_kernel(text)
    assert len(str(caught.value)) < 700
    assert not recwarn.list


def test_nothing_is_evaluated():
    calls = {node.func.id for node in ast.walk(_source()) if isinstance(node, ast.Call) and hasattr(node.func, "id")}
    assert not calls & {"eval", "exec", "compile", "__import__"}


def _source() -> ast.Module:
    with open(expressions.__file__, encoding="utf-8") as stream:
        return ast.parse(stream.read())


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("SubsetTre()", "did you mean SubsetTree?", 0),
        ("Normalized(SubsetTree(dcay=1))", "unexpected keyword argument 'dcay'", 11),
        ("SubsetTree(decay=-1)", "decay must be positive, got -1", 0),
        ("SubsetTree() + exit()", "'exit' is no kernel of Espalier", 15),
        ("SubsetTree(decay=os.x)", "Only kernels, numbers, texts", 17),
    ],
)
def test_the_place_of_an_error_is_shown(text, message, column):
    with pytest.raises(InputError) as caught:
        parse_kernel(text)
    first, *_, caret = str(caught.value).splitlines()
    assert message in first
    assert caret == " " * (4 + column) + "^"


def test_the_place_is_counted_in_characters_and_over_lines():
    with pytest.raises(InputError) as caught:
        parse_kernel("SubsetTree(on='é') +\nfoo()")
    assert str(caught.value).splitlines()[-2:] == ["    SubsetTree(on='é') + foo()", " " * 25 + "^"]


def test_sums_and_products_of_many_kernels_are_read():
    for operator in ("+", "*"):
        text = f" {operator} ".join(f"SubsetTree(decay=0.{k})" for k in range(1, 301))
        assert repr(parse_kernel(text)) == repr(parse_kernel(repr(parse_kernel(text))))
        assert text.count("SubsetTree") == 300 == repr(parse_kernel(text)).count("SubsetTree")
    assert parse_kernel("SubsetTree(decay=0.1) + SubsetTree() * Subtree() + 2 * Subtree()") == parse_kernel(
        "(SubsetTree(decay=0.1) + (SubsetTree() * Subtree())) + (2 * Subtree())"
    )
    with pytest.raises(InputError, match="Only kernels can be added"):
        parse_kernel("SubsetTree() + 2 + SubsetTree()")
    with pytest.raises(InputError, match="nested more than 100 deep"):
        parse_kernel("SubsetTree() + (" * 120 + "SubsetTree()" + ")" * 120)


def test_the_integers_of_an_expression_are_bounded_together():
    """Each kernel holds a number for each length, so that a short text could ask for hours."""
    assert parse_kernel("Subsequence(1000000) + Subsequence(1000)") == Subsequence(10**6) + Subsequence(1000)
    with pytest.raises(InputError, match="integers up to here add up to more than 2,000,000"):
        parse_kernel(" + ".join(["Subsequence(1000000)"] * 4))
    with pytest.raises(InputError, match="add up to more than 2,000,000"):
        parse_kernel("WeisfeilerLehman(10000000)")


def test_kernels_inside_kernels_are_bounded():
    for wrapper in ("Normalized({})", "Power({}, 2)", "2.0 * Normalized(kernel={})"):
        text = "SubsetTree()"
        for _ in range(10):
            text = wrapper.format(text)
        assert "SubsetTree" in repr(parse_kernel(text))
        with pytest.raises(InputError, match="More than 10 kernels enclose this one"):
            parse_kernel(wrapper.format(text))


def test_a_sum_of_a_thousand_kernels_is_read():
    assert repr(parse_kernel(" + ".join(["SubsetTree()"] * 1000))).count("SubsetTree") == 1000


def test_a_saved_kernel_over_wordnet_says_where_it_is_missing(monkeypatch, tmp_path):
    def missing(*_, **__):
        raise FileNotFoundError(2, "No such file or directory", str(tmp_path))

    monkeypatch.setattr(expressions, "WordNet", missing)
    with pytest.raises(InputError, match="needs WordNet, which cannot be read here"):
        parse_kernel("SmoothedPartialTree(WordNet())", saved=True)
