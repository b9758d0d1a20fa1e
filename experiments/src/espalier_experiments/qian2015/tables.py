"""What the tables of all experiments share."""

from __future__ import annotations

from collections.abc import Sequence

from espalier_experiments.records import Record

PAPER = "Qian and Liu (2015)"
CHANGE = ("test", "difference", "interval", "p", "errors removed, per cent")  # the columns of change()


def counts(numbers: Sequence[int]) -> str:
    """Numbers by order, the first order first."""
    return " + ".join(f"{number:,}" for number in numbers)


def change(record: Record) -> list[str]:
    """UAS, the difference to the parser with its interval and p-value, and the share of errors that it removes."""
    return [
        f"{record['uas']:.2f}",
        f"{record['difference']:+.2f}",
        f"{record['low']:+.2f} to {record['high']:+.2f}",
        f"{record['p']:.2g}",
        f"{record['removed']:.1f}",
    ]
