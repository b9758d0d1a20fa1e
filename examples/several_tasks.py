"""Four editors correct translations, and each has corrected some of them: one model of all, and what it learned.

A model of each editor alone knows only the sentences that this editor has corrected. A model of all four learns how
alike they are, and predicts them together. Run it with a folder for the picture, or with none.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

import espalier as es
from espalier.demo import EDITORS, generate_editors


def main(folder: Path) -> None:
    warnings.simplefilter("ignore", UserWarning)  # an editor alone has few rows: some variances reach their bounds
    editors = list(EDITORS)
    known, new = generate_editors(50, seed=1, known=0.5), generate_editors(130, seed=1)[50:]
    items = es.Normalized(es.SubsetTree(decay=0.3, on="target"))
    settings = {"target_transform": "log", "tolerance": 1e-3}

    model = es.GPRegressor(es.Coregion(on="task") * items, **settings).fit(known, known[editors])
    stated = es.GPRegressor(es.EasyAdapt(on="task") * (1.0 * items), **settings).fit(known, known[editors])
    rows = {
        "learned relation": model.log_predictive_density(new, new[editors]).mean(axis=0),
        "stated relation": stated.log_predictive_density(new, new[editors]).mean(axis=0),
        "one model each": np.array([alone(items, known, new, editor, settings) for editor in editors]),
    }
    print(f"log density of {len(new)} new sentences, by editor")
    print(" " * 18, *(f"{editor:>6}" for editor in editors), "  mean")
    for name, row in rows.items():
        print(f"{name:18}", *(f"{value:6.2f}" for value in row), f"{row.mean():6.2f}")
    joint = model.log_predictive_density(new, new[editors], joint=True).mean()
    print(f"\nall four together: {joint:.2f}; as if independent: {rows['learned relation'].sum():.2f}")

    print("\n" + " ".join(new["target"][0].words()))
    levels = model.predict(new[:1], quantiles=[0.05, 0.5, 0.95])[1][0]
    for editor, (low, median, high) in zip(editors, levels, strict=True):
        print(
            f"  {editor}: {median:.1f} seconds a word, 90% from {low:.1f} to {high:.1f}; it took {new[editor][0]:.1f}"
        )

    es.plot_tasks(model).figure.savefig(folder / "several_tasks.svg")
    print("\nDrawn in several_tasks.svg.")


def alone(items: es.Kernel, known: es.Table, new: es.Table, editor: str, settings: dict) -> float:
    """The mean log density under a model of one editor."""
    rows = np.flatnonzero(~np.isnan(known[editor]))
    model = es.GPRegressor(1.0 * items, **settings).fit(known[rows], known[editor][rows])
    return model.log_predictive_density(new, new[editor]).mean()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
