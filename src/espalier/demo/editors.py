"""Several editors correct the same translations: related targets, of which some may be missing.

Every editor is slowed down by what makes the translation hard, but not by everything in the same way: an editor
multiplies the ``COSTS`` of ``translations`` by weights. Editors also differ in speed and in noise.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from espalier.demo.translations import BASE, COSTS, difficulties, generate_translations
from espalier.structures.numbers import finite_number
from espalier.structures.table import Table


@dataclass(frozen=True)
class Editor:
    """How one editor differs from the plain one, whose logarithm of seconds is the sum of all costs."""

    speed: float = 0.0  # added to the logarithm of the seconds
    noise: float = 0.2  # the standard deviation of the logarithm
    weights: Mapping[str, float] = field(default_factory=dict)  # of costs; 1 for those without

    def expected(self, counts: Mapping[str, float]) -> float:
        """Return the logarithm of the seconds per word, without noise."""
        return BASE + self.speed + sum(COSTS[name] * n * self.weights.get(name, 1.0) for name, n in counts.items())


EDITORS = {
    "ann": Editor(),
    "ben": Editor(speed=0.3, noise=0.6),
    "eva": Editor(speed=-0.2, weights={"passive": 2.0, "object": 0.5}),
    "tom": Editor(speed=0.1, weights=dict.fromkeys(COSTS, -0.5)),  # a learner, who slows down where it is easy
}
"""Ben is as slowed as Ann, but erratic; Eva minds passives more; for Tom the order is turned around."""


def generate_editors(n: int, seed: int = 0, *, known: float = 1.0) -> Table:
    """Draw ``n`` translations with the seconds per word that each of four editors needs for correcting them.

    The columns are those of :func:`generate_translations` without ``seconds``, and one for each editor. An editor has
    corrected a sentence with the probability ``known``; the other seconds are NaN. The same seed gives the same table.

    Examples
    --------
    >>> table = generate_editors(50, seed=1, known=0.5)
    >>> table.columns
    ('source', 'target', 'features', 'ann', 'ben', 'eva', 'tom')
    >>> [int(np.isnan(table[name]).sum()) for name in EDITORS]
    [23, 25, 27, 23]
    """
    finite_number("known", known, zero=True)
    sentences = generate_translations(n, seed)
    rng = random.Random(f"editors {seed}")
    seconds = np.empty((n, len(EDITORS)))
    for row, sentence in enumerate(sentences):
        counts = difficulties(sentence["source"], sentence["target"], sentence["features"])
        for column, editor in enumerate(EDITORS.values()):
            value = editor.expected(counts) + editor.noise * rng.gauss(0, 1)
            seconds[row, column] = np.exp(value) if rng.random() < known else np.nan
    named = dict(zip(EDITORS, seconds.T, strict=True))
    return Table({name: sentences[name] for name in ("source", "target", "features")} | named)
