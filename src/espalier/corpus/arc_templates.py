"""Templates: texts that say which features an arc of a dependency tree has, and the parts of which they consist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

OWN = "own"  # the features that a tree brings along for its arcs
BETWEEN, RELATION, LENGTH, DIRECTION = "between tag", "relation", "length", "direction"
# By part: whether it looks at the head, in which column, and how many words to the right.
LOOKS = {
    "head word": (True, "words", 0),
    "head tag": (True, "tags", 0),
    "head tag -1": (True, "tags", -1),
    "head tag +1": (True, "tags", 1),
    "word": (False, "words", 0),
    "tag": (False, "tags", 0),
    "tag -1": (False, "tags", -1),
    "tag +1": (False, "tags", 1),
    RELATION: (False, "relations", 0),
}
PARTS = (*LOOKS, BETWEEN, LENGTH, DIRECTION)
TEMPLATES = ("words", "tags", "head word, tag", "head tag, word", "relation", "direction", "distance")  # the plain ones

_PAIRS = {"words": ("head word", "word"), "tags": ("head tag", "tag")}  # names for two parts
_OLD_LENGTH = "distance"  # the name of "length" before there were parts; it stands alone


def parts_of_template(template: str) -> tuple[str, ...]:
    """Return the parts of a template, in its order; of ``"own"`` only itself.

    Examples
    --------
    >>> parts_of_template("words, length")
    ('head word', 'word', 'length')
    """
    if template == OWN:
        return (OWN,)
    if template == _OLD_LENGTH:
        return (LENGTH,)
    return tuple(part for name in template.split(", ") for part in _PAIRS.get(name, (name,)))


def check_templates(templates: object) -> tuple[str, ...]:
    """Return the templates, or refuse anything except a list of different ones."""
    if isinstance(templates, str) or not isinstance(templates, Iterable):
        raise TypeError(f"features must list templates, such as ('tags',), got {templates!r}.")
    listed = tuple(templates)
    seen: dict[frozenset[str], str] = {}
    for template in listed:
        parts = _checked_parts(template)
        other = seen.setdefault(frozenset(parts), template)
        if other != template:
            raise ValueError(f"{other!r} and {template!r} are the same template; list one of them.")
    if not listed or len(seen) < len(listed):
        raise ValueError(f"features must list one template or more, each once, got {templates!r}.")
    return listed


def _checked_parts(template: object) -> tuple[str, ...]:
    """The parts of a template, if each of them is known and appears once."""
    parts = parts_of_template(template) if isinstance(template, str) else ()
    unknown = [part for part in parts if part not in PARTS]
    if not parts or (unknown and template != OWN):
        near = _nearest(template) if isinstance(template, str) else None
        hint = "" if near is None else f" Did you mean {near!r}?"
        raise ValueError(
            f"There is no template {template!r:.100}.{hint} A template is {OWN!r}, or consists of different parts, "
            f"joined by ', ': {', '.join(map(repr, PARTS))}. The name 'words' means 'head word, word', 'tags' means "
            f"'head tag, tag', and {_OLD_LENGTH!r} alone means {LENGTH!r}."
        )
    for part in parts:
        if parts.count(part) > 1:
            raise ValueError(f"The template {template!r} has the part {part!r} twice; each part may appear once.")
    return parts


def _nearest(template: str) -> str | None:
    """The template that a text with an unknown part may mean."""
    pieces = [piece.strip().lower() for piece in template.split(",")]
    if len(pieces) > len(PARTS):
        return None
    known = [*PARTS, *_PAIRS, *([OWN, _OLD_LENGTH] if len(pieces) == 1 else [])]
    found = []
    for piece in pieces:
        near = [LENGTH] if piece == _OLD_LENGTH else difflib.get_close_matches(piece, known, n=1)
        if not near:
            return None
        found += near
    suggested = ", ".join(found)
    parts = parts_of_template(suggested)
    return suggested if len(set(parts)) == len(parts) else None
