"""What does a question ask for, and how sure can we be? A Gaussian process gives every class a probability.

The questions come with the package, and one label in twenty is wrong. The process learns its kernel from 200 of them,
and passes on what it is not sure of: a person then reads one question in five, and the rest is right more often.
"""

from __future__ import annotations

import numpy as np

import espalier as es
from espalier.demo import generate


def main() -> None:
    table = generate(600, seed=1)
    known, asked = table[:200], table[200:]
    labels = np.array(asked["label"])
    kernel = es.Normalized(es.SubsetTree(decay=0.4, on="tree"))

    model = es.GPClassifier(kernel).fit(known, known["label"])
    p = model.predict_proba(asked)
    is_right = model.classes_[p.argmax(axis=1)] == labels
    error = es.gp.calibration(p, labels, model.classes_).error
    print(f"all questions: {is_right.mean():.0%} right, calibration error {error:.2f}")

    surest = np.argsort(-p.max(axis=1), kind="stable")[: len(p) * 4 // 5]
    print(f"the surest four fifths: {is_right[surest].mean():.0%} right")

    least = int(p.max(axis=1).argmin())
    shown = ", ".join(f"{name} {own:.0%}" for name, own in zip(model.classes_, p[least], strict=True))
    print(f"least sure: {' '.join(asked['tree'][least].words())}\n  {shown}")

    for reason in es.explain(model, n=8).of("place")[:2]:
        print(f"for or against a place: {reason.weight:+.2f} for each {reason.fragment}")


if __name__ == "__main__":
    main()
