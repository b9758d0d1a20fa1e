"""Objects of other libraries as trees."""

from __future__ import annotations

import ast
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from typing import Any

import nltk
import pytest
from lxml import etree

from espalier.errors import InputError
from espalier.structures import DependencyTree, Tree, as_dependency_tree, as_tree

TEXT = "(S (NP (D the) (N cat)) (VP (V sat)))"
TREE = Tree.from_brackets(TEXT)
DEPTH = 50_000


def test_text_and_trees():
    assert as_tree(TEXT) == TREE
    assert as_tree(TREE) is TREE


def test_tuples():
    assert as_tree(("S", [("NP", ("it",)), ("VP", [Tree("is"), ("X",)])])) == Tree.from_brackets(
        "(S (NP it) (VP is X))"
    )


def test_own_classes():
    @dataclass
    class Own:
        value: Any

        def __espalier_tree__(self):
            return self.value

    assert as_tree(Own(TEXT)) == TREE
    assert as_tree(Own(Own(TREE))) == TREE
    assert as_tree(("X", [Own(TEXT), "(a"])) == Tree("X", [TREE, "(a"])
    endless = Own(None)
    endless.value = endless
    with pytest.raises(TypeError, match="as_tree converts"):
        as_tree(endless)


@pytest.mark.parametrize("kind", [nltk.Tree, nltk.ImmutableTree, nltk.ParentedTree])
def test_nltk(kind):
    assert as_tree(kind.fromstring(TEXT)) == TREE


def test_nltk_labels_and_tagged_leaves():
    chunk = nltk.Tree(nltk.grammar.Nonterminal("S"), [("the", "DT"), nltk.Tree("NP", ["x y"])])
    assert as_tree(chunk) == Tree("S", [Tree("DT", ["the"]), Tree("NP", ["x y"])])


@dataclass
class StanzaTree:
    label: str
    children: tuple = ()


def test_stanza_constituency():
    tree = StanzaTree("ROOT", (StanzaTree("NP", (StanzaTree("N", (StanzaTree("cat"),)),)),))
    assert as_tree(tree) == Tree.from_brackets("(ROOT (NP (N cat)))")


@dataclass
class StanzaWord:
    id: int
    text: str
    upos: str
    head: int | None
    deprel: str
    lemma: str | None = None
    xpos: str | None = None


@dataclass
class StanzaSentence:
    words: list
    tokens: list = field(default_factory=list)


def test_stanza_dependencies():
    sentence = StanzaSentence(
        [
            StanzaWord(1, "Cats", "NOUN", 2, "nsubj", lemma="cat", xpos="NNS"),
            StanzaWord(2, "sleep", "VERB", 0, "root"),
        ]
    )
    assert as_dependency_tree(sentence) == DependencyTree(
        ["Cats", "sleep"], ["NNS", "VERB"], [2, 0], ["nsubj", "root"], lemmas=["cat", "sleep"]
    )
    assert as_tree(sentence) == as_dependency_tree(sentence).grammatical_relation_tree()
    sentence.words[0].head = None
    with pytest.raises(InputError, match="depparse"):
        as_tree(sentence)


@pytest.fixture(scope="module")
def spacy():
    return pytest.importorskip("spacy", reason="spaCy is optional")


class TestSpacy:
    @pytest.fixture
    def doc(self, spacy):
        return spacy.tokens.Doc(
            spacy.blank("en").vocab,
            words=["Cats", "chase", "mice", "They", "sleep"],
            tags=["NNS", "VBP", "NNS", "PRP", "VBP"],
            lemmas=["cat", "chase", "mouse", "they", "sleep"],
            heads=[1, 1, 1, 4, 4],
            deps=["nsubj", "ROOT", "dobj", "nsubj", "ROOT"],
            sent_starts=[True, False, False, True, False],
        )

    def test_sentences(self, doc):
        first, second = doc.sents
        assert as_dependency_tree(first) == DependencyTree(
            ["Cats", "chase", "mice"],
            ["NNS", "VBP", "NNS"],
            [2, 0, 2],
            ["nsubj", "ROOT", "dobj"],
            lemmas=["cat", "chase", "mouse"],
        )
        assert as_dependency_tree(second).heads == (2, 0)
        assert as_tree(first) == as_dependency_tree(first).grammatical_relation_tree()
        assert as_tree(second.as_doc()) == as_tree(second)

    def test_tokens_and_spans(self, doc):
        assert as_dependency_tree(doc[2]).words == ("mice",)
        assert as_dependency_tree(doc[1]).words == ("Cats", "chase", "mice")
        assert as_dependency_tree(doc[2:3]).heads == (0,)

    def test_several_sentences_are_refused(self, doc):
        with pytest.raises(InputError, match=r"2 sentences. Convert each of its \.sents"):
            as_tree(doc)

    def test_unparsed_text_is_refused(self, spacy):
        with pytest.raises(InputError, match="no dependency parse"):
            as_tree(spacy.blank("en")("no parser here"))


XML = "<a x='1'> t <b/>tail<!-- no --> more <c><d>w w</d></c></a>"


@pytest.mark.parametrize("library", [etree, ElementTree])
def test_elements(library):
    element = library.fromstring(XML)
    tree = as_tree(element)
    assert tree[0] == Tree("@x", ["1"]) and tree[1] == Tree("t") and tree[2] == Tree("b")
    assert " ".join(tree.words()) == "1 t b tail more w w"
    assert tree[-1] == Tree("c", [Tree("d", ["w w"])])
    assert as_tree(library.ElementTree(element)) == tree


def test_python_code():
    tree = Tree.from_python("if x > 1:\n    f(y, k=None)\nelse:\n    pass\n")
    assert str(tree) == (
        "(Module (body (If (Compare (Name x) (ops Gt) (comparators (Constant 1))) "
        "(body (Expr (Call (Name f) (args (Name y)) (keywords (keyword k (Constant None)))))) "
        "(orelse Pass))))"
    )
    assert as_tree(ast.parse("x", mode="eval")) == Tree.from_brackets("(Expression (Name x))")
    assert Tree.from_python("'a b\\0'")[0, 0, 0, 0].label == r"'a b\x00'"
    assert Tree.from_python("from . import a").words() == ["a", "1"]
    assert Tree.from_python("{**a}").words() == ["None", "a"]


@pytest.mark.parametrize("source", ["x = ", "a\0b", "(" * 1000, "-" * 100_000 + "1"])
def test_what_is_no_python_code(source):
    with pytest.raises(InputError):
        Tree.from_python(source)


def test_real_python_code():
    with open(ast.__file__, encoding="utf-8") as file:
        tree = Tree.from_python(file.read())
    assert tree.size > 10_000
    assert Tree.from_brackets(str(tree)) == tree


def test_deep_objects():
    pair, labelled, code = "x", StanzaTree("x"), ast.Name("x")
    element = ElementTree.Element("x")
    nested = nltk.Tree("x", [])
    for _ in range(DEPTH):
        pair = ("a", [pair])
        labelled = StanzaTree("a", (labelled,))
        code = ast.UnaryOp(ast.USub(), code)
        outer = ElementTree.Element("a")
        outer.append(element)
        element = outer
        nested = nltk.Tree("a", [nested])
    expected = as_tree(pair)
    assert expected.height == DEPTH
    assert as_tree(labelled) == as_tree(element) == as_tree(nested) == expected
    assert as_tree(code).height == DEPTH + 1


@pytest.mark.parametrize("value", [None, 3, b"(A a)", ["a"], {"a": 1}, ("a", "b"), (1, []), ("a", [], []), object()])
def test_anything_else_is_one_clear_error(value):
    with pytest.raises(TypeError, match=r"as_tree converts bracketed text, .*__espalier_tree__"):
        as_tree(value)
    with pytest.raises(TypeError, match="as_dependency_tree converts"):
        as_dependency_tree(value)


def test_nothing_is_imported_for_it():
    import subprocess
    import sys

    code = (
        "import sys; from espalier.structures import as_tree; as_tree('(A a)'); "
        "print([m for m in ('nltk', 'lxml', 'spacy', 'stanza', 'pandas', 'polars', 'scipy')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_no_break_space_in_xml_is_text():
    tree = as_tree(ElementTree.fromstring("<p> <b>\u00a0</b>\n<i> a\u00a0</i></p>"))
    assert [node.label for node in tree] == ["p", "b", "\u00a0", "i", "a\u00a0"]
