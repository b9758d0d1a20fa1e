"""Attachment scores as the scorers of CoNLL-2007 and CoNLL-2018 define them, token by token."""

from __future__ import annotations

import unicodedata

from espalier.structures import DependencyTree


def is_punctuation(word: str) -> bool:
    """Whether every character is of a Unicode category that begins with P, and there is one."""
    for character in word:
        if unicodedata.category(character)[0] != "P":
            return False
    return word != ""


def universal(relation: str) -> str:
    """The part of a relation before its first colon."""
    out = ""
    for character in relation:
        if character == ":":
            break
        out += character
    return out


def attachment(
    gold: DependencyTree, parsed: DependencyTree, *, punctuation: bool, subtypes: bool
) -> tuple[int, int, int, int]:
    """Tokens with the right head, with the right head and relation, with the right relation, and all that count."""
    heads = arcs = relations = tokens = 0
    for place in range(len(gold.words)):
        if not punctuation and is_punctuation(gold.words[place]):
            continue
        one, other = gold.relations[place], parsed.relations[place]
        if not subtypes:
            one, other = universal(one), universal(other)
        tokens += 1
        if gold.heads[place] == parsed.heads[place]:
            heads += 1
            if one == other:
                arcs += 1
        if one == other:
            relations += 1
    return heads, arcs, relations, tokens
