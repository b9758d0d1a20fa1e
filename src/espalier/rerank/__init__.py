"""Kernels that choose: the best of several candidates, by combinations of trees."""

from espalier.rerank.candidates import jackknifed, propose
from espalier.rerank.compressed import CompressedModel
from espalier.rerank.perceptron import VotedPerceptron
from espalier.rerank.preference import GPPreference
from espalier.rerank.quality import quality
from espalier.rerank.ranking_svm import RankingSVM
from espalier.rerank.reranker import Reranker

__all__ = [
    "CompressedModel",
    "GPPreference",
    "RankingSVM",
    "Reranker",
    "VotedPerceptron",
    "jackknifed",
    "propose",
    "quality",
]
