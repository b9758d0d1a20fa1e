"""How much work is a translation? Four grades in an order, from trees and a few numbers, with learned thresholds.

The translations come with the package. A reader does not measure seconds but says quick, fair, slow or endless. Grades
have an order and no distances, so an ordinal Gaussian process fits them better than classes or numbers do.
"""

from __future__ import annotations

import numpy as np

import espalier as es
from espalier.demo import generate_translations

NAMES = ["quick", "fair", "slow", "endless"]


def main() -> None:
    table = generate_translations(400, seed=2)
    places = np.digitize(table["seconds"], [2.0, 3.0, 5.0])
    grades = np.array(NAMES)[places]
    known, new = table[:200], table[200:]
    kernel = 1.0 * es.Normalized(es.SubsetTree(on="target")) + 1.0 * es.RBF(on="features")

    model = es.GPOrdinal(kernel, grades=NAMES).fit(known, grades[:200])
    classes = es.GPClassifier(kernel).fit(known, grades[:200])
    numbers = es.GPRegressor(kernel).fit(known, places[:200].astype(float))
    print("thresholds:", ", ".join(f"{value:.1f}" for value in model.thresholds_))

    said = {
        "grades": model.predict(new),
        "classes": classes.predict(new),
        "numbers": np.array(NAMES)[np.clip(np.rint(numbers.predict(new)), 0, 3).astype(int)],
    }
    for name, predicted in said.items():
        away = np.abs(np.array([NAMES.index(grade) for grade in predicted]) - places[200:])
        print(f"{name:8} {np.mean(away == 0):.0%} right, {away.mean():.2f} grades away")
    for name, own in (("grades", model), ("classes", classes)):
        print(f"{name:8} log loss {-own.log_density(new, grades[200:]).mean():.2f}")

    reason = es.explain(model, n=1).reasons[0]
    print(f"what makes a translation slow: {reason.fragment}, as in {' '.join(reason.example.tree.words())!r}")
    axes = es.plot_thresholds(model, new, grades[200:])
    axes.figure.savefig("thresholds.svg")
    print("Drawn in thresholds.svg.")


if __name__ == "__main__":
    main()
