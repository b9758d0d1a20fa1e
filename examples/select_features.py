"""Which subtrees say where "with the telescope" attaches? Select them among all, and rerank a parser's lists by them.

The sentences come with the package. One watches somebody with a telescope, but somebody with a coat wears it. A parser
that scores single arcs cannot know this: the arc from "watched" to "with" does not tell the noun. Two arcs together do.
There are very many pairs of arcs, and the selector counts only those that can matter.
"""

from __future__ import annotations

import espalier as es
from espalier.demo import generate_attachments
from espalier.kernels import ARC_TEMPLATES
from espalier.parsing import DependencyParser, evaluate_attachment, oracle, paired_bootstrap
from espalier.rerank import jackknifed, propose

PARSER = {"order": 1, "epochs": 2, "bits": 16}  # arcs alone


def main() -> None:
    trees = [tree.to_dependencies() for tree in generate_attachments(300, seed=1)]
    known, new = trees[:200], trees[200:]

    # Each sentence is parsed by a parser that has not seen it; lists that lack the gold tree get it.
    groups = jackknifed(known, k=10, folds=4, make=DependencyParser.from_treebank, add_gold=True, **PARSER)
    kernel = es.DependencySubtree(ARC_TEMPLATES, root=True)
    selector = es.KernelSpaceSelector(kernel, C=5.0, max_order=2, max_passes=10).fit(groups)
    first, features = selector.history_[0], selector.features_
    print(f"{first.n_mispredicted} of {len(groups)} lists are wrong, or right by too little")
    print(f"{sum(own.n_candidates for own in first.orders):,} features were counted in the first pass")
    print(f"{len(features):,} survived the last, {len(features.weighted()):,} have a weight; the heaviest:")
    for feature in features.heaviest(4):
        print(f"  {feature.weights[0]:+.4f}  {feature}")

    reranker = es.FeatureReranker(features, loss="softmax").fit(groups)
    lists = propose(DependencyParser.from_treebank(known, **PARSER), new, k=10)
    parsed = evaluate_attachment(new, [group.candidates[group.best] for group in lists])
    chosen = evaluate_attachment(new, reranker.predict(lists))
    _, best = oracle(new, [group.candidates for group in lists])
    print(f"\nright heads, the parser's best trees  {parsed.uas:.1f} %")
    print(f"right heads, chosen by the features   {chosen.uas:.1f} %")
    print(f"right heads, the best of each list    {best.uas:.1f} %")
    difference = paired_bootstrap(chosen, parsed)
    print(f"The difference is {'hardly' if difference.p_value < 0.01 else 'perhaps'} due to chance.")


if __name__ == "__main__":
    main()
