"""How long will it take to correct this translation? Learned from trees and features, with intervals.

The translations come with the package. A passive or a relative clause costs time, and so does what the machine got
wrong; three numbers per sentence tell only a part of that. Run it with a folder for the pictures, or with none.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import espalier as es
from espalier.demo import generate_translations


def main(folder: Path) -> None:
    table = generate_translations(500, seed=2)
    known, new = table[:300], table[300:]
    source = es.Normalized(es.SubsetTree(es.PerLabel(0.3, prior=None), on="source"))
    target = es.Normalized(es.SubsetTree(on="target"))
    kernels = {
        "features": 1.0 * es.RBF(on="features"),
        "features and trees": 1.0 * source + 1.0 * target + 1.0 * es.RBF(on="features"),
    }
    models = {
        name: es.GPRegressor(kernel, target_transform="log", restarts=2, random_state=0).fit(known, known["seconds"])
        for name, kernel in kernels.items()
    }
    print(es.compare(models), "\n")

    seconds = new["seconds"]
    print(f"{len(new)} new sentences     RMSE    NLPD")
    for name, model in models.items():
        prediction = model.predict_distribution(new)
        rmse = np.sqrt(np.mean((prediction.mean - seconds) ** 2))
        print(f"{name:20} {rmse:7.3f} {-prediction.log_density(seconds).mean():7.3f}")

    model = models["features and trees"]
    print(f"\n{model.learned_}\n")
    for row, (low, median, high) in zip(new[:3], model.predict(new[:3], quantiles=[0.05, 0.5, 0.95])[1], strict=True):
        print(f"{' '.join(row['source'].words())}\n  {' '.join(row['target'].words())}")
        print(f"  {median:.1f} seconds per word, 90% between {low:.1f} and {high:.1f}; it took {row['seconds']:.1f}")

    es.plot_learned(model)[0].figure.savefig(folder / "learned.svg")
    es.plot_predictions(model, new, seconds).figure.savefig(folder / "predictions.svg")
    es.plot_calibration(model).figure.savefig(folder / "calibration.svg")
    es.plot_restarts(model).figure.savefig(folder / "restarts.svg")
    print("\nDrawn in learned.svg, predictions.svg, calibration.svg and restarts.svg.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
