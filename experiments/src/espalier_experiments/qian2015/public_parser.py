"""A public parser on the same sentences and predicted tags: UDPipe 1, if its wheel ``ufal.udpipe`` is installed."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from espalier.errors import InputError
from espalier.structures import DependencyTree
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.qian2015.lists import K, baselines, lists_of, measured
from espalier_experiments.records import Record, short
from espalier_experiments.store import Results, Task

NAME = "public_parser"
# The tags of the data, both columns; all else as UDPipe has it.
OPTIONS = "use_gold_tags=1;embedding_upostag=20;embedding_xpostag=20;embedding_feats=0;embedding_form=50"


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    return {"k": 5 if quick else K, "options": OPTIONS + (";iterations=1" if quick else "")}


def tasks(setup: Setup) -> list[Task]:
    """UDPipe's own choice of an oracle."""
    return [Task({"oracle": "dynamic"}, learn, setup.arguments)]


def learn(oracle: str, setup: Setup) -> Record:
    """UDPipe learns from the training part, stops by the development part, and parses both other parts."""
    try:
        udpipe = import_module("ufal.udpipe")
    except ImportError:
        raise InputError("This experiment needs UDPipe: pip install ufal.udpipe") from None
    common = settings(quick=setup.quick)
    lists, known = lists_of(setup, "ewt", common["k"])
    train, *others = ([group.gold for group in part] for part in (lists.train, lists.development, lists.test))
    failure = udpipe.ProcessingError()
    none, options = udpipe.Trainer.NONE, f"{common['options']};transition_oracle={oracle}"
    given = [udpipe.Sentences(), udpipe.Sentences()]
    for part, trees in zip(given, (train, others[0]), strict=True):
        for tree in trees:
            part.append(_sentence(udpipe, tree))
    began = time.process_time()
    model = udpipe.Trainer.train("morphodita_parsito", *given, none, none, options, failure)
    seconds = time.process_time() - began
    if failure.occurred():
        raise InputError(f"UDPipe: {failure.message}")
    with tempfile.TemporaryDirectory() as folder:  # UDPipe loads models from files alone
        path = Path(folder) / "model.udpipe"
        path.write_bytes(model)
        parser = udpipe.Model.load(str(path))
    out: Record = {"sentences": known["sentences"], "train_seconds": short(seconds)}
    for name, trees in zip(("development", "test"), others, strict=True):
        began = time.process_time()
        found = [_parsed(udpipe, parser, tree) for tree in trees]
        speed = len(trees) / (time.process_time() - began)
        groups = getattr(lists, name)
        out[name] = {
            "udpipe": measured(groups, found),
            "espalier": baselines(groups)["parser"],
            "sentences_a_second": short(speed),
        }
    return out


def page(results: Results) -> Page:
    """Both parsers on the development and the test part."""
    out = Page(results.path.stem, "UDPipe on the same sentences and tags")
    out.aim(
        "Compare the dependency parser with a public one.",
        "Heads that are right, with relations that are right, all tokens; tags of a tagger, the same for both.",
        "UDPipe 1 learns from the same training part with the same predicted tags.",
    )
    out.say(
        f"UDPipe has the options `{results.settings['options']}` and otherwise its own; it chooses its best epoch on "
        "the development part. Times are of the processor."
    )
    rows = []
    for record in results:
        for part in ("development", "test"):
            own = record[part]
            rows += [
                [part, name, *(f"{own[key][value]:.2f}" for value in ("uas", "las"))]
                for name, key in (("UDPipe", "udpipe"), ("`DependencyParser`, order 2", "espalier"))
            ]
        out.table(["part", "parser", "UAS", "LAS"], rows)
        out.say(
            f"UDPipe took {record['train_seconds'] / 60:.0f} minutes to learn from {record['sentences'][0]:,} "
            f"sentences, and parsed {record['test']['sentences_a_second']:.0f} sentences a second."
        )
    return out


def _sentence(udpipe: Any, tree: DependencyTree, *, arcs: bool = True) -> Any:
    """A tree as UDPipe has it; joint tags fill two columns."""
    made = udpipe.Sentence()
    for word, tag in zip(tree.words, tree.tags, strict=True):
        own = made.addWord(word)
        own.upostag, _, own.xpostag = tag.partition("|")
    if arcs:
        for number, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True), 1):
            made.setHead(number, head, relation)
    return made


def _parsed(udpipe: Any, parser: Any, tree: DependencyTree) -> DependencyTree:
    sentence, failure = _sentence(udpipe, tree, arcs=False), udpipe.ProcessingError()
    if not parser.parse(sentence, udpipe.Model.DEFAULT, failure):
        raise InputError(f"UDPipe: {failure.message}")
    words = list(sentence.words)[1:]
    return replace(tree, heads=[word.head for word in words], relations=[word.deprel for word in words])
