"""Halves of surrogate pairs, which no file can hold: models refuse to learn what could not be saved."""

from __future__ import annotations

import pytest

import espalier as es
from espalier.errors import InputError
from espalier.parsing import DependencyParser, PerceptronTagger, Tagger

HALF = "ca\ud800t"
GOOD = es.DependencyTree(["cats", "sleep"], ["N", "V"], [2, 0], ["nsubj", "root"])


def tree(word: str = "cats", tag: str = "N", relation: str = "nsubj") -> es.DependencyTree:
    return es.DependencyTree([word, "sleep"], [tag, "V"], [2, 0], [relation, "root"])


@pytest.mark.parametrize(
    ("learn", "given", "what"),
    [
        (Tagger.from_sentences, tree(word=HALF), "word"),
        (Tagger.from_sentences, tree(tag=HALF), "tag"),
        (PerceptronTagger.from_sentences, tree(tag=HALF), "tag"),
        (DependencyParser.from_treebank, tree(word=HALF), "word"),
        (DependencyParser.from_treebank, tree(tag=HALF), "tag"),
        (DependencyParser.from_treebank, tree(relation=HALF), "relation"),
    ],
)
def test_what_could_not_be_saved_is_not_learned(learn, given, what):
    with pytest.raises(InputError, match=rf"Sentence 1 has the {what} 'ca.*t' with half of a surrogate pair, .* saved"):
        learn([GOOD, given])


def test_words_are_tagged_and_parsed_and_those_of_a_perceptron_learned(tmp_path):
    tagger = PerceptronTagger.from_sentences([GOOD, tree(word=HALF)])
    tagger.save(tmp_path / "tagger")
    words = [HALF, "sleep"]
    assert es.load(tmp_path / "tagger").tag(words) == tagger.tag(words)
    parser = DependencyParser.from_treebank([GOOD] * 3, bits=10)
    assert parser.parse(tagger.tag(words)[0].sequence)[0].tree.words == (HALF, "sleep")
