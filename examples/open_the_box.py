"""Which fragments decide what a question asks for? Mine a kernel machine, and train a linear model on its fragments.

The questions come with the package. What they ask for depends on their structure; their words mislead.
"""

from __future__ import annotations

from pathlib import Path

import espalier as es
from espalier.demo import generate


def main() -> None:
    table = generate(900, seed=5)
    train, test = table[:600], table[600:]
    kernel = es.Normalized(es.SubsetTree(decay=0.4, on="tree"))
    machine = es.KernelSVC(kernel, C=10.0).fit(train, train["label"])

    mined = es.mine_fragments(machine, n=2_000)
    print(f"{len(mined)} classes; of each the 2,000 heaviest fragments, {'proven' if mined.proven else 'not proven'}")
    for part in mined:
        fragment, weight = next(iter(part))
        print(f"  {part.name:8} {weight:+.2f}  {fragment}")

    # The same in one step, with machines that see a quarter of the data each.
    model = es.LinearizedTreeClassifier(kernel, n_fragments=2_000, n_splits=4).fit(train, train["label"])
    print(f"\nkernel machine {machine.score(test, test['label']):.1%}")
    print(f"linear model   {model.score(test, test['label']):.1%}, {model.vectorizer_.n_features_out_:,} features")

    why = es.explain(machine, test[:1], n=3)
    print(f"\n{' '.join(test['tree'][0].words())}\nasks for the {test['label'][0]}; what speaks for {why.scores[0]}:")
    for reason in why.reasons:
        print(f"  {reason.contribution:+.2f}  {reason.fragment}")
    Path("open_the_box.svg").write_text(why.to_svg())
    Path("open_the_box.html").write_text(es.explain(machine, n=5).to_html())
    print("\nDrawn in open_the_box.svg; the whole machine is in open_the_box.html.")


if __name__ == "__main__":
    main()
