"""Table 2 with other lists: more candidates, and parsers of third order that learn by MIRA, as the paper's does."""

from __future__ import annotations

from typing import Any

from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.qian2015.lists import K, baselines, lists_of
from espalier_experiments.qian2015.reranking import rerank, select
from espalier_experiments.qian2015.tables import CHANGE, PAPER, change, counts
from espalier_experiments.records import Record
from espalier_experiments.store import Results, Task

NAME = "variants"
C, TEMPLATES, DECAY = 5.0, "joined", 0.3
LISTS = ((20, "softmax"), (50, "softmax"), (K, "1-best MIRA"), (K, "10-best MIRA"))
ORDERS = (2, 3)


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    return {"C": 1.0 if quick else C, "templates": TEMPLATES, "decay": DECAY}


def tasks(setup: Setup) -> list[Task]:
    """One task for each kind of lists, and each order of the features that rerank them."""
    listed = ((4, "1-best MIRA"),) if setup.quick else LISTS
    return [
        Task({"k": k, "parser": parser, "max_order": order}, learn, setup.arguments)
        for k, parser in listed
        for order in ORDERS[: 1 if setup.quick else None]
    ]


def learn(k: int, parser: str, max_order: int, setup: Setup) -> Record:
    """Select features, and rerank by them."""
    lists, _ = lists_of(setup, "ewt", k, 1, parser)
    selector, figures = select(lists, TEMPLATES, max_order, setup, C=settings(quick=setup.quick)["C"])
    found = rerank(lists, selector, setup, decays=(DECAY,), keep="survivors")
    return {
        "development_base": baselines(lists.development),
        "base": baselines(lists.test),
        "selection": figures,
    } | found


def page(results: Results) -> Page:
    """UAS with each kind of lists."""
    common = results.settings
    out = Page(results.path.stem, "Longer lists, and lists of other parsers")
    out.aim(
        "See whether more candidates help a reranker, and whether it gains more on a parser like the paper's.",
        "Heads that are right on the English Web Treebank, all tokens, with tags of a tagger.",
        "The first tree of the same lists.",
    )
    out.say(
        f"After {PAPER}, section 6.1, with the steps of [systems](systems.md), where lists have {K} trees of a parser "
        "of second order that learns a softmax margin. One pass of gradient mining with "
        f"C = {common['C']:g} selects features of table 1's joined forms; a reranker learns on all survivors, with a "
        f"decay of {common['decay']:g} for each order. MIRA: a parser of third order that learns from its best tree, "
        "or from its 10 best, as the paper's. The epoch and the weight of the parser's score are chosen on development "
        "sentences, and each system is measured once on the test part."
    )
    rows = [
        [
            record["parser"],
            f"{record['k']}",
            f"{record['base']['parser']['uas']:.2f}",
            f"{record['base']['oracle']:.2f}",
            f"{record['max_order']}",
            counts(record["selection"]["survivors"]),
            f"{record['development_base']['parser']['uas']:.2f}",
            f"{record['chosen']['development']['uas']:.2f}",
            *change(record["test"]),
            f"{record['sentences_a_second']:,.0f}",
        ]
        for record in results
    ]
    out.section("Measured")
    out.table(
        [
            "parser",
            "k",
            "first tree",
            "best of list",
            "order",
            "features",
            "development, first tree",
            "development",
            *CHANGE,
            "sentences a second",
        ],
        rows,
    )
    return out
