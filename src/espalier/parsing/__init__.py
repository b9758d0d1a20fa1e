"""Parsers and taggers: grammars learned from treebanks, and the k best parses or taggings of any sentence."""

from espalier.parsing.evaluation import Evaluation, evaluate, oracle, tag_accuracy
from espalier.parsing.grammar import Grammar
from espalier.parsing.kbest import KBest, Parse, Proposer, Tagged
from espalier.parsing.lexicon import Lexicon, word_class
from espalier.parsing.pcfg import PCFG
from espalier.parsing.tagger import Tagger
from espalier.parsing.treebank import is_tagged, plain

__all__ = [
    "PCFG",
    "Evaluation",
    "Grammar",
    "KBest",
    "Lexicon",
    "Parse",
    "Proposer",
    "Tagged",
    "Tagger",
    "evaluate",
    "is_tagged",
    "oracle",
    "plain",
    "tag_accuracy",
    "word_class",
]
