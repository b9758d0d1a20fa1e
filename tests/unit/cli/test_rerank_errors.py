"""What the commands of reranking say of bad input, and what an interruption leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.command_line import interrupt, refused

import espalier as es
from candidate_groups import groups_of, tagged_groups
from espalier.parsing import PCFG
from espalier.structures.files import write_text

A, B = "(S (NP (N cats)) (VP (V sleep)))", "(X (N cats) (V sleep))"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "nowhere", "-o", "new"], "nowhere: No such file or directory"),
        (["fit", "empty", "-o", "new"], "empty holds no group"),
        (["fit", "binary", "-o", "new"], "is not utf-8 text"),
        (["fit", "r", "-o", "new"], "r is a safetensors file, such as a saved model, and no text"),
        (["fit", "best.mrg", "-o", "new"], "best.mrg, line 1: expected the number of candidates here, got '(S"),
        (
            ["fit", "plain.txt", "-o", "new"],
            "plain.txt, group 1: it has no gold tree. Give those of all groups by --gold",
        ),
        (
            ["fit", "counts.txt", "-o", "new"],
            "counts.txt, line 5: expected the tree of candidate 3 of the 3 that line 1 promises",
        ),
        (["fit", "more.txt", "-o", "new"], "more.txt, line 3: expected the number of candidates here"),
        (
            ["fit", "yields.txt", "-o", "new"],
            "yields.txt, line 1: Candidate 2 has different words from the first candidate: 'dogs'",
        ),
        (["fit", "mixed.jsonl", "-o", "new"], "mixed.jsonl, group 2: it holds tagged sequences, and group 1 trees"),
        (["fit", "alone.jsonl", "-o", "new"], "there is nothing to learn"),
        (["fit", "plain.txt", "-o", "new", "--gold", "two.mrg"], "plain.txt has 1 groups, but there are 2 gold trees"),
        (["fit", "plain.txt", "-o", "new", "--gold", "dogs.mrg"], "group 1: The gold tree has different words"),
        (["fit", "plain.txt", "-o", "new", "--gold", "plain.txt"], "plain.txt looks like groups of candidates"),
        (["fit", "plain.txt", "-o", "new", "--gold", "empty"], "empty contains no tree"),
        (["fit", "trees.jsonl", "-o", "folder"], "this is a folder"),
        (["fit", "trees.jsonl", "-o", "nowhere/new"], "no such folder"),
        (["fit", "trees.jsonl", "-o", "new", "--kernel", "SubsetTre()"], "did you mean SubsetTree?"),
        (
            ["fit", "trees.jsonl", "-o", "new", "--kernel", "RBF()"],
            "RBF() is a kernel of vectors, and the groups hold trees",
        ),
        (
            ["fit", "tags.jsonl", "-o", "new", "--kernel", "SubsetTree()"],
            "SubsetTree() is a kernel of trees, and the groups hold tagged sequences",
        ),
        (
            ["fit", "trees.jsonl", "-o", "new", "--kernel", "DependencySubtree()"],
            "is a kernel of dependency trees, and the groups hold trees. Give groups of dependency trees, or use a ker",
        ),
        (["fit", "trees.jsonl", "-o", "new", "--learner", "tree"], "--learner"),
        (["fit", "trees.jsonl", "-o", "new", "--C", "1"], "--C belongs to --learner svm or features, not to p"),
        (["fit", "trees.jsonl", "-o", "new", "--passes", "9"], "--passes belongs to --learner svm or features, not"),
        (["fit", "trees.jsonl", "-o", "new", "--loss", "risk"], "--loss belongs to --learner features, not to perc"),
        (["fit", "trees.jsonl", "-o", "new", "--threads", "2"], "--threads belongs to --learner features, not to p"),
        (
            ["fit", "trees.jsonl", "-o", "new", "--learner", "features", "--sample", "2"],
            "--sample belongs to --learner",
        ),
        (
            ["fit", "nowhere", "-o", "new", "--learner", "features", "--max-order", "9"],
            "max_order must be an integer f",
        ),
        (["fit", "nowhere", "-o", "new", "--learner", "features", "--decay", "0"], "decay must be a positive finite"),
        (["fit", "nowhere", "-o", "new", "--learner", "features", "--memory", "much"], "memory must be a positive"),
        (["fit", "nowhere", "-o", "new", "--learner", "features", "--kernel", "PartialTree()"], "cannot be selected"),
        (
            ["fit", "trees.jsonl", "-o", "new", "--learner", "features", "--kernel", "DependencySubtree(('tags',))"],
            "is a kernel of dependency trees, and the groups hold trees",
        ),
        (["fit", "trees.jsonl", "-o", "new", "--learner", "svm", "--passes", "0"], "--passes"),
        (["fit", "array.json", "-o", "new"], "array.json begins with '[', like a JSON array"),
        (["fit", "huge.txt", "-o", "new"], "huge.txt, line 1: The score of candidate 1 is 1e+200; a score is a finite"),
        (
            ["fit", "nowhere", "-o", "new", "--learner", "svm", "--C", "-1"],
            "C must be a positive finite number, got -1.0",
        ),
        (["fit", "trees.jsonl", "-o", "new", "--learner", "gp", "--epochs", "2"], "--epochs belongs to --learner perc"),
        (["fit", "trees.jsonl", "-o", "new", "--epochs", "0"], "--epochs"),
        (["fit", "trees.jsonl", "-o", "new", "--learner", "svm", "--updates", "all"], "--updates belongs to --learner"),
        (["fit", "trees.jsonl", "-o", "new", "--updates", "some"], "--updates"),
        (
            ["fit", "trees.jsonl", "-o", "new", "--score-weight", "heavy"],
            "score_weight must be 'chosen' or a finite number",
        ),
        (
            ["fit", "trees.jsonl", "-o", "new", "--score-weight", "nan"],
            "score_weight must be 'chosen' or a finite number",
        ),
        (["fit", "trees.jsonl", "-o", "new", "--development", "plain.txt"], "by --development-gold"),
        (["fit", "trees.jsonl", "-o", "new", "--development-gold", "two.mrg"], "needs --development"),
        (
            ["fit", "trees.jsonl", "-o", "new", "--learner", "gp", "--development", "trees.jsonl"],
            "--development is there to choose the weight of the score: give --score-weight chosen",
        ),
        (["fit", "trees.jsonl", "-o", "trees.jsonl"], "trees.jsonl is read: what is written there would replace it"),
        (["apply", "r", "trees.jsonl", "-o", "r"], "r is read: what is written there would replace it"),
        (["apply", "nowhere", "trees.jsonl"], "nowhere: No such file or directory"),
        (["apply", "folder", "trees.jsonl"], "folder: A saved file is one file, and this is a folder"),
        (["apply", "grammar", "trees.jsonl"], "grammar holds a PCFG, no Reranker. espalier.load(path) reads it."),
        (["apply", "best.mrg", "trees.jsonl"], "best.mrg is not a safetensors file"),
        (["apply", "r", "empty"], "empty holds no group"),
        (["apply", "r", "tags.jsonl"], "r chooses among trees, and tags.jsonl holds tagged sequences"),
        (["apply", "features", "arcs.jsonl"], "features chooses among trees, and arcs.jsonl holds dependency trees"),
        (["score", "features", "tags.jsonl"], "features chooses among trees, and tags.jsonl holds tagged sequences"),
        (["apply", "r", "counts.txt"], "counts.txt, line 5"),
        (["apply", "r", "trees.jsonl", "--all"], "--all needs a file to write to"),
        (["apply", "r", "trees.jsonl", "--all", "-o", "all.txt"], "Write to a .jsonl file"),
        (["apply", "r", "trees.jsonl", "-o", "folder"], "this is a folder"),
        (["explain", "r", "trees.jsonl"], "--row"),
        (["explain", "r", "trees.jsonl", "--row", "26"], "--row must be a group of trees.jsonl, 1 to 25, got 26"),
        (["explain", "r", "trees.jsonl", "--row", "1", "--winner", "x"], "--winner takes the number of a candidate"),
        (
            ["explain", "r", "trees.jsonl", "--row", "1", "--loser", "5"],
            "--loser takes the number of a candidate, 1 to 4 here",
        ),
        (["explain", "r", "alone.jsonl", "--row", "1"], "one candidate, so there is nothing to compare it with"),
        (["explain", "r", "trees.jsonl", "--row", "1", "-o", "folder"], "this is a folder"),
        (["explain", "r", "trees.jsonl", "--row", "1", "-o", "why.pdf"], "A page has a name in .html, and a drawing"),
        (["score", "r", "plain.txt"], "plain.txt, group 1: it has no gold tree"),
        (["score", "r", "plain.txt", "--gold", "two.mrg"], "plain.txt has 1 groups, but there are 2 gold trees"),
    ],
)
def test_a_mistake_is_one_message_and_nothing_is_written(arguments, message, groups_here):
    Path("folder").mkdir()
    Path("binary").write_bytes(bytes(range(128, 256)))
    PCFG.from_treebank([A]).save("grammar")
    files = {
        "empty": "\n",
        "array.json": '[{"candidates": [{"tree": "(S a)"}]}]\n',
        "huge.txt": f"1\n1e200 {A}\n",
        "best.mrg": f"{A}\n",
        "two.mrg": f"{A}\n{B}\n",
        "dogs.mrg": "(S (N dogs))",
        "plain.txt": f"2\n-1 {A}\n-2 {B}\n",
        "counts.txt": f"3\n-1 {A}\n-2 {B}\n1\n-1 {A}\n",
        "more.txt": f"1\n-1 {A}\n-2 {B}\n",
        "yields.txt": f"2\n-1 {A}\n-2 (S (N dogs))\n",
    }
    for name, text in files.items():
        write_text(name, text)
    selector = es.KernelSpaceSelector(es.SubsetTree(), C=0.0, max_order=1, max_passes=1)
    es.Reranker(es.FeatureReranker(selector, epochs=1)).fit(groups_of(0)).save("features")
    es.structures.write_groups([groups_of(0)[0], tagged_groups(0)[0]], "mixed.jsonl")
    es.structures.write_groups([es.Group([A], gold=A)] * 9, "alone.jsonl")
    assert message in refused("rerank", *arguments)


SLOW = """
import sys, time
from espalier.rerank import VotedPerceptron
def slow(self, data, rng, schedule):
    schedule.tell(0.5)
    print("learning", file=sys.stderr, flush=True)
    time.sleep(100)
VotedPerceptron._learn = slow
from espalier.cli.main import run
run()
"""


def test_an_interruption_exits_with_130_and_keeps_the_old_file(groups_here):
    interrupt(SLOW, "learning", "rerank", "fit", "trees.jsonl", "-o", "r")
