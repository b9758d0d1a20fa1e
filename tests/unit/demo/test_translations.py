"""The demo's translations: drawn as stated, and harder where the trees say so."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.demo import expected_log_seconds, generate_translations
from espalier.demo.translations import BASE, COSTS, NOISE
from espalier.structures.table import Table
from espalier.structures.tree import Tree


@pytest.fixture(scope="module")
def table() -> Table:
    return generate_translations(2_000, seed=3)


def expected(table: Table) -> np.ndarray:
    return np.array([expected_log_seconds(row["source"], row["target"], row["features"]) for row in table])


def test_the_same_seed_gives_the_same_table():
    first, again, other = (generate_translations(50, seed=seed) for seed in (1, 1, 2))
    for column in ("source", "target"):
        assert first[column] == again[column]
        assert first[column] != other[column]
    for column in ("features", "seconds"):
        assert np.array_equal(first[column], again[column])


def test_a_longer_table_starts_with_the_shorter_one():
    long, short = generate_translations(60, seed=1), generate_translations(30, seed=1)
    assert short["source"] == long["source"][:30]
    assert np.array_equal(short["seconds"], long["seconds"][:30])


def test_what_the_oracle_leaves_over_is_noise_of_the_stated_size(table):
    left = np.log(table["seconds"]) - expected(table)
    assert abs(left.mean()) < 4 * NOISE / np.sqrt(len(left))
    assert left.std() == pytest.approx(NOISE, rel=0.06)
    assert np.all(np.abs(np.corrcoef(np.column_stack([left, table["features"]]).T)[0, 1:]) < 0.1)


def test_features_alone_leave_most_of_the_differences_unexplained(table):
    columns = np.column_stack([np.ones(len(table)), table["features"]])
    log_seconds = np.log(table["seconds"])
    fitted = columns @ np.linalg.lstsq(columns, log_seconds, rcond=None)[0]
    assert (log_seconds - fitted).std() > 1.5 * NOISE


def test_features_are_what_they_are_called(table):
    words, ratio, fluency = table["features"].T
    assert np.array_equal(words * 10, [len(tree.words()) for tree in table["source"]])
    assert np.allclose(ratio * words * 10, [len(tree.words()) for tree in table["target"]])
    assert abs(fluency.mean()) < 0.1 and fluency.std() == pytest.approx(1, rel=0.06)


BAKER, MILLER = "(NP (DT the) (NN baker))", "(NP (DT the) (NN miller))"
ACTIVE = f"(S {BAKER} (VP (MD will) (VP (VB pay) {MILLER})) (. .))"
PASSIVE = f"(S {BAKER} (VP (MD will) (VP (VB be) (VP (VBN paid) (PP (IN by) {MILLER})))) (. .))"
SUBJECT = f"(NP {BAKER} (SBAR (WHNP (WP who)) (VP (MD will) (VP (VB pay) {MILLER}))))"
OBJECT = f"(NP {BAKER} (SBAR (WHNP (WP whom)) (S {MILLER} (VP (MD will) (VP (VB pay))))))"
BEHIND, IN_FRONT = "(NP (D le) (N boulanger) (A sourd))", "(NP (D le) (A sourd) (N boulanger))"


@pytest.mark.parametrize(
    ("source", "target", "cost"),
    [
        (ACTIVE, BEHIND, 0.0),
        (PASSIVE, BEHIND, COSTS["passive"]),
        (SUBJECT, BEHIND, COSTS["subject"]),
        (OBJECT, BEHIND, COSTS["object"]),
        (ACTIVE, IN_FRONT, COSTS["in front"]),
    ],
)
def test_each_construction_costs_what_is_stated(source, target, cost):
    trees = Tree.from_brackets(source), Tree.from_brackets(target)
    assert expected_log_seconds(*trees, (0.0, 1.0, 0.0)) == pytest.approx(BASE + cost)


def test_every_construction_occurs(table):
    texts = [" ".join(tree.words()) for tree in table["source"]]
    shares = {word: np.mean([word in text for text in texts]) for word in (" be ", " who ", " whom ", " and ", " in ")}
    assert all(0.2 < share < 0.7 for share in shares.values()), shares


def test_both_sentences_tell_of_the_same_people(table):
    for row in table[:200]:
        assert row["source"].words().count("the") == row["target"].words().count("le")
        assert row["source"].words()[-1] == row["target"].words()[-1] == "."


def test_no_translation_is_fine():
    table = generate_translations(0)
    assert len(table) == 0
    assert table["features"].shape == (0, 3)


@pytest.mark.parametrize(("n", "error"), [(-1, ValueError), (1.5, TypeError), (True, TypeError), ("9", TypeError)])
def test_a_number_of_translations_that_is_none_is_an_error(n, error):
    with pytest.raises(error, match=r"n must be"):
        generate_translations(n)
