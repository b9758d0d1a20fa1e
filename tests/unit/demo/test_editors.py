"""The demo's editors: related times, drawn as stated, with gaps where an editor has not been."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.demo import EDITORS, expected_log_seconds, generate_editors, generate_translations
from espalier.demo.translations import difficulties


def _expected(table, name):
    return np.array(
        [EDITORS[name].expected(difficulties(row["source"], row["target"], row["features"])) for row in table]
    )


def test_the_sentences_are_those_of_the_translations():
    table, plain = generate_editors(30, seed=4), generate_translations(30, seed=4)
    assert table["source"] == plain["source"] and np.array_equal(table["features"], plain["features"])
    oracle = [expected_log_seconds(row["source"], row["target"], row["features"]) for row in plain]
    np.testing.assert_allclose(_expected(table, "ann"), oracle)


def test_the_same_seed_gives_the_same_times_and_more_rows_start_with_fewer():
    first, again, more = (generate_editors(n, seed=1, known=0.5) for n in (20, 20, 40))
    for name in EDITORS:
        np.testing.assert_array_equal(first[name], again[name])
        np.testing.assert_array_equal(first[name], more[name][:20])
    assert not np.array_equal(first["ann"], generate_editors(20, seed=2)["ann"])


def test_times_differ_from_what_is_expected_by_the_stated_noise():
    table = generate_editors(1_000, seed=3)
    for name, editor in EDITORS.items():
        left = np.log(table[name]) - _expected(table, name)
        assert abs(left.mean()) < 4 * editor.noise / np.sqrt(1_000)
        assert left.std() == pytest.approx(editor.noise, rel=0.1)
    ann, eva, tom = (_expected(table, name) for name in ("ann", "eva", "tom"))
    assert np.corrcoef(ann, eva)[0, 1] > 0.7 and np.corrcoef(ann, tom)[0, 1] == pytest.approx(-1)


def test_an_editor_has_corrected_the_stated_share():
    table = generate_editors(1_000, seed=3, known=0.3)
    assert [float(np.isfinite(table[name]).mean()) for name in EDITORS] == pytest.approx([0.3] * 4, abs=0.06)
    assert np.isnan(generate_editors(5, known=0)["ann"]).all()
    with pytest.raises(ValueError, match="known must be"):
        generate_editors(5, known=-1)
