"""Parsers and taggers: grammars learned from treebanks, and the k best parses or taggings of any sentence."""

from espalier.parsing.attachment import Attachment, evaluate_attachment
from espalier.parsing.bootstrap import PairedDifference, paired_bootstrap
from espalier.parsing.dependency_parser import DependencyParser
from espalier.parsing.evaluation import Evaluation, evaluate, oracle, tag_accuracy
from espalier.parsing.grammar import Grammar
from espalier.parsing.jackknife import jackknifed_taggings, jackknifed_tags
from espalier.parsing.kbest import DependencyParse, KBest, Parse, Proposer, Tagged
from espalier.parsing.lexicon import Lexicon, word_class
from espalier.parsing.pcfg import PCFG
from espalier.parsing.perceptron_tagger import PerceptronTagger
from espalier.parsing.tagger import Tagger
from espalier.parsing.treebank import is_tagged, plain

__all__ = [
    "PCFG",
    "Attachment",
    "DependencyParse",
    "DependencyParser",
    "Evaluation",
    "Grammar",
    "KBest",
    "Lexicon",
    "PairedDifference",
    "Parse",
    "PerceptronTagger",
    "Proposer",
    "Tagged",
    "Tagger",
    "evaluate",
    "evaluate_attachment",
    "is_tagged",
    "jackknifed_taggings",
    "jackknifed_tags",
    "oracle",
    "paired_bootstrap",
    "plain",
    "tag_accuracy",
    "word_class",
]
