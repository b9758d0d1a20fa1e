"""The paired bootstrap against loops, on counts of brackets and of arcs."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pytest
from tests.reference import bootstrap as slow

from espalier import DependencyTree
from espalier.errors import InputError
from espalier.parsing import Attachment, Evaluation, evaluate, evaluate_attachment, oracle, paired_bootstrap


def attachments(seed, n=40, gain=0.05):
    """Counts of two systems on the same sentences; the first has ``gain`` more heads right on average."""
    rng = np.random.default_rng(seed)
    tokens = rng.integers(0, 12, n)
    out = []
    for chance in (0.8 + gain, 0.8):
        heads = rng.binomial(tokens, chance)
        counts = (heads, rng.binomial(heads, 0.9), rng.binomial(tokens, 0.9), tokens)
        out.append(Attachment(*(tuple(column.tolist()) for column in counts)))
    return out


def evaluations(seed, n=40):
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 9, n)
    out = []
    for chance in (0.9, 0.85):
        parsed = np.maximum(gold + rng.integers(-1, 2, n), 0)
        matched = rng.binomial(np.minimum(gold, parsed), chance)
        exact = tuple(((matched == gold) & (matched == parsed)).tolist())
        columns = (tuple(column.tolist()) for column in (matched, gold, parsed))
        out.append(Evaluation(*columns, exact, tuple(gold.tolist()), tuple(gold.tolist())))
    return out


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize(
    ("make", "measure"),
    [
        *((attachments, name) for name in ("uas", "las", "label_accuracy", "exact_match", "exact_heads")),
        *((evaluations, name) for name in ("f1", "precision", "recall", "exact_match", "tagging")),
    ],
)
def test_a_bootstrap_is_that_of_the_definition(make, measure, seed):
    a, b = make(seed)
    found = paired_bootstrap(a, b, measure, n=200, random_state=seed, probability=0.9)
    difference, resampled, p_value = slow.paired_bootstrap(a.ratios[measure], b.ratios[measure], 200, seed)
    assert found.p_value == p_value and found.measure == measure and found.n == 200
    assert (found.first, found.second) == (getattr(a, measure), getattr(b, measure))
    assert found.difference == pytest.approx(float(difference), abs=1e-12)
    assert found.interval == pytest.approx(np.quantile([float(own) for own in resampled], [0.05, 0.95]), abs=1e-12)


def test_blocks_change_nothing(monkeypatch):
    a, b = attachments(1)
    whole = paired_bootstrap(a, b, n=301)
    monkeypatch.setattr("espalier.parsing.bootstrap.BLOCK", 90)  # two resamples at a time
    assert paired_bootstrap(a, b, n=301) == whole


def test_the_first_measure_is_the_default_and_order_turns_the_sign():
    a, b = attachments(2)
    found, turned = paired_bootstrap(a, b, n=500), paired_bootstrap(b, a, n=500)
    assert found.measure == "uas" and found.difference == a.uas - b.uas == -turned.difference
    assert found.p_value == turned.p_value
    assert found.interval == pytest.approx((-turned.interval[1], -turned.interval[0]))
    one, other = evaluations(2)
    assert paired_bootstrap(one, other, n=10).measure == "f1"


def test_equal_systems_and_clear_differences():
    a, b = attachments(5, 400, gain=0.1)
    same = paired_bootstrap(a, a, n=99)
    assert (same.difference, same.interval, same.p_value) == (0.0, (0.0, 0.0), 1.0)
    clear = paired_bootstrap(a, b, n=999)
    assert clear.p_value == 2 / 1000 and clear.interval[0] > 0
    assert repr(clear) == (
        f"<PairedDifference in uas: {clear.difference:+.2f} ({a.uas:.2f} and {b.uas:.2f}), 95% interval "
        f"{clear.interval[0]:+.2f} to {clear.interval[1]:+.2f}, p = 0.002>"
    )


def test_p_values_of_equal_systems_are_uniform():
    values = [paired_bootstrap(*attachments(seed, 150, gain=0.0), n=300).p_value for seed in range(150)]
    assert 0.01 <= np.mean(np.array(values) < 0.05) <= 0.11 and 0.35 <= np.mean(np.array(values) < 0.5) <= 0.65


def test_ten_thousand_resamples_of_a_test_set_take_seconds():
    a, b = attachments(0, 2077)
    start = time.perf_counter()
    paired_bootstrap(a, b)
    assert time.perf_counter() - start < 10


def test_evaluations_by_other_rules_are_refused():
    trees = [DependencyTree(["a", "b"], ["N", "V"], [2, 0], ["nsubj:x", "root"])] * 3  # nothing that rules leave out
    other = [DependencyTree(["a", "b"], ["N", "V"], [2, 0], ["nsubj", "root"])] * 3
    found = evaluate_attachment(trees, other)
    for options, message in (
        ({"punctuation": False}, "first evaluation counts with punctuation=True and the second with punctuation=False"),
        (
            {"subtypes": False},
            "counts with subtypes=True and the second with subtypes=False. Evaluate both by the same",
        ),
    ):
        with pytest.raises(InputError, match=message):
            paired_bootstrap(found, evaluate_attachment(trees, other, **options))
        with pytest.raises(InputError, match=message):
            paired_bootstrap(found, oracle(trees, [[own] for own in other], **options)[1])
    assert paired_bootstrap(found, oracle(trees, [[own] for own in other])[1]).difference == 0
    trees = ["(S (A (N a)) (B (V b)))"] * 3
    found = evaluate(trees, trees)
    for options, message in (
        ({"punctuation": ()}, r"counts with punctuation=\[.*','.*\] and the second with punctuation=\[\]"),
        ({"equivalent": {}}, r"equivalent={'PRT': 'ADVP'} and the second with equivalent={}"),
        ({"roots": {"X"}}, r"second with roots=\['X'\]"),
    ):
        with pytest.raises(InputError, match=message):
            paired_bootstrap(found, evaluate(trees, trees, **options))


def test_bad_input():
    a, b = attachments(0)
    one, other = evaluations(0)
    with pytest.raises(InputError, match="first has 40 sentences and the second 39"):
        paired_bootstrap(a, Attachment(*(column[1:] for column in dataclasses.astuple(b))))
    with pytest.raises(InputError, match=r"Sentence 1 has . in the first evaluation and 77 in the second"):
        paired_bootstrap(a, dataclasses.replace(b, tokens=(b.tokens[0], 77, *b.tokens[2:])))
    with pytest.raises(TypeError, match="Both evaluations must be of one kind, got Attachment and Evaluation"):
        paired_bootstrap(a, other)
    with pytest.raises(ValueError, match=r"measure must be one of 'uas', 'las', .*, got 'f1'"):
        paired_bootstrap(a, b, "f1")
    with pytest.raises(InputError, match="no sentences"):
        paired_bootstrap(evaluate([], []), evaluate([], []))
    with pytest.raises(InputError, match=r"There is one sentence to compare on\. Resampling needs at least two"):
        paired_bootstrap(*attachments(0, n=1))
    with pytest.raises(ValueError, match="n must be a positive integer"):
        paired_bootstrap(a, b, n=0)
    for probability in (0.0, 1.0, float("nan"), "x"):
        with pytest.raises(ValueError, match="probability must be a number between 0 and 1, got"):
            paired_bootstrap(a, b, probability=probability)
    with pytest.raises(ValueError, match="random_state must be an integer of at least 0"):
        paired_bootstrap(a, b, random_state=-1)
    with pytest.raises(InputError, match="were left out of one evaluation and not of the other"):
        paired_bootstrap(dataclasses.replace(one, skipped=(3,)), dataclasses.replace(other, skipped=(4,)))
