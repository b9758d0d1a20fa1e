"""Mining, vectorizing and selecting the features of a kernel space."""

from espalier.fragments.dictionary import FragmentDictionary
from espalier.fragments.mined import MinedFragments, MinedTerm, MiningProgress
from espalier.fragments.mining import mine_fragments

__all__ = ["FragmentDictionary", "MinedFragments", "MinedTerm", "MiningProgress", "mine_fragments"]
