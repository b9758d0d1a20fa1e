"""Trees and numbers in one table: which review is most similar to the first depends on the kernel."""

from __future__ import annotations

import io

import espalier as es

ROWS = """\
tree,stars,year
(S (NP (D the) (N room)) (VP (V was) (ADJP (J clean)))),5,2021
(S (NP (D the) (N room)) (VP (V was) (ADJP (J dirty)))),1,2021
(S (NP (D the) (N staff)) (VP (V helped) (NP (P us)))),5,2020
(S (NP (P we)) (VP (V loved) (NP (D the) (N pool)))),4,2022
"""


def main() -> None:
    table = es.read_table(io.StringIO(ROWS), format="csv", numeric=["stars", "year"])
    print(table, "\n")

    structure = es.Normalized(es.SubsetTree(decay=0.4, on="tree"))
    numbers = es.RBF(lengthscale=es.PerDimension(1.0), on=("stars", "year"))
    kernels = {
        "structure alone": structure,
        "numbers alone": numbers,
        "both must agree": structure * numbers,
        "either will do": structure + 0.5 * numbers,
    }
    for name, kernel in kernels.items():
        indices, values = es.nearest(kernel, table[1:], table[:1], k=1)
        words = es.as_tree(table[1:]["tree"][indices[0, 0]]).words()
        print(f"{name:16} {' '.join(words):22} {values[0, 0]:.3f}")

    kernel = kernels["both must agree"]
    bound = kernel.plan(table).bind(kernel)
    print(f"\n{bound}")
    for path, value in bound.parameters().items():
        print(f"{path:26} {value}")


if __name__ == "__main__":
    main()
