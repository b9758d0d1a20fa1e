"""Grammars on disk: rules as arrays, names and counts of words in a JSON header. No code is ever loaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.corpus.array_files import load_arrays, save_arrays
from espalier.errors import InputError
from espalier.parsing.grammar import RULES, Grammar, check_rules
from espalier.parsing.lexicon import Lexicon

if TYPE_CHECKING:
    from espalier.parsing.pcfg import PCFG

FORMAT, VERSION = "espalier.pcfg", 1
_OTHERS = {"espalier.reranker": "Reranker.load", "espalier.tagger": "Tagger.load"}


def save_pcfg(parser: PCFG, path: str | Path) -> None:
    """Write a grammar and its lexicon, whole or not at all."""
    grammar, lexicon = parser.grammar, parser.lexicon
    header = {
        "format": FORMAT,
        "version": VERSION,
        "symbols": grammar.symbols,
        "labels": parser.labels,
        "n_prefixes": grammar.n_prefixes,
        "root": grammar.root,
        "max_unary": grammar.max_unary,
        "hides_root": parser.hides_root,
        "lexicon": {
            "tag_counts": lexicon.tag_counts,
            "word_counts": lexicon.word_counts,
            "class_counts": lexicon.class_counts,
            "smoothing": lexicon.smoothing,
            "parts": lexicon.parts,
            "word_parts": lexicon.word_parts,
        },
    }
    save_arrays(path, {name: getattr(grammar, name) for name in RULES}, header)


def load_pcfg(path: str | Path) -> PCFG:
    """Read a grammar; a file that is damaged, foreign or from another version is an error that says so."""
    from espalier.parsing.pcfg import PCFG

    arrays, header = load_arrays(path, "grammar", FORMAT, VERSION, _OTHERS)

    def require(condition: bool, what: str) -> None:
        if not condition:
            raise InputError(f"{path} is damaged: {what}. Save the grammar again.")

    symbols: Any = header.get("symbols")
    labels: Any = header.get("labels")
    require(are_texts(symbols) and are_texts(labels), "symbols and labels must be lists of texts")
    require(len(symbols) == len(labels) == len(set(symbols)) > 0, "each symbol needs one label")
    for name, least, most in (
        ("n_prefixes", 0, len(arrays.get("binary", ()))),
        ("root", 0, len(symbols) - 1),
        ("max_unary", 0, 100),
    ):
        require(type(header.get(name)) is int and least <= header[name] <= most, f"{name} is out of range")
    require(type(header.get("hides_root")) is bool, "hides_root must be true or false")
    check_rules(arrays, len(symbols), len(symbols) + header["n_prefixes"], require)
    grammar = Grammar(
        symbols=tuple(symbols),
        n_prefixes=header["n_prefixes"],
        root=header["root"],
        max_unary=header["max_unary"],
        **{name: arrays[name] for name in RULES},
    )
    return PCFG(grammar, _lexicon(header.get("lexicon"), require), labels, hides_root=header["hides_root"])


def _lexicon(given: Any, require: Any) -> Lexicon:
    require(isinstance(given, dict), "it has no lexicon")
    tags, words, classes = (given.get(name) for name in ("tag_counts", "word_counts", "class_counts"))
    require(are_counts(tags) and bool(tags), "its tags have no counts")
    for table in (words, classes):
        require(isinstance(table, dict) and all(map(are_counts, table.values())), "its words have no counts")
        require(all(tag in tags for counts in table.values() for tag in counts), "a word has an unknown tag")
    smoothing = given.get("smoothing")
    require(type(smoothing) in (int, float) and 0 <= smoothing < float("inf"), "its smoothing is no number")
    parts, word_parts = (given.get(name, {}) for name in ("parts", "word_parts"))
    for table in (parts, word_parts):
        require(isinstance(table, dict) and all(map(are_counts, table.values())), "parts of tags have no counts")
    tables = ({"": tags}, words, classes, parts, word_parts)
    largest = max(count for table in tables for counts in table.values() for count in (0, *counts.values()))
    require(largest < 2**53, "a count is too large")
    require(all(parts.values()) and all(tag in tags for tag in parts), "a tag has no parts, or is unknown")
    return Lexicon(tags, words, classes, smoothing, parts, word_parts)


def are_counts(table: Any) -> bool:
    """Whether this is a mapping to counts, as it should stand in a header."""
    return isinstance(table, dict) and all(type(count) is int and count > 0 for count in table.values())


def are_texts(values: Any) -> bool:
    """Whether this is a list of texts."""
    return isinstance(values, list) and all(isinstance(value, str) for value in values)
