"""Parsers that propose: grammars read off treebanks, and the k best parses of any sentence."""

from espalier.parsing.evaluation import Evaluation, evaluate, oracle
from espalier.parsing.grammar import Grammar
from espalier.parsing.lexicon import Lexicon, word_class
from espalier.parsing.pcfg import PCFG, Parse, Parses

__all__ = ["PCFG", "Evaluation", "Grammar", "Lexicon", "Parse", "Parses", "evaluate", "oracle", "word_class"]
