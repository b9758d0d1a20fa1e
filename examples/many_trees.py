"""Many translations, known through a few: a sparse process learns its numbers on a pilot and uses all examples.

The translations come with the package. Run it with a folder for the picture, or with none.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import espalier as es
from espalier.demo import generate_translations
from espalier.gp import Inducing
from espalier.structures.drawing import side_by_side


def main(folder: Path) -> None:
    table = generate_translations(1200, seed=1)
    known, new = table[:1000], table[1000:]
    kernel = 1.0 * es.Normalized(es.SubsetTree(decay=0.3, on="target"))
    options = {"target_transform": "log", "pilot": 300}
    models = {
        "20 trees": Inducing(20),
        "20 combinations of 100 trees": Inducing(20, combine=100),
        "100 trees": Inducing(100),
        "100 trees at random": Inducing(100, choose="random"),
    }
    print(f"{len(known):,} translations are known through      bound    RMSE")
    for name, inducing in models.items():
        model = es.GPRegressor(kernel, inducing=inducing, **options).fit(known, known["seconds"])
        error = np.sqrt(np.mean((model.predict(new) - new["seconds"]) ** 2))
        print(f"{name:36} {model.log_marginal_likelihood_:8.0f} {error:7.2f}")
    exact = es.GPRegressor(model.kernel_, noise=model.noise_, target_transform="log", learn=False)
    exact.fit(known, known["seconds"])
    error = np.sqrt(np.mean((exact.predict(new) - new["seconds"]) ** 2))
    print(f"{'all of them':36} {exact.log_marginal_likelihood_:8.0f} {error:7.2f}")

    model = es.GPRegressor(kernel, inducing=20, **options).fit(known, known["seconds"])
    trees = [known["target"][row] for row in model.inducing_rows_[:3].tolist()]
    picture = side_by_side(trees, titles=["first", "second", "third"])
    (folder / "many_trees.svg").write_text(picture, encoding="utf-8")
    print("\nThe first three trees that were chosen: many_trees.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
