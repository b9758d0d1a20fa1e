"""What a saved file says about itself, for ``espalier describe``: read without making the object that it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from espalier.cli.reporting import visible
from espalier.errors import InputError
from espalier.jobs.memory import show_bytes
from espalier.storage import Contents, State, read

N_SHOWN = 60  # learned numbers and arrays that are listed at most


def is_saved(path: Path) -> bool:
    """Whether a file begins like one that ``save`` writes: a length, then an object of JSON."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(10)[8:] == b'{"'


def saved_lines(path: Path) -> list[str]:
    """The kind, versions, training data, settings, learned hyperparameters and arrays of a saved file."""
    contents = read(path)
    try:
        return [visible(line) for line in _lines(contents)]
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged: {error}. Save the {contents.kind} again.") from None


def _lines(contents: Contents) -> Iterator[str]:
    state = State(contents.state, contents.arrays)
    yield f"kind         {contents.kind}"
    library, version = (contents.header.get(name, 1) for name in ("espalier", "version"))
    yield f"written by   Espalier {library}, version {version} of the format"
    yield f"size         {show_bytes(contents.n_bytes)}"
    yield from _section("trained on", _flat(contents.header.get("trained_on", {})))
    own = state.part("chooser") if "chooser" in state else state
    if "settings" in own:
        yield from _section("settings", own.part("settings").values())
    yield from _section("learned", _learned(own))
    arrays = sorted(contents.arrays.items())
    yield from _section("arrays", {name: f"{array.dtype} {_shape(array.shape)}" for name, array in arrays})


def _section(title: str, values: Mapping[str, object]) -> Iterator[str]:
    """A title and a line for each value."""
    if values:
        yield f"{title}:"
    width = max(map(len, values), default=0)
    for name, value in list(values.items())[:N_SHOWN]:
        yield f"  {name:{width}}  {value}"
    if len(values) > N_SHOWN:
        yield f"  and {len(values) - N_SHOWN:,} more"


def _learned(state: State) -> dict[str, object]:
    """The learned numbers by path, or those of the learned kernel."""
    if "learned" in state:
        return {row.path: f"{row.value:.6g}" for row in state.object("learned", tuple)}
    return {"kernel": state.value("kernel")} if "kernel" in state else {}


def _flat(facts: Mapping[str, Any]) -> dict[str, object]:
    """Facts about training data, those of columns by the columns' names."""
    columns = facts.get("columns", {})
    rest = {name: value for name, value in facts.items() if name != "columns"}
    own = {name: f"{value:,}" if isinstance(value, int) else value for name, value in rest.items()}
    return own | {f"column {name}": kind for name, kind in columns.items()}


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(f"{size:,}" for size in shape) or "1"
