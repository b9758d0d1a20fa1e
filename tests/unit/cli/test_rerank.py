"""From lists of candidates to choices: what the commands learn, write and measure."""

from __future__ import annotations

import dataclasses
import json
import os
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests import command_line

import espalier as es
from candidate_groups import dependency_groups, groups_of
from espalier.cli.ranking import gold_like
from espalier.kernels import ARC_TEMPLATES
from espalier.structures.files import write_text

A, B = "(S (NP (N cats)) (VP (V sleep)))", "(X (N cats) (V sleep))"
done, invoke = (partial(run, "rerank") for run in (command_line.done, command_line.invoke))


def table(*arguments: object) -> dict[str, list[str]]:
    """The rows of a table of measures by their names."""
    lines = done("score", *arguments).stdout.splitlines()
    names = ("the parser's own", "reranked", "best of each list")
    return {name: line.removeprefix(f" {name}").split() for line in lines for name in names if name in line}


ARCS = es.DependencySubtree(ARC_TEMPLATES, root=True)


@pytest.mark.parametrize(
    ("options", "chooser"),
    [
        ([], es.VotedPerceptron(es.SubsetTree(0.3), random_state=0)),
        (
            ["--epochs", 2, "--sample", 2, "--target", "best", "--seed", 5, "--kernel", "PartialTree()"],
            es.VotedPerceptron(es.PartialTree(), epochs=2, sample=2, target="best", random_state=5),
        ),
        (
            ["--updates", "all", "--sample", 9],
            es.VotedPerceptron(es.SubsetTree(0.3), updates="all", sample=9, random_state=0),
        ),
        (
            ["--updates", "best"],
            es.VotedPerceptron(es.SubsetTree(0.3), updates="best", random_state=0),
        ),
        (
            ["--learner", "svm", "--C", 0.1, "--score-weight", 0.25],
            es.RankingSVM(es.SubsetTree(0.3), C=0.1, score_weight=0.25, random_state=0),
        ),
    ],
)
def test_what_is_learned_is_what_the_library_learns(groups_here, options, chooser):
    result = done("fit", "trees.jsonl", "-o", "new", *options)
    assert result.stdout.startswith(f"new: {type(chooser).__name__} over {chooser.kernel!r}, a sum of ")
    ours, theirs = es.Reranker.load("new"), es.Reranker(chooser).fit(groups_of(0))
    for own, other in zip(ours.decision_function(groups_of(1)), theirs.decision_function(groups_of(1)), strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize(
    ("kind", "options", "selector", "own", "name"),
    [
        ("trees", [], {"kernel": es.SubsetTree(0.3)}, {}, "SubsetTree"),
        ("tags", ["--C", 1], {"kernel": es.Tagging(), "C": 1.0}, {}, "Tagging"),
        ("arcs", ["--seed", 3], {"kernel": ARCS}, {"random_state": 3}, "DependencySubtree"),
        (
            "arcs",
            "--C 1 --max-order 3 --passes 2 --epochs 2 --loss softmax --decay 0.5 --learning-score-weight 1.5 "
            "--threads 1 --target best --score-weight 0.25 --memory 1GiB --kernel DependencySubtree(('tags',))".split(),
            {"kernel": es.DependencySubtree(("tags",)), "C": 1.0, "max_order": 3, "max_passes": 2},
            {"epochs": 2, "loss": "softmax", "decay": 0.5, "learning_score_weight": 1.5, "target": "best"}
            | {"score_weight": 0.25},
            "DependencySubtree",
        ),
    ],
)
def test_features_are_selected_and_learned_on_as_the_library_does(groups_here, kind, options, selector, own, name):
    told = done("fit", f"{kind}.jsonl", "-o", "new", "--learner", "features", *options).stdout
    ours = es.Reranker.load("new")
    tags = {"tags": "joint"} if kind == "arcs" else {}
    groups, new = (es.read_groups(file, **tags) for file in (f"{kind}.jsonl", f"{kind}.new.jsonl"))
    theirs = es.FeatureReranker(es.KernelSpaceSelector(**selector), **own).fit(groups)
    sizes = [int((theirs.features_.order == order).sum()) for order in range(1, int(theirs.features_.order.max()) + 1)]
    found = ", ".join(f"{n:,} of order {order}" for order, n in enumerate(sizes, 1) if n)
    assert told == (
        f"new: FeatureReranker over features of {name}: {found}; epoch {theirs.epoch_}; the parser's score weighs "
        f"{theirs.score_weight_:.3g}\n"
    )
    for values, expected in zip(ours.decision_function(new), theirs.decision_function(new), strict=True):
        np.testing.assert_array_equal(values, expected)
    assert "best of each list" in done("score", "new", f"{kind}.new.jsonl").stdout


def test_further_scores_of_features_are_told(groups_here):
    groups = [
        dataclasses.replace(own, more_scores={"tags": [float(row % 2 and tree == own.gold) for tree in own.candidates]})
        for row, own in enumerate(es.read_groups("trees.jsonl"))
    ]
    es.structures.write_groups(groups, "more.jsonl")
    told = done("fit", "more.jsonl", "-o", "new", "--learner", "features", "--development", "more.jsonl").stdout
    weights = es.load("new").chooser_.score_weights_
    assert list(weights) == ["tags"] and told.endswith(f", the score 'tags' {weights['tags']:.3g} times as much\n")


def test_development_groups_of_features_also_choose_the_epoch(groups_here):
    options = ["--learner", "features", "--score-weight", 1.0, "--development", "trees.new.jsonl", "--epochs", 3]
    done("fit", "trees.jsonl", "-o", "new", *options)
    expected = es.FeatureReranker(es.KernelSpaceSelector(es.SubsetTree(0.3)), score_weight=1.0, epochs=3)
    expected.fit(groups_of(0), development=groups_of(1))
    assert es.load("new").chooser_.epoch_ == expected.epoch_


def test_passes_of_the_svm(groups_here):
    done("fit", "trees.jsonl", "-o", "new", "--learner", "svm", "--passes", 200)
    assert es.Reranker.load("new").chooser_.max_iterations == 200
    told = done("fit", "trees.jsonl", "-o", "new", "--learner", "svm", "--passes", 1, "--C", 100).stderr
    assert told.startswith("Warning: ") and "max_iterations" in told


def test_a_gaussian_process_learns_its_kernel(groups_here):
    result = done("fit", "trees.jsonl", "-o", "new", "--learner", "gp", "--sample", 2, "--max-candidates", 60)
    learned = es.Reranker.load("new").chooser_.kernel_
    assert f"GPPreference over {learned!r}" in result.stdout
    assert learned != 1.0 * es.SubsetTree(0.3)


@pytest.mark.parametrize(("kind", "kernel"), [("tags", "Tagging()"), ("arcs", "DependencySubtree()")])
def test_tags_and_dependency_trees(groups_here, kind, kernel):
    assert f"over {kernel}, " in done("fit", f"{kind}.jsonl", "-o", "new").stdout
    rows = table("new", f"{kind}.new.jsonl")
    assert rows["reranked"] == rows["best of each list"] == ["100.00", "100.00", "100.0", "%"]
    what = {"tags": "tags", "arcs": "heads"}[kind]
    assert f" {what} right  all {what} right  less error" in done("score", "new", f"{kind}.new.jsonl").stdout
    assert float(rows["the parser's own"][0]) < 80 and len(rows["the parser's own"]) == 2
    groups, reranker = es.read_groups(f"{kind}.new.jsonl"), es.Reranker.load("new")
    lines = done("apply", "new", f"{kind}.new.jsonl").stdout
    chosen = reranker.predict(groups)
    if kind == "tags":
        assert lines.splitlines()[3] == " ".join(
            f"{w}/{t}" for w, t in zip(chosen[3].words, chosen[3].tags, strict=True)
        )
        assert len(lines.splitlines()) == len(groups)
    else:
        write_text("chosen.conllu", lines)
        found = es.read_conllu("chosen.conllu")
        assert [(own.words, own.heads) for own in found] == [(own.words, own.heads) for own in chosen]


def test_a_tree_a_line_in_the_order_of_the_groups(groups_here):
    groups, reranker = groups_of(1), es.Reranker.load("r")
    lines = done("apply", "r", "trees.new.jsonl").stdout.splitlines()
    assert lines == [tree.to_brackets() for tree in reranker.predict(groups)]
    assert done("apply", "r", "trees.new.jsonl", "-o", "best.mrg").stdout == "best.mrg: 25 groups\n"
    assert Path("best.mrg").read_text().splitlines() == lines


def test_all_candidates_by_the_values_that_decide(groups_here):
    done("apply", "r", "trees.new.jsonl", "--all", "-o", "all.jsonl")
    values = es.Reranker.load("r").decision_function(groups_of(1))
    for own, before, value in zip(es.read_groups("all.jsonl"), groups_of(1), values, strict=True):
        assert own.gold == before.gold
        assert list(own.scores) == sorted(value.tolist(), reverse=True)
        known = dict(zip(before.candidates, value.tolist(), strict=True))
        assert [known[tree] for tree in own.candidates] == list(own.scores) and len(own) == len(before)


def test_chosen_candidates_as_json_lines(groups_here):
    done("apply", "r", "trees.new.jsonl", "-o", "chosen.jsonl")
    groups, chosen = es.read_groups("trees.new.jsonl"), es.read_groups("chosen.jsonl")
    reranker = es.Reranker.load("r")
    assert [group.candidates for group in chosen] == [(tree,) for tree in reranker.predict(groups)]
    assert [group.scores[0] for group in chosen] == [own.max() for own in reranker.decision_function(groups)]


CONLLU = """# newdoc
# sent_id = {name}
# score = {score}
# text = don't sleep
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\tVBP\t_\t{heads[0]}\taux\t_\tMood=x
2\tn't\tnot\tPART\tRB\t_\t{heads[1]}\tadvmod\t_\t_
3\tsleep\tsleep\tVERB\tVB\t_\t{heads[2]}\troot\t_\tSpaceAfter=No

"""


@pytest.mark.parametrize("tags", [None, "joint", "upos", "xpos"])
def test_chosen_conllu_is_what_was_read(groups_here, tags):
    column = [] if tags is None else ["--tags", tags]
    right, wrong = (3, 3, 0), (2, 3, 0)
    texts = [CONLLU.format(name=name, score=-k, heads=heads) for name in "ab" for k, heads in enumerate((wrong, right))]
    Path("k.conllu").write_text("".join(texts))
    gold = "".join(CONLLU.format(name=name, score=0, heads=right) for name in "ab")
    Path("gold.conllu").write_text(gold)
    done("fit", "k.conllu", "-o", "arcs", "--gold", "gold.conllu", "--score-weight", 0, *column)
    assert done("apply", "arcs", "k.conllu", *column).stdout == gold.replace("# score = 0\n", "")
    done("apply", "arcs", "k.conllu", "--all", "-o", "all.conllu", *column)
    groups = es.read_groups("all.conllu")
    assert [group.candidates[0].heads for group in groups] == [right] * 2
    values = es.Reranker.load("arcs").decision_function(es.read_groups("k.conllu", tags=tags or "joint"))
    assert [list(group.scores) for group in groups] == [sorted(own, reverse=True) for own in values]
    assert Path("all.conllu").read_text().count("SpaceAfter=No") == 4


@pytest.mark.parametrize("column", ["upos", "xpos", "joint"])
@pytest.mark.parametrize("kind", ["tags", "arcs"])
def test_gold_files_give_the_tags_of_the_candidates(groups_here, column, kind):
    Path("gold.conllu").write_text(CONLLU.format(name="a", score=0, heads=(3, 3, 0)) * 5)
    (right, *_) = es.read_conllu("gold.conllu", tags=column)
    wrong = es.DependencyTree(right.words, right.tags[::-1], (2, 3, 0), right.relations)
    if kind == "tags":
        right, wrong = right.tagged(), wrong.tagged()
    es.structures.write_groups([es.Group([wrong, right])] * 5, "k.jsonl")
    done("fit", "k.jsonl", "-o", "new", "--gold", "gold.conllu", "--score-weight", 0)
    tree = es.Reranker.load("new").chooser_.support_[0]
    assert set(tree.tags) == set(right.tags)
    assert ["best", "of", "each", "list", "100.00", "100.00", "100.0", "%"] in [
        line.split() for line in done("score", "new", "k.jsonl", "--gold", "gold.conllu").stdout.splitlines()
    ]


def test_comments_that_only_the_first_candidate_has_are_kept(groups_here):
    bare = "".join(line for line in CONLLU.splitlines(keepends=True) if not line.startswith(("# newdoc", "# text")))
    first, second = ((3, 3, 0), (2, 3, 0))
    Path("k.conllu").write_text(
        CONLLU.format(name="a", score=-1, heads=first) + bare.format(name="a", score=-2, heads=second)
    )
    (group,) = es.read_groups("k.conllu")
    learned = [es.Group(group.candidates, group.scores, group.candidates[1])] * 6
    es.Reranker(es.VotedPerceptron(es.DependencySubtree(), random_state=0)).fit(learned).save("arcs")
    done("apply", "arcs", "k.conllu", "-o", "chosen.conllu")
    wanted = [line for line in CONLLU.format(name="a", score=0, heads=second).split("\n") if "score" not in line]
    assert sorted(Path("chosen.conllu").read_text().split("\n")) == sorted(wanted)
    assert Path("chosen.conllu").read_text().startswith("# newdoc\n")


def test_drawings_and_words_of_explanations(groups_here):
    done("explain", "r", "trees.jsonl", "--row", "1", "-o", "why.svg")
    assert Path("why.svg").read_text().startswith("<svg")
    es.structures.write_groups(dependency_groups(0), "d.jsonl")
    done("fit", "d.jsonl", "-o", "arcs")
    lines = done("explain", "arcs", "d.jsonl", "--row", "1", "--winner", "1", "--loser", "2", "-n", "2").stdout
    shares = [line.split("\t") for line in lines.splitlines()[2:]]
    assert len(shares) == 2 and {word for _, word in shares} <= set(es.read_groups("d.jsonl")[0].words)
    assert abs(float(shares[0][0])) >= abs(float(shares[1][0])) > 0


@pytest.mark.parametrize("options", [[], ["--all"]])
def test_a_pipe_gives_what_a_file_gives(groups_here, options):
    groups = [("a", (2, 3, 0), (3, 3, 0)), ("b", (3, 3, 0), (2, 3, 0))]
    text = "".join(CONLLU.format(name=n, score=-k, heads=own) for n, *two in groups for k, own in enumerate(two))
    Path("k.conllu").write_text(text)
    learned = [es.Group(own.candidates, own.scores, own.candidates[0]) for own in es.read_groups("k.conllu")]
    es.Reranker(es.VotedPerceptron(es.DependencySubtree(), random_state=0)).fit(learned).save("arcs")
    done("apply", "arcs", "k.conllu", "-o", "file.conllu", *options)
    os.mkfifo("pipe")
    writer = threading.Thread(target=Path("pipe").write_text, args=(text,), daemon=True)
    writer.start()
    done("apply", "arcs", "pipe", "-o", "piped.conllu", *options)
    writer.join(60)
    assert Path("piped.conllu").read_bytes() == Path("file.conllu").read_bytes()
    assert Path("piped.conllu").read_text().count("SpaceAfter=No") == (4 if options else 2)


def test_names_of_sentences_are_kept_where_they_have_a_place(groups_here):
    listed = [dataclasses.replace(group, gold=None, name=f"q-{row}") for row, group in enumerate(groups_of(1))]
    wanted = [group.name for group in listed]
    for source in ("named.txt", "named.jsonl"):
        es.structures.write_groups(listed, source)
        for output, *options in (["all.txt", "--all"], ["all.jsonl", "--all"], ["chosen.jsonl"]):
            done("apply", "r", source, "-o", output, *options)
            assert [group.name for group in es.read_groups(output)] == wanted
    es.structures.write_groups(
        [dataclasses.replace(own, name=f"d-{row}") for row, own in enumerate(dependency_groups(0))], "d.jsonl"
    )
    done("fit", "d.jsonl", "-o", "arcs")
    lines = done("apply", "arcs", "d.jsonl").stdout.splitlines()
    assert [line for line in lines if line.startswith("#")][:2] == ["# sent_id = d-0", "# sent_id = d-1"]


def test_keys_that_are_not_read_are_told_once(groups_here):
    record = {"candidates": [{"tree": B, "scoer": -1}, {"tree": A, "scoer": -2}], "gold": A}
    Path("k.jsonl").write_text(f"{json.dumps(record)}\n" * 5)
    told = done("apply", "r", "k.jsonl").stderr
    assert told.startswith('Warning: k.jsonl: these keys are ignored: "scoer" of candidates.')
    assert told.count("Warning") == 1


def test_measures_stand_beside_each_other(groups_here):
    rows = table("r", "trees.new.jsonl")
    reranker = es.Reranker.load("r")
    assert rows["reranked"][2] == f"{reranker.score(groups_of(1)):.2f}"
    assert rows["best of each list"] == ["100.00"] * 5 + ["100.0", "%"]
    assert len(rows["the parser's own"]) == 5 and float(rows["the parser's own"][4]) < float(rows["reranked"][4])


def test_the_fragments_that_made_a_candidate_win(groups_here):
    group, reranker = groups_of(1)[2], es.Reranker.load("r")
    why = es.explain(reranker, group, n=4, winner="gold", loser=0)
    options = ["--row", 3, "-n", 4, "--winner", "gold", "--loser", 1, "-o", "why.html"]
    lines = done("explain", "r", "trees.new.jsonl", *options).stdout.splitlines()
    assert lines[0] == " ".join(group.words) and why.summary in lines[1]
    assert lines[2:-1] == [f"{reason.contribution:+.4g}\t{reason.fragment}" for reason in why]
    assert lines[-1] == "Drawn in why.html" and Path("why.html").read_text().startswith("<!doctype html>")


def test_groups_of_one_candidate_and_ties_lose_no_row(groups_here):
    es.structures.write_groups([es.Group([B]), es.Group([A, A, B]), es.Group([A])], "odd.txt")
    assert len(done("apply", "r", "odd.txt").stdout.splitlines()) == 3
    write_text("gold.mrg", f"{A}\n{A}\n{A}\n")
    done("fit", "odd.txt", "--gold", "gold.mrg", "-o", "new")  # the gold tree of the first is no candidate
    assert len(table("new", "odd.txt", "--gold", "gold.mrg")) == 3
    assert done("apply", "new", "odd.txt").stdout.splitlines() == [B, A, A]


def test_gold_trees_take_the_form_of_the_candidates(groups_here):
    es.structures.write_groups([es.Group([f"(S1 {B})", f"(S1 {A})"], [-1.0, -2.0])] * 5, "k.txt")
    raw = "(TOP (S (NP-SBJ=2 (N cats)) (VP (V sleep) (NP (-NONE- *)))))\n"
    write_text("gold.mrg", raw * 5)
    done("fit", "k.txt", "--gold", "gold.mrg", "-o", "new", "--development", "k.txt", "--development-gold", "gold.mrg")
    assert all(tree.label == "S1" for tree in es.Reranker.load("new").chooser_.support_)
    assert table("new", "k.txt", "--gold", "gold.mrg")["reranked"][3] == "100.00"
    gold = es.Tree.from_brackets(raw)
    assert str(gold_like(gold, es.Tree.from_brackets(B))) == A
    assert str(gold_like(gold, es.Tree.from_brackets(B), keeps_functions=True)) == A.replace("(NP", "(NP-SBJ=2")


def test_functions_are_kept_where_the_parser_writes_them(groups_here):
    es.structures.write_groups(
        [es.Group([B, A.replace("NP", "NP-SBJ")])] * 2 + [es.Group([A.replace("NP", "NP-SBJ"), B])], "k.txt"
    )
    write_text("gold.mrg", f"{A.replace('NP', 'NP-SBJ')}\n" * 3)
    assert table("r", "k.txt", "--gold", "gold.mrg")["best of each list"][3] == "100.00"


def test_gold_of_tags_and_arcs_is_read_from_conllu(groups_here):
    tree = es.DependencyTree(["cats", "sleep"], ["N", "V"], [2, 0], ["nsubj", "root"])
    other = es.DependencyTree(["cats", "sleep"], ["N", "V"], [0, 1], ["root", "dep"])
    es.structures.write_groups([es.Group([other, tree], [-1.0, -2.0])] * 5, "k.conllu")
    es.structures.write_groups([es.Group([tree])] * 5, "gold.conllu")
    # Each sentence has a sent_id of its own, so that the groups are five.
    done("fit", "k.conllu", "--gold", "gold.conllu", "-o", "arcs")
    assert table("arcs", "k.conllu", "--gold", "gold.conllu")["reranked"][0] == "100.00"
    # Lemmas and features are no arcs: a gold tree that has them is the candidate that has not.
    rich = dataclasses.replace(tree, lemmas=["cat", "sleep"], features=[["Number=Plur"], []])
    es.structures.write_groups([es.Group([rich])] * 5, "rich.conllu")
    done("fit", "k.conllu", "--gold", "rich.conllu", "-o", "rich")
    assert Path("rich").read_bytes() == Path("arcs").read_bytes()
    tags = [es.TaggedSequence(tree.words, own) for own in (["V", "V"], ["N", "V"])]
    es.structures.write_groups([es.Group(tags)] * 5, "k.jsonl")
    done("fit", "k.jsonl", "--gold", "gold.conllu", "-o", "tags")
    assert table("tags", "k.jsonl", "--gold", "gold.conllu")["reranked"][0] == "100.00"


def test_nothing_is_gained_where_the_parser_makes_no_error(groups_here):
    right, wrong = "(S (N cats) (V sleep))", "(S (X cats) (V sleep))"
    record = {"candidates": [{"tree": right, "score": -1.0}, {"tree": wrong, "score": -2.0}], "gold": {"tree": right}}
    Path("easy.jsonl").write_text(json.dumps(record) + "\n")
    shown = done("score", "r", "easy.jsonl").stdout
    assert "less error" in shown and "%" not in shown
