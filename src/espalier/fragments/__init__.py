"""Mining, vectorizing and selecting the features of a kernel space."""

from espalier.fragments.hashing import HashedFragments
from espalier.fragments.linearized import LinearizedTreeClassifier, primal_form
from espalier.fragments.mined import MinedFragments, MinedTerm, MiningProgress
from espalier.fragments.mining import mine_fragments
from espalier.fragments.vectorizer import FragmentVectorizer
from espalier.spaces import FragmentDictionary, PartialDictionary

__all__ = [
    "FragmentDictionary",
    "FragmentVectorizer",
    "HashedFragments",
    "LinearizedTreeClassifier",
    "MinedFragments",
    "MinedTerm",
    "MiningProgress",
    "PartialDictionary",
    "mine_fragments",
    "primal_form",
]
