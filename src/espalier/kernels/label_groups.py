"""Check the groups of labels that share a value, as ``PerLabel`` gets them by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def by_name(argument: str, given: Any) -> dict[str, object]:
    """The mapping that ``PerLabel`` was given, checked."""
    try:
        found = dict(given or {})
    except (TypeError, ValueError):
        raise TypeError(f"{argument} of PerLabel must be a dict by name, got {given!r}.") from None
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"A name in {argument} of PerLabel must be a text, got {name!r} of {type(name).__name__}.")
    return found


def listed_labels(group: str, labels: object) -> tuple[str, ...]:
    """The labels of a group; raise for a string, which would be split into letters."""
    if isinstance(labels, str):
        raise ValueError(f"The group {group!r} must list its labels, [{labels!r}], got {labels!r}.")
    if not isinstance(labels, Iterable):
        raise TypeError(f"The group {group!r} must list its labels, got {labels!r}.")
    listed = tuple(labels)
    for label in listed:
        if not isinstance(label, str):
            raise TypeError(f"A label of the group {group!r} must be a text, got {label!r} of {type(label).__name__}.")
    return listed


def group_of_label(groups: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """The group of each label; raise if a label is in two groups, or a group has the name of a label of another."""
    found: dict[str, str] = {}
    for group, labels in groups.items():
        for label in labels:
            if found.get(label) == group:
                raise ValueError(f"label {label!r} is listed twice in the group {group!r}. Name it once.")
            if label in found:
                raise ValueError(f"label {label!r} is in two groups, {found[label]!r} and {group!r}.")
            found[label] = group
    for label, group in found.items():
        if label in groups and label != group:
            raise ValueError(
                f"The group {label!r} has the name of a label of the group {group!r}, so its value would be read as "
                "that of the label. Rename the group."
            )
    return found
