"""The modules of the classes whose objects a file may hold: only names, imported when a file needs them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from espalier.errors import InputError

_ROOMS = {
    "espalier.structures": ("DependencyTree", "Graph", "TaggedSequence", "Tree"),
    "espalier.bayes": ("Draws", "Marginalized"),
    "espalier.corpus": ("Arcs", "Forest", "Graphs", "Sequences", "Vocabulary"),
    "espalier.parsing": ("DependencyParser", "PCFG", "PerceptronTagger", "Tagger"),
    "espalier.kernels": (
        *("BagOfWords", "Constant", "Coregion", "DependencySubtree", "EasyAdapt", "Embedding", "Exact", "Idf"),
        *("LatentSemantic", "Learned", "Linear", "Matern", "Normalized", "PartialTree", "PerDimension", "PerLabel"),
        *("Polynomial", "Power"),
        *("Precomputed", "Product", "RBF", "Radial", "Scaled", "SimilarityTable", "SmoothedPartialTree", "Spectrum"),
        *("Subsequence", "SubsetTree", "Subtree", "Sum", "Tagging", "Thresholded", "WeisfeilerLehman", "WordNet"),
    ),
    "espalier.kernels.hyperparameters": ("Fixed",),
    "espalier.kernels.order_weights": ("OrderWeights",),
    "espalier.kernels.expressions": ("KernelText",),
    "espalier.gp": (
        *("AroundCommon", "Beta", "BoxCox", "ConstantMean", "Gamma", "GPClassifier", "GPOrdinal", "GPRegressor"),
        *("HalfNormal", "Inducing", "LinearMean", "Log", "LogNormal", "Ordinal", "SquareRoot", "Warping"),
    ),
    "espalier.gp.learned": ("LearnedRow",),
    "espalier.gp.transforms": ("Transform",),
    "espalier.svm": ("KernelGridSearch", "KernelSVC", "KernelSVR"),
    "espalier.rerank": ("FeatureReranker", "GPPreference", "RankingSVM", "Reranker", "VotedPerceptron"),
    "espalier.selection": ("KernelSpaceSelector",),
    "espalier.spaces.selected": ("SelectedFeatures",),
    "espalier.fragments": ("FragmentVectorizer", "HashedFragments", "LinearizedTreeClassifier"),
}
HOMES = {name: room for room, names in _ROOMS.items() for name in names}


def class_of(kind: str) -> type[Any]:
    """The class of this name; a ``KeyError`` if files hold no such objects."""
    found: type[Any] = getattr(import_module(HOMES[kind]), kind)
    return found


def kind_of(value: object) -> str:
    """The name under which a file holds an object of this class; raise if it cannot be saved."""
    name = type(value).__name__
    if name not in HOMES or not type(value).__module__.startswith("espalier."):
        raise InputError(
            f"{name} is not a class that Espalier can save: {value!r:.100}. A file holds no code, so a "
            "kernel, prior or other object of your own cannot be saved. Keep the code that makes it."
        )
    return name
