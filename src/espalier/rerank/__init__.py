"""Kernels that choose: the best of several candidates, by a combination of trees."""

from espalier.rerank.compressed import CompressedModel

__all__ = ["CompressedModel"]
