"""Table 3: the threshold C, by features, templates, time, memory and UAS; and frequent mining beside it."""

from __future__ import annotations

import re
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from espalier.selection import KernelSpaceSelector, frequent_counts
from espalier_experiments.page import Page
from espalier_experiments.papers import Setup
from espalier_experiments.qian2015.lists import K, lists_of
from espalier_experiments.qian2015.reranking import MEMORY, rerank, select
from espalier_experiments.qian2015.tables import PAPER, counts
from espalier_experiments.records import Record, short
from espalier_experiments.store import Results, Task

NAME = "thresholds"
VALUES = (10.0, 5.0, 3.0, 2.0, 1.0)
TEMPLATES, MAX_ORDER, DECAY, N_THREADS = "joined", 3, 0.3, 2
LARGER = (10.0, 3.0)  # values of C with one order more
WIDER = (10.0,)  # values of C with all of table 1
TIGHT = "4 GiB"  # a memory budget for all passes, beside that of the other rows
MOST_MEMORY = 16 * 10**9  # bytes that a selection may take
FREQUENT = 2  # the largest order for which what is frequent is counted
PUBLISHED = {  # features, templates, hours, gigabytes, UAS
    1.0: ("0.34 G", "", "stalled", "out of memory", ""),
    2.0: ("0.34 G", "", "stalled", "out of memory", ""),
    3.0: ("33.1 M", "11.4 K", "36", "4.0", "93.72"),
    5.0: ("6.32 M", "2.1 K", "20", "2.2", "93.55"),
    10.0: ("2.10 M", "1.6 K", "5", "1.4", "93.40"),
}


def settings(*, quick: bool) -> dict[str, Any]:
    """What all results have in common."""
    orders = 2 if quick else MAX_ORDER
    return {"k": 5 if quick else K, "templates": TEMPLATES, "max_order": orders, "decay": DECAY}


def tasks(setup: Setup) -> list[Task]:
    """One task for each C, some with one order more; the passes of C = 3 go on until the objective hardly changes."""
    found: list[Record] = [{"C": C, "passes_at_most": 1} for C in VALUES[: 2 if setup.quick else 5]]
    found += [{"C": C, "passes_at_most": 1, "orders": MAX_ORDER + 1} for C in (() if setup.quick else LARGER)]
    found += [{"C": C, "passes_at_most": 1, "forms": "all"} for C in (() if setup.quick else WIDER)]
    every = {"C": 3.0, "passes_at_most": 2 if setup.quick else 100}
    found += [every, {**every, "memory": TIGHT}]
    return [Task(own, threshold, setup.arguments) for own in found]


def threshold(
    C: float,
    passes_at_most: int,
    setup: Setup,
    orders: int | None = None,
    forms: str = TEMPLATES,
    memory: str = MEMORY,
) -> Record:
    """Select with this C; count what is frequent; rerank development sentences."""
    common = settings(quick=setup.quick)
    lists, _ = lists_of(setup, "ewt", common["k"])
    setup = replace(setup, n_threads=N_THREADS)
    reset_peak()
    try:
        with at_most(MOST_MEMORY):
            max_order = common["max_order"] if orders is None else orders
            selector, figures = select(lists, forms, max_order, setup, C=C, max_passes=passes_at_most, memory=memory)
    except MemoryError:
        return {"out_of_memory": MOST_MEMORY, "peak": peak_memory()}
    out: Record = {"selection": figures, "peak": peak_memory(), "templates": selector.features_.n_templates()}
    is_plain = orders is None and forms == TEMPLATES and memory == MEMORY
    if passes_at_most == 1 and C >= 3 and is_plain:
        began = time.monotonic()
        smaller = KernelSpaceSelector(selector.kernel, C=C, max_order=FREQUENT, memory=MEMORY, n_threads=N_THREADS)
        out["frequent"] = frequent_counts(smaller, lists.train)
        out["frequent_seconds"] = short(time.monotonic() - began)
    if C >= 3 and is_plain:
        found = rerank(lists, selector, setup, decays=(DECAY,), keep="survivors")
        out["chosen"], out["trials"] = found["chosen"], found["trials"]
    return out


@contextmanager
def at_most(memory: int) -> Iterator[None]:
    """Let the process have no more than this, where the system allows it: allocations beyond it fail."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def reset_peak() -> None:
    """Forget the largest memory that the process has held so far, where the system allows it."""
    with suppress(OSError):  # the peak then is that of the process since its start
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """The largest memory that the process has held, in bytes; 0 where the system does not say."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        return 0
    return 1024 * int(found[1]) if found else 0


def page(results: Results) -> Page:
    """Features, templates, seconds, bytes and UAS by C, beside those of the paper."""
    common = results.settings
    out = Page(results.path.stem, "How many features a threshold selects")
    out.aim(
        f"See what the threshold C does in the space of subtrees of up to {common['max_order']} arcs.",
        "Features and templates that survive, time and memory on two cores, and UAS on development sentences.",
        "The paper's figures on a treebank three times as large, and frequent mining with the same threshold.",
    )
    out.say(
        f"After {PAPER}, table 3, on the lists of the English Web Treebank that [systems](systems.md) describes; table "
        "1's joined forms, about 18 features for an arc, or all forms, about 34. A template is the shape of a subtree "
        "with the template of each of its arcs. Memory is the peak of the whole process while it selects, "
        "lists of candidates included; the selector's own budget is "
        f"{MEMORY}, or {TIGHT} where the row says so, and what exceeds it goes to the disk. UAS is that of a reranker "
        f"on all survivors, with a decay of {common['decay']:g} for each order."
    )
    rows = []
    listed = sorted(
        results,
        key=lambda own: (
            *(-own["C"], own["passes_at_most"], own.get("orders", 0), own.get("forms", "")),
            own.get("memory", ""),
        ),
    )
    for record in listed:
        if "out_of_memory" in record:
            orders = f"orders to {record.get('orders', common['max_order'])}"
            most = f"more than {record['out_of_memory'] / 1e9:.0f}"
            rows.append([f"{record['C']:g}", record.get("forms", TEMPLATES), *[""] * 3, orders, *[""] * 4, most, ""])
            continue
        figures = record["selection"]
        n = sum(figures["survivors"])
        rows.append(
            [
                f"{record['C']:g}",
                record.get("forms", TEMPLATES),
                record.get("memory", MEMORY),
                f"{figures['passes']}",
                f"{n / 1e6:,.2f} M",
                counts(figures["survivors"]),
                f"{sum(figures['weights']) / 1e6:,.2f} M",
                f"{record['templates']:,}",
                f"{figures['pass_seconds']:,.0f}",
                f"{figures['select_seconds']:,.0f}",
                f"{record['peak'] / 1e9:.1f}",
                f"{record['chosen']['development']['uas']:.2f}" if "chosen" in record else "",
            ]
        )
    out.section("Measured")
    out.table(
        [
            "C",
            "forms",
            "budget",
            "passes",
            "features",
            "by order",
            "weights not 0",
            "templates",
            "seconds a pass",
            "seconds in all",
            "GB",
            "UAS",
        ],
        rows,
    )
    rows = [
        [
            f"{record['C']:g}",
            counts(record["selection"]["survivors"][:FREQUENT]),
            counts(record["frequent"]),
            f"{record['frequent_seconds']:,.0f}",
        ]
        for record in sorted(results, key=lambda own: -own["C"])
        if "frequent" in record
    ]
    out.section("Frequent mining")
    out.say(
        "Proposition 1 of the paper: gradient mining is sparser than mining features that more than C candidates "
        f"have, right or wrong. Orders 1 to {FREQUENT}."
    )
    out.table(["C", "gradient mining", "frequent mining", "seconds"], rows)
    out.section("In the paper")
    out.table(["C", "features", "templates", "hours", "GB", "UAS"], [[f"{C:g}", *own] for C, own in PUBLISHED.items()])
    return out
