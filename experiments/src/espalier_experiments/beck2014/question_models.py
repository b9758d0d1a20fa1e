"""The kernels of question classification: one for each view of a question, and sums and products of them.

A model is a sum of terms, a term a product of views. Each view says which kernel is learned by a Gaussian process, from
where, and which kernels a grid search tries; so another similarity is one more entry in ``VIEWS``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from itertools import product
from operator import add, mul
from typing import Literal

from espalier.kernels import (
    BagOfWords,
    Kernel,
    LatentSemantic,
    Normalized,
    PartialTree,
    PerLabel,
    Scaled,
    Similarity,
    SmoothedPartialTree,
    Spectrum,
    Subsequence,
    SubsetTree,
    Sum,
    Tagging,
    WordNet,
    fixed,
    number_of,
)
from espalier.structures import Table
from espalier_experiments.beck2014.lexical import Lexical

Unit = Literal["words", "characters", "tags"]
Soft = Literal["leaves", "all"]

N_COMPONENTS = 200  # of latent semantic analysis
WEIGHT = 0.1  # where the sum of a model's weights starts: about the variance of a class's targets


@dataclass(frozen=True)
class View:
    """One way to compare questions.

    Parameters
    ----------
    start
        The kernel whose values a Gaussian process learns from here; it is given the training questions, from which
        similarities may be fitted.
    grid
        The kernels that a grid search tries; the start alone where None.
    once
        Whether a matrix takes minutes, so that it is computed at the start's values only.
    """

    start: Callable[[Table], Kernel]
    grid: tuple[Kernel, ...] | None = None
    once: bool = False


def _subsequence(on: str, of: Unit, gap: float = 0.5, match: float = 0.5, length: int = 4) -> Subsequence:
    # Weights of lengths would say the same as the match decay once more.
    return Subsequence(length, gap, match, order_weights=fixed(1.0), of=of, on=on)


def _subsequences(on: str, of: Unit, *, gaps: Sequence[float], matches: Sequence[float]) -> View:
    grid = tuple(_subsequence(on, of, gap, match) for gap, match in product(gaps, matches))
    return View(lambda train: _subsequence(on, of), grid)


def _partial(on: str) -> View:
    grid = tuple(PartialTree(*decays, on=on) for decays in ((0.4, 0.4), (0.4, 0.2), (0.2, 0.4)))
    return View(lambda train: PartialTree(on=on), grid)


def _subset(on: str, *, lone_leaves: bool = False) -> View:
    grid = tuple(SubsetTree(decay, lone_leaves=lone_leaves, on=on) for decay in (0.1, 0.2, 0.4))
    return View(lambda train: SubsetTree(0.2, lone_leaves=lone_leaves, on=on), grid)


def _soft(similarity: Callable[[Table], Similarity]) -> View:
    """Subsequences of words that match softly; their decays stay as they are, for a matrix takes more than a minute."""
    hard = Subsequence(3, fixed(0.5), fixed(0.7), order_weights=fixed(1.0), on="words")
    return View(lambda train: replace(hard, similarity=similarity(train)), once=True)


def _soft_trees(on: str, soft: Soft, similarity: Callable[[Table], Similarity]) -> View:
    """Partial trees of dependencies whose words match softly, computed once as well."""
    return View(lambda train: SmoothedPartialTree(similarity(train), soft=soft, on=on), once=True)


def _latent(words: Sequence[Sequence[str]]) -> LatentSemantic:
    return LatentSemantic.fit(words, min(N_COMPONENTS, len(words) // 4))


def _latent_lemmas(train: Table) -> LatentSemantic:
    """Latent semantic analysis of the labels of words, which are the leaves of one form of dependencies."""
    return _latent([tree.words() for tree in train["grct"]])


VIEWS: dict[str, View] = {
    "words": View(lambda train: BagOfWords(on="words")),
    "word bigrams": View(lambda train: Spectrum(2, on="words")),
    "word subsequences": _subsequences("words", "words", gaps=(0.3, 0.6), matches=(0.5, 1.0)),
    "word subsequences, LSA": _soft(lambda train: _latent(train["words"])),
    "word subsequences, WordNet": _soft(lambda train: WordNet(power=3)),
    "character n-grams": View(
        lambda train: Spectrum(5, 2, order_weights=1.0, of="characters", on="text"),
        tuple(Spectrum(length, 2, of="characters", on="text") for length in (4, 5)),
    ),
    "character subsequences": View(lambda train: _subsequence("text", "characters"), once=True),
    "tag subsequences": _subsequences("tagged", "tags", gaps=(0.5,), matches=(0.5, 1.0)),
    "tagged words": View(
        lambda train: Tagging(on="tagged"), tuple(Tagging(0.5, weight, on="tagged") for weight in (1.0, 4.0))
    ),
    "constituents, subset trees": _subset("tree"),
    "constituents, subset trees by label": View(
        lambda train: SubsetTree(PerLabel(0.2, prior=None), on="tree"), _subset("tree").grid
    ),
    "constituents, partial trees": _partial("tree"),
    "GRCT, subset trees": _subset("grct", lone_leaves=True),
    "GRCT, partial trees": _partial("grct"),
    "LCT, partial trees": _partial("lct"),
    "LOCT, partial trees": _partial("loct"),
    "GRCT, partial trees, WordNet": _soft_trees("grct", "leaves", lambda train: Lexical(WordNet(power=3))),
    "LCT, partial trees, WordNet": _soft_trees("lct", "all", lambda train: Lexical(WordNet(power=3))),
    "LOCT, partial trees, WordNet": _soft_trees("loct", "all", lambda train: Lexical(WordNet(power=3))),
    "LOCT, partial trees, LSA": _soft_trees("loct", "all", _latent_lemmas),
}

_STRINGS = ("words", "word subsequences", "character n-grams", "tagged words")
_CONSTITUENTS = ("constituents, subset trees", "constituents, partial trees")
_DEPENDENCIES = ("GRCT, partial trees", "LCT, partial trees", "LOCT, partial trees")
_SOFT_STRINGS = ("word subsequences, LSA", "word subsequences, WordNet")
_SOFT_TREES = (
    "GRCT, partial trees, WordNet",
    "LCT, partial trees, WordNet",
    "LOCT, partial trees, WordNet",
    "LOCT, partial trees, LSA",
)
_FEW = ("character n-grams", "constituents, subset trees", "GRCT, partial trees", "LOCT, partial trees")

Term = tuple[str, ...]  # the views that are multiplied


def _terms(*names: str | Term) -> tuple[Term, ...]:
    return tuple((name,) if isinstance(name, str) else name for name in names)


# Each model is a sum over its terms.
MODELS: dict[str, tuple[Term, ...]] = {
    **{name: _terms(name) for name in VIEWS},
    "prototype: both subset trees + words + bigrams": _terms(
        "constituents, subset trees", "GRCT, subset trees", "words", "word bigrams"
    ),
    "words + subset trees": _terms("words", "constituents, subset trees"),
    "words x subset trees": _terms(("words", "constituents, subset trees")),
    "strings": _terms(*_STRINGS),
    "constituents + dependencies": _terms(*_CONSTITUENTS, *_DEPENDENCIES),
    "strings + trees": _terms(*_STRINGS, *_CONSTITUENTS, *_DEPENDENCIES),
    "characters + trees": _terms(*_FEW),
    "LSA + characters + trees": _terms("word subsequences, LSA", *_FEW),
    "WordNet + characters + trees": _terms("word subsequences, WordNet", *_FEW),
    "LSA + WordNet + characters + trees + products": _terms(
        *_SOFT_STRINGS,
        *_FEW,
        ("word subsequences, WordNet", "constituents, subset trees"),
        ("word subsequences, WordNet", "word subsequences, LSA"),
        ("word subsequences, LSA", "constituents, subset trees"),
    ),
    "soft strings + soft trees": _terms(*_SOFT_STRINGS, "constituents, subset trees", *_SOFT_TREES),
}


def named(term: Term) -> str:
    """A term in words."""
    return " x ".join(term)


def is_possible(model: str) -> bool:
    """Whether all that a model needs is there."""
    return has_wordnet() or not any("WordNet" in name for term in MODELS[model] for name in term)


@cache
def has_wordnet() -> bool:
    """Whether WordNet's files are found, which are not part of the project."""
    try:
        WordNet()
    except FileNotFoundError:
        return False
    return True


def kernel_of_view(view: str, train: Table) -> Kernel:
    """The normalised kernel of a view at its start."""
    return Normalized(VIEWS[view].start(train))


def start_of(model: str, kernel_of: Callable[[str], Kernel], weight: float = WEIGHT) -> Kernel:
    """The kernel of a model before it is learned: all terms with equal weights; each view's kernel is asked for."""
    terms = MODELS[model]
    return reduce(add, [(weight / len(terms)) * _product(term, kernel_of) for term in terms])


def grid_of(model: str, kernel_of: Callable[[str], Kernel]) -> list[Kernel]:
    """The kernels that a grid search tries: those of the view, or all terms at their starts with equal weights."""
    terms = MODELS[model]
    grid = VIEWS[terms[0][0]].grid
    if len(terms) == 1 == len(terms[0]) and grid is not None:
        return [Normalized(kernel) for kernel in grid]
    return [reduce(add, [_product(term, kernel_of) for term in terms])]


def weights_of(kernel: Kernel) -> list[float]:
    """The weight of each term of a learned kernel."""
    terms = kernel.terms if isinstance(kernel, Sum) else (kernel,)
    return [float(number_of(term.scale)) if isinstance(term, Scaled) else 1.0 for term in terms]


def _product(term: Term, kernel_of: Callable[[str], Kernel]) -> Kernel:
    return reduce(mul, [kernel_of(name) for name in term])
