"""Latent semantic analysis: words are similar if they occur in the same texts."""

from __future__ import annotations

import numpy as np

from espalier.blas import blas_threads
from espalier.corpus.sequences import Unit, as_sequences
from espalier.corpus.texts import check_words
from espalier.errors import InputError
from espalier.kernels.bag_of_words import Idf, symbol_counts
from espalier.kernels.embedding import Embedding
from espalier.structures.numbers import is_whole, whole_number


class LatentSemantic(Embedding):
    """The cosine of two words in the space of latent semantic analysis (Deerwester et al., 1990).

    Make one with :meth:`fit`, on a separate corpus or on the training data, never on the data to be predicted.
    """

    @staticmethod
    def fit(
        corpus: object,
        n_components: int = 100,
        *,
        of: Unit = "words",
        min_count: int = 2,
        clip: bool = False,
        power: int = 1,
    ) -> LatentSemantic:
        """Find the directions along which the words of a corpus differ most between its texts.

        Counts ``c`` of words in texts are weighed ``log(1 + c)`` times the inverse document frequency; texts have
        length 1. A word's vector is its row of the largest singular vectors times the singular values.

        Parameters
        ----------
        corpus
            Texts, lists of words, tagged sequences, trees or ``Sequences``.
        n_components
            How many dimensions to keep.
        of
            What a symbol is: ``"words"``, ``"characters"`` or ``"tags"``.
        min_count
            Words in fewer texts have no vector and match only themselves; otherwise two words that occur only in the
            same one text would be equal.
        clip, power
            As for :class:`Embedding`. By default cosines are not clipped, so they are always a kernel.

        Examples
        --------
        >>> texts = ["the cat sleeps", "a cat purrs", "the kitten sleeps", "a kitten purrs", "the tax rises", "a tax"]
        >>> similar = LatentSemantic.fit(texts, n_components=3)
        >>> bool(similar(["cat"], ["kitten"])[0, 0] > similar(["cat"], ["tax"])[0, 0])
        True
        """
        from scipy.sparse.linalg import svds

        min_count = whole_number("min_count", min_count)
        sequences = as_sequences(check_words(corpus), of)
        (table,), names = symbol_counts(sequences)
        idf = Idf.fit(sequences, of)
        kept = [k for k, name in enumerate(names) if idf.n_holding[name] >= min_count]
        smaller = min(len(sequences), len(kept))
        if not is_whole(n_components) or not 0 < n_components < smaller:
            raise InputError(
                f"n_components must be an integer below the number of texts ({len(sequences):,}) and of words in "
                f"{min_count} or more of them ({len(kept):,}), got {n_components!r}."
            )
        table.data = np.log1p(table.data) * np.array([idf(name) for name in names])[table.indices]
        length = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).reshape(-1))
        table.data /= np.repeat(length, np.diff(table.indptr))
        with blas_threads():
            columns = table.tocsc()[:, kept].astype(np.float64)
            _, sizes, found = svds(columns, int(n_components), v0=np.ones(smaller))
        vectors = found.T * sizes
        return LatentSemantic({names[k]: vectors[i] for i, k in enumerate(kept)}, clip=clip, power=power)
