"""A grammar proposes, a perceptron chooses: where does "with the telescope" attach?

The sentences come with the package. Which word a phrase belongs to follows from its noun, and rules over tags cannot
see that: a plain grammar gives every sentence of the same tags the same tree. Fragments of trees hold words and
structure together, so a reranker of the grammar's parses learns it.
"""

from __future__ import annotations

from pathlib import Path

import espalier as es
from espalier.demo import generate_attachments
from espalier.parsing import PCFG, evaluate, oracle
from espalier.rerank import jackknifed, propose


def main() -> None:
    trees = generate_attachments(500, seed=1)
    known, new = trees[:400], trees[400:]

    grammar = PCFG.from_treebank(known)
    groups = propose(grammar, new, k=20)
    first = evaluate(new, [group.candidates[0] for group in groups])
    print(f"the grammar's best parses    F1 {first.f1:.1f}, {first.exact_match:.0f}% without a mistake")

    # Each sentence is parsed by a grammar that has not seen it, or its candidates would be too good to learn from.
    perceptron = es.VotedPerceptron(es.SubsetTree(decay=0.5), epochs=5, random_state=0)
    reranker = es.Reranker(perceptron).fit(jackknifed(known, k=20))
    trees = reranker.predict(groups)
    chosen = evaluate(new, trees)
    print(f"chosen by the perceptron     F1 {chosen.f1:.1f}, {chosen.exact_match:.0f}% without a mistake")
    print(f"{chosen.improvement(first):.0f}% of the errors are gone")
    _, best = oracle(new, [group.candidates for group in groups])
    print(f"the best of each list        F1 {best.f1:.1f}, {best.exact_match:.0f}% without a mistake\n")

    row = next(k for k, group in enumerate(groups) if group.candidates[0] != trees[k] == new[k])
    print(" ".join(new[row].words()))
    picture = es.structures.side_by_side(
        [groups[row].candidates[0], trees[row]], titles=["the grammar's parse", "the right one"]
    )
    Path("rerank_parser.svg").write_text(picture)
    print("Both parses are drawn in rerank_parser.svg.")


if __name__ == "__main__":
    main()
