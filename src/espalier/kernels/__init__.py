"""What counts as similar: kernels as values, composed with + and *."""

from espalier.kernels.algebra import Constant, Power, Product, Scaled, Sum
from espalier.kernels.bag_of_words import BagOfWords, Idf, Spectrum
from espalier.kernels.base import Kernel, Plan
from espalier.kernels.dependency_subtree import DependencySubtree
from espalier.kernels.embedding import Embedding
from espalier.kernels.hyperparameters import Learned, PerDimension, PerLabel, fixed, hyperparameter, number_of
from espalier.kernels.latent_semantic import LatentSemantic
from espalier.kernels.normalized import Normalized
from espalier.kernels.partial_tree import PartialTree
from espalier.kernels.precomputed import Precomputed
from espalier.kernels.radial import Radial
from espalier.kernels.similarity import Exact, Similarity, SimilarityTable, Thresholded
from espalier.kernels.smoothed_partial_tree import SmoothedPartialTree
from espalier.kernels.stationary import RBF, Matern
from espalier.kernels.subsequence import Subsequence
from espalier.kernels.subset_tree import SubsetTree, Subtree
from espalier.kernels.tagging import Tagging
from espalier.kernels.vectors import Linear, Polynomial
from espalier.kernels.weisfeiler_lehman import WeisfeilerLehman
from espalier.kernels.wordnet import WordNet

__all__ = [
    "RBF",
    "BagOfWords",
    "Constant",
    "DependencySubtree",
    "Embedding",
    "Exact",
    "Idf",
    "Kernel",
    "LatentSemantic",
    "Learned",
    "Linear",
    "Matern",
    "Normalized",
    "PartialTree",
    "PerDimension",
    "PerLabel",
    "Plan",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "Radial",
    "Scaled",
    "Similarity",
    "SimilarityTable",
    "SmoothedPartialTree",
    "Spectrum",
    "Subsequence",
    "SubsetTree",
    "Subtree",
    "Sum",
    "Tagging",
    "Thresholded",
    "WeisfeilerLehman",
    "WordNet",
    "fixed",
    "hyperparameter",
    "number_of",
]
