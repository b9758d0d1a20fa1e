"""Kernels that choose: the best of several candidates, by combinations of trees."""

from espalier.rerank.compressed import CompressedModel
from espalier.rerank.perceptron import VotedPerceptron

__all__ = ["CompressedModel", "VotedPerceptron"]
