"""What does a question ask for? The most similar question answers, and the fragments they share explain it.

The questions come with the package. Their words say nothing about the answer, so a bag of words has to guess,
while a tree kernel sees how each question is built.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import espalier as es
from espalier.demo import generate
from espalier.explanations import shared_fragments
from espalier.structures.drawing import side_by_side


def main() -> None:
    table = generate(600, seed=3)
    forest = es.Forest.from_trees(table["tree"])
    labels = np.array(table["label"])
    known, asked = slice(0, 500), slice(500, 600)

    kernel = es.Normalized(es.SubsetTree(decay=0.4))
    indices, values = es.nearest(kernel, forest[known], forest[asked], k=1)
    answers = labels[known][indices[:, 0]]
    print(f"{len(answers)} questions, {np.mean(answers == labels[asked]):.0%} answered as their label says")

    words = [set(tree.words()) for tree in forest]
    overlap = [[len(a & b) / len(a | b) for b in words[known]] for a in words[asked]]
    guesses = labels[known][np.argmax(overlap, axis=1)]
    print(f"by the words they share: {np.mean(guesses == labels[asked]):.0%}\n")

    query, best = forest[asked][0], forest[known][indices[0, 0]]
    shared = shared_fragments(query, best, n=1)[0]
    print(
        f"{' '.join(query.words())}\nis most similar, with a value of {values[0, 0]:.2f}, to\n{' '.join(best.words())}"
    )
    print(f"which asks for the {answers[0]}. They share\n{shared.fragment.to_brackets()}")

    marked = [list(shared.fragment.positions(place)) for place in (shared.in_x[0], shared.in_y[0])]
    picture = side_by_side([query, best], highlights=marked, titles=["the question", answers[0]])
    Path("question_neighbours.svg").write_text(picture)
    print("\nDrawn in question_neighbours.svg.")


if __name__ == "__main__":
    main()
