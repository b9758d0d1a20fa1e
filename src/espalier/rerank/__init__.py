"""Learners with kernels that choose the best of several candidates, such as the parses of a sentence."""

from espalier.rerank.candidates import jackknifed, propose
from espalier.rerank.chooser import SCORE_SHARES, Chooser, spread
from espalier.rerank.compressed import CompressedModel
from espalier.rerank.features import FeatureReranker
from espalier.rerank.perceptron import VotedPerceptron
from espalier.rerank.preference import GPPreference
from espalier.rerank.quality import best_candidate, evaluate_choices, quality
from espalier.rerank.ranking_svm import RankingSVM
from espalier.rerank.reranker import Reranker
from espalier.rerank.score_weights import score_weights, summed_scores

__all__ = [
    "SCORE_SHARES",
    "Chooser",
    "CompressedModel",
    "FeatureReranker",
    "GPPreference",
    "RankingSVM",
    "Reranker",
    "VotedPerceptron",
    "best_candidate",
    "evaluate_choices",
    "jackknifed",
    "propose",
    "quality",
    "score_weights",
    "spread",
    "summed_scores",
]
