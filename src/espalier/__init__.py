"""Espalier: learning from trees, sequences and vectors with structural kernels.

``import espalier as es``. Text, files and objects of other libraries become structures; structures are interned
in corpora; kernels compare them. See README.md for a first example and ARCHITECTURE.md for the map.
"""

from typing import TYPE_CHECKING

from espalier._lazy import load_on_use
from espalier.corpus import Arcs, Forest, ForestDescription, Graphs, Sequences, Vocabulary, concatenate
from espalier.errors import (
    InputError,
    KernelOverflowError,
    MemoryBudgetError,
    MissingDependencyError,
    TreeSyntaxError,
    VocabularyMismatchError,
)
from espalier.gram import gram, nearest
from espalier.kernels import (
    RBF,
    BagOfWords,
    Constant,
    DependencySubtree,
    Embedding,
    Exact,
    Idf,
    Kernel,
    LatentSemantic,
    Learned,
    Linear,
    Matern,
    Normalized,
    PartialTree,
    PerDimension,
    PerLabel,
    Polynomial,
    Power,
    Precomputed,
    Product,
    Radial,
    Scaled,
    Similarity,
    SimilarityTable,
    SmoothedPartialTree,
    Spectrum,
    Subsequence,
    SubsetTree,
    Subtree,
    Sum,
    Tagging,
    Thresholded,
    WeisfeilerLehman,
    WordNet,
    fixed,
    hyperparameter,
    number_of,
)
from espalier.structures import (
    DependencyTree,
    Graph,
    Table,
    TaggedSequence,
    Tree,
    as_dependency_tree,
    as_tree,
    read_brackets,
    write_brackets,
)

if TYPE_CHECKING:
    from espalier.explain import (
        Explanation,
        explain,
        plot_calibration,
        plot_learned,
        plot_predictions,
        plot_restarts,
        shared_fragments,
    )
    from espalier.fragments import FragmentVectorizer, HashedFragments, LinearizedTreeClassifier, mine_fragments
    from espalier.gp import (
        Beta,
        BoxCox,
        ConstantMean,
        Gamma,
        GPRegressor,
        HalfNormal,
        LinearMean,
        Log,
        LogNormal,
        SquareRoot,
        Warping,
        compare,
    )
    from espalier.structures import (
        Fragment,
        read_conllu,
        read_klp,
        read_table,
        side_by_side,
        tree_svg,
        tree_text,
    )
    from espalier.svm import KernelGridSearch, KernelSVC, KernelSVR

__version__ = "0.1.0"

__all__ = [
    "RBF",
    "Arcs",
    "BagOfWords",
    "Beta",
    "BoxCox",
    "Constant",
    "ConstantMean",
    "DependencySubtree",
    "DependencyTree",
    "Embedding",
    "Exact",
    "Explanation",
    "Forest",
    "ForestDescription",
    "Fragment",
    "FragmentVectorizer",
    "GPRegressor",
    "Gamma",
    "Graph",
    "Graphs",
    "HalfNormal",
    "HashedFragments",
    "Idf",
    "InputError",
    "Kernel",
    "KernelGridSearch",
    "KernelOverflowError",
    "KernelSVC",
    "KernelSVR",
    "LatentSemantic",
    "Learned",
    "Linear",
    "LinearMean",
    "LinearizedTreeClassifier",
    "Log",
    "LogNormal",
    "Matern",
    "MemoryBudgetError",
    "MissingDependencyError",
    "Normalized",
    "PartialTree",
    "PerDimension",
    "PerLabel",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "Radial",
    "Scaled",
    "Sequences",
    "Similarity",
    "SimilarityTable",
    "SmoothedPartialTree",
    "Spectrum",
    "SquareRoot",
    "Subsequence",
    "SubsetTree",
    "Subtree",
    "Sum",
    "Table",
    "TaggedSequence",
    "Tagging",
    "Thresholded",
    "Tree",
    "TreeSyntaxError",
    "Vocabulary",
    "VocabularyMismatchError",
    "Warping",
    "WeisfeilerLehman",
    "WordNet",
    "as_dependency_tree",
    "as_tree",
    "compare",
    "concatenate",
    "explain",
    "fixed",
    "gram",
    "hyperparameter",
    "mine_fragments",
    "nearest",
    "number_of",
    "plot_calibration",
    "plot_learned",
    "plot_predictions",
    "plot_restarts",
    "read_brackets",
    "read_conllu",
    "read_klp",
    "read_table",
    "shared_fragments",
    "side_by_side",
    "tree_svg",
    "tree_text",
    "write_brackets",
]

__getattr__ = load_on_use(
    __name__,
    dict.fromkeys(
        ["Fragment", "read_conllu", "read_klp", "read_table", "side_by_side", "tree_svg", "tree_text"],
        "espalier.structures",
    )
    | dict.fromkeys(
        [
            "Explanation",
            "explain",
            "plot_calibration",
            "plot_learned",
            "plot_predictions",
            "plot_restarts",
            "shared_fragments",
        ],
        "espalier.explain",
    )
    | dict.fromkeys(["KernelGridSearch", "KernelSVC", "KernelSVR"], "espalier.svm")
    | dict.fromkeys(
        ["FragmentVectorizer", "HashedFragments", "LinearizedTreeClassifier", "mine_fragments"], "espalier.fragments"
    )
    | dict.fromkeys(
        [
            "Beta",
            "BoxCox",
            "ConstantMean",
            "GPRegressor",
            "Gamma",
            "HalfNormal",
            "LinearMean",
            "Log",
            "LogNormal",
            "SquareRoot",
            "Warping",
            "compare",
        ],
        "espalier.gp",
    ),
)


def __dir__() -> list[str]:
    return sorted([*__all__, "__all__", "__doc__", "__file__", "__name__", "__path__", "__version__"])
