"""Interned corpora: vocabularies and hash-consed forests."""

from espalier.corpus.arcs import Arcs
from espalier.corpus.describe import ForestDescription
from espalier.corpus.forest import Forest, concatenate
from espalier.corpus.graphs import Graphs
from espalier.corpus.sequences import Sequences
from espalier.corpus.vocabulary import Vocabulary

__all__ = ["Arcs", "Forest", "ForestDescription", "Graphs", "Sequences", "Vocabulary", "concatenate"]
