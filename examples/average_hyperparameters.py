"""How sure can thirty examples make us? Predictions averaged over the numbers of a kernel, in place of the best ones.

The translations come with the package; each has the seconds that its correction took. Run it with a folder for the
picture, or with none. It needs the extra: pip install "espalier[bayes]".
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import espalier as es
from espalier.demo import generate_translations
from espalier.gp import LogNormal


def main(folder: Path) -> None:
    table = generate_translations(230, seed=2)
    known, new = table[:30], table[30:]
    lengthscale = es.Learned(1.0, prior=LogNormal(1.0, 0.7))
    kernel = es.Learned(1.0, prior=LogNormal(1.0)) * es.RBF(lengthscale, on="features")
    noise = es.Learned(0.2, prior=LogNormal(0.2))
    model = es.GPRegressor(kernel, noise=noise, target_transform="log").fit(known, known["seconds"])

    cheap = es.bayes.approximate(model)
    drawn = es.bayes.sample(model, n_draws=300, n_warmup=150)
    print(f"{len(new)} new translations        NLPD   in the 90% interval   evaluations")
    ways = {"most probable numbers": model, "points around them": cheap, "draws": drawn}
    for name, way in ways.items():
        prediction = way.predict_distribution(new)
        low, high = prediction.interval(0.9).T
        inside = np.mean((low < new["seconds"]) & (new["seconds"] < high))
        n = model.restarts_[0].n_evaluations if way is model else way.draws.n_evaluations
        print(f"{name:25} {-prediction.log_density(new['seconds']).mean():6.2f} {inside:21.0%} {n:13,}")

    print(f"\n{drawn.draws.summary()}\n")
    es.bayes.plot_draws(drawn, beside=cheap)[0].figure.savefig(folder / "draws.svg")
    print("Drawn in draws.svg.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
