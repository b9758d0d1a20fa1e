"""A page of tables: printed as it grows, written whole at the end."""

from __future__ import annotations

from pathlib import Path

from benchmarks.corpora import ROOT

PAGE = ROOT / "docs" / "results" / "engine.md"


class Report:
    """Sections of tables, printed as they grow and written as one page at the end."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str = "") -> None:
        print(text, flush=True)
        self.lines.append(text)

    def aim(self, goal: str, measured: str, compared: str) -> None:
        """Say what the page is for, what was measured, and what that was compared with."""
        for name, text in (("Goal", goal), ("Measured", measured), ("Compared", compared)):
            self.say(f"\n**{name}.** {text}")

    def table(self, title: str, header: list[str], rows: list[list[str]], note: str = "") -> None:
        self.say(f"\n## {title}\n")
        if note:
            self.say(note + "\n")
        self.say("| " + " | ".join(header) + " |")
        self.say("|" + "---|" * len(header))
        for row in rows:
            self.say("| " + " | ".join(row) + " |")


def megabytes(n: float) -> str:
    return f"{n / 1e6:,.0f} MB"


def cpu_name() -> str:
    with open("/proc/cpuinfo") as info:
        return next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "unknown CPU")


def write_page(report: Report, page: Path = PAGE) -> None:
    page.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(f"{page}.part")
    draft.write_text("\n".join(report.lines) + "\n", encoding="utf-8")
    draft.replace(page)
    print(f"\nWritten to {page.relative_to(ROOT)}")
