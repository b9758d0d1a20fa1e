"""Grammars and taggers take sound arrays alone, which nobody changes afterwards."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
from tests.unit.parsing.test_pcfg import TREES

from espalier.errors import InputError
from espalier.parsing import PCFG, Tagger
from espalier.parsing.grammar import MOST_UNARY_RULES, Grammar
from espalier.parsing.suffixes import SuffixLexicon

PARSER = PCFG.from_treebank(TREES)
TAGGER = Tagger.from_sentences(TREES)
WORDS = ["the", "cats", "saw", "dogs"]


def put(name, place, value):
    array = getattr(PARSER.grammar, name).copy()
    array[place] = value
    return {name: array}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: put("binary", (0, 0), 10_000), "symbol of a binary rule is out of range"),
        (lambda: put("unary", (0, 1), -1), "symbol of a unary rule is out of range"),
        (lambda: put("binary_weight", 0, np.nan), "no log probability"),
        (lambda: put("unary_weight", 0, 1.0), "no log probability"),
        (lambda: {"binary": PARSER.grammar.binary[1:]}, "binary has no rules"),
        (lambda: {"binary": PARSER.grammar.binary.astype(np.int64)}, "of another kind"),
        (lambda: {"root": 10_000}, "root is out of range"),
        (lambda: {"n_prefixes": 2**29}, "n_prefixes is out of range"),
        (lambda: {"max_unary": 10**6}, "max_unary is out of range"),
        (lambda: put("unary", 1, PARSER.grammar.unary[0]), "a unary rule is listed twice"),
    ],
)
def test_a_grammar_of_unsound_arrays_is_refused(change, message):
    with pytest.raises(InputError, match=f"These arrays are no grammar: .*{message}"):
        replace(PARSER.grammar, **change())


def test_a_million_unary_rules_are_refused():
    n = 1000
    pairs = np.stack(np.divmod(np.arange(10**6), n), axis=1).astype(np.int32)
    with pytest.raises(InputError, match=f"1,000,000 unary rules, and {MOST_UNARY_RULES:,} are possible"):
        Grammar(tuple(map(str, range(n))), 0, 0, np.zeros((0, 3), np.int32), np.zeros(0), pairs, np.full(10**6, -9.0))


def test_neither_a_grammar_nor_a_parser_can_be_changed():
    grammar = PARSER.grammar
    arrays = [getattr(grammar, own.name) for own in fields(grammar)] + list(grammar.arrays.values())
    for array in arrays:
        if isinstance(array, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                array[:1] = 10_000
    grammar.arrays["root"] = 10_000
    assert grammar.arrays["root"] == grammar.root
    for name in ("grammar", "lexicon", "labels"):
        with pytest.raises(AttributeError):
            setattr(PARSER, name, None)
    with pytest.raises(InputError, match="1 labels do not fit"):
        PCFG(grammar, PARSER.lexicon, ["S"])


def test_parsers_and_taggers_survive_pickles_and_copies():
    PARSER.parse(WORDS, 2, coarse=5.0)  # so that what it keeps to itself is there
    for again in (pickle.loads(pickle.dumps(PARSER)), copy.copy(PARSER), copy.deepcopy(PARSER)):
        assert again.parse(WORDS, 5) == PARSER.parse(WORDS, 5) and again.labels == PARSER.labels
        assert not again.grammar.binary.flags.writeable
    for again in (pickle.loads(pickle.dumps(TAGGER)), copy.copy(TAGGER), copy.deepcopy(TAGGER)):
        assert again.tag(WORDS, 3) == TAGGER.tag(WORDS, 3)
        assert not again.trigrams.flags.writeable
    maker, arguments = PARSER.grammar.__reduce__()
    with pytest.raises(InputError, match="no grammar"):
        maker(*arguments[:3], arguments[3] + np.int32(1000), *arguments[4:])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda t: (t.tags[:-1], t.trigrams, t.lexicon), "a cube of int64"),
        (lambda t: (t.tags, t.trigrams.astype(float), t.lexicon), "a cube of int64"),
        (lambda t: (t.tags, -t.trigrams, t.lexicon), "a tag was never seen"),
        (lambda t: (t.tags, t.trigrams * 0, t.lexicon), "a tag was never seen"),
        (lambda t: ((), t.trigrams, t.lexicon), "0 tags"),
        (lambda t: (t.tags, t.trigrams, SuffixLexicon(len(t.tags) + 1, {})), "the lexicon has"),
    ],
)
def test_a_tagger_of_unsound_counts_is_refused(arguments, message):
    with pytest.raises(InputError, match=f"no tagger: .*{message}"):
        Tagger(*arguments(TAGGER))


def test_a_tagger_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        TAGGER.trigrams[0] = 1
    for name in ("tags", "trigrams", "lexicon"):
        with pytest.raises(AttributeError):
            setattr(TAGGER, name, None)
