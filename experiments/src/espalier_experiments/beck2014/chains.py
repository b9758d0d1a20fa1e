r"""Sentences as chains of tags: the probability of a whole tagging, given a score for each token and tag.

.. math:: p(y \mid f, g) = \frac{1}{Z} \exp\Big(\sum_t f_{t, y_t} + \sum_t g_{y_{t-1}, y_t}\Big)

The tag before the first is one more row of :math:`g`. All sentences are computed at once, position by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Chains:
    """Sentences of different lengths, the longest first; tokens are numbered through all sentences."""

    starts: Indices  # the first token of each sentence
    lengths: Indices
    n_tags: int

    @staticmethod
    def of(lengths: Sequence[int], n_tags: int) -> Chains:
        """Chains of these lengths, whose tokens follow each other."""
        own = np.asarray(lengths, np.intp)
        order = np.argsort(-own, kind="stable")
        return Chains((np.cumsum(own) - own)[order], own[order], n_tags)

    def log_probability(self, f: Matrix, g: Matrix, tags: Indices) -> float:
        """The log probability of the tags of all tokens."""
        return self.height(f, g, tags) - float(self._forward(f, g)[1].sum())

    def height(self, f: Matrix, g: Matrix, tags: Indices) -> float:
        """The sum of the scores of one tagging of each sentence."""
        return float(f[np.arange(len(tags)), tags].sum() + g[self._before(tags), tags].sum())

    def marginals(self, f: Matrix, g: Matrix) -> tuple[Matrix, Matrix]:
        """The probability of each tag at each token, and the expected number of each pair of neighbours."""
        alphas, totals = self._forward(f, g)
        inner, largest = np.exp(g[:-1] - g[:-1].max()), float(g[:-1].max())
        single, pairs = np.zeros(f.shape), np.zeros(g.shape)
        beta = np.zeros((0, self.n_tags))
        for t in range(len(alphas) - 1, -1, -1):
            n = len(alphas[t])
            beta = np.concatenate([beta, np.zeros((n - len(beta), self.n_tags))])
            rows = self.starts[:n] + t
            own = np.exp(alphas[t] + beta - totals[:n, None])
            single[rows] = own
            if t == 0:
                pairs[-1] = own.sum(axis=0)
                break
            later = f[rows] + beta
            top = later.max(axis=1, keepdims=True)
            follows = np.exp(later - top)
            earlier = alphas[t - 1][:n]
            scale = np.exp(earlier + top - totals[:n, None] + largest)
            pairs[:-1] += inner * (scale.T @ follows)
            beta = np.log(follows @ inner.T) + top + largest
        return single, pairs

    def observed_pairs(self, tags: Indices) -> Matrix:
        """How often each pair of neighbours occurs in a tagging."""
        out = np.zeros((self.n_tags + 1, self.n_tags))
        np.add.at(out, (self._before(tags), tags), 1.0)
        return out

    def _before(self, tags: Indices) -> Indices:
        """The tag before each token; ``n_tags`` at the start of a sentence."""
        before = np.concatenate([[0], tags[:-1]])
        before[self.starts] = self.n_tags
        return before

    def _forward(self, f: Matrix, g: Matrix) -> tuple[list[Matrix], Matrix]:
        """The log of the summed weights of all beginnings, by position, and of all taggings of each sentence."""
        inner, largest = np.exp(g[:-1] - g[:-1].max()), float(g[:-1].max())
        alpha = g[-1] + f[self.starts]
        alphas = [alpha]
        totals = np.empty(len(self.starts))
        for t in range(1, int(self.lengths[0]) + 1):
            n = int(np.searchsorted(-self.lengths, -t, side="left"))  # sentences of more than t tokens
            top = alpha.max(axis=1, keepdims=True)
            weight = np.exp(alpha - top)
            totals[n : len(alpha)] = np.log(weight[n:].sum(axis=1)) + top[n:, 0]
            if n == 0:
                break
            alpha = np.log(weight[:n] @ inner) + top[:n] + largest + f[self.starts[:n] + t]
            alphas.append(alpha)
        return alphas, totals
