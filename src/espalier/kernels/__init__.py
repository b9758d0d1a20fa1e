"""What counts as similar: kernels as values, composed with + and *."""

from espalier.kernels.algebra import Constant, Power, Product, Scaled, Sum
from espalier.kernels.bag_of_words import BagOfWords, Idf, Spectrum
from espalier.kernels.base import Kernel, Plan
from espalier.kernels.dependency_subtree import DependencySubtree
from espalier.kernels.hyperparameters import Learned, PerDimension, PerLabel, fixed, hyperparameter, number_of
from espalier.kernels.normalized import Normalized
from espalier.kernels.partial_tree import PartialTree
from espalier.kernels.precomputed import Precomputed
from espalier.kernels.radial import Radial
from espalier.kernels.stationary import RBF, Matern
from espalier.kernels.subsequence import Subsequence
from espalier.kernels.subset_tree import SubsetTree, Subtree
from espalier.kernels.tagging import Tagging
from espalier.kernels.vectors import Linear, Polynomial

__all__ = [
    "RBF",
    "BagOfWords",
    "Constant",
    "DependencySubtree",
    "Idf",
    "Kernel",
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
    "Spectrum",
    "Subsequence",
    "SubsetTree",
    "Subtree",
    "Sum",
    "Tagging",
    "fixed",
    "hyperparameter",
    "number_of",
]
