"""The features that kernels count: how to search, list, name, locate, weigh and save them."""

from espalier.spaces.fragment_dictionary import FragmentDictionary
from espalier.spaces.ngrams import Ngram, NgramDictionary
from espalier.spaces.partial import PartialDictionary
from espalier.spaces.space import Feature, Space
from espalier.spaces.terms import SPACES, Term, listable_terms, parts_of

__all__ = [
    "SPACES",
    "Feature",
    "FragmentDictionary",
    "Ngram",
    "NgramDictionary",
    "PartialDictionary",
    "Space",
    "Term",
    "listable_terms",
    "parts_of",
]
