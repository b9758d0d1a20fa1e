"""Files of Espalier 0.1, which had one format for each kind of object: their contents as states of the present format.

This module checks only what the translation needs: classes check the states that they are made from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from espalier.errors import InputError, warn_user
from espalier.storage.states import ARRAY, KIND, Arrays

_RENAMED = {"max_passes": "max_iterations"}  # settings of learners that had other names

Header = Mapping[str, Any]
Content = dict[str, Any]


def translated(header: Header, arrays: Arrays, path: object) -> tuple[str, Content]:
    """The kind of the object in an old file, and its state; arrays that no longer have their form are replaced."""
    kind, translate = FORMATS[header["format"]]
    return kind, translate(header, arrays, path)


def _named(names: Iterable[str], prefix: str = "") -> Content:
    """References to arrays."""
    return {name: {ARRAY: prefix + name} for name in names}


def _copied(*names: str, corpus: bool = True) -> Callable[[Header, Arrays, Any], Content]:
    """Copy some entries of the header, refer to all arrays, and make a vocabulary of the labels of a corpus."""

    def translate(header: Header, arrays: Arrays, path: object) -> Content:
        own = {"vocabulary": {KIND: "Vocabulary", "labels": header["labels"]}} if corpus else {}
        return own | {name: header[name] for name in names} | _named(arrays)

    return translate


def _grammar(header: Header, arrays: Arrays, path: object) -> Content:
    lexicon = {"parts": {}, "word_parts": {}, **header["lexicon"]}
    names = ("symbols", "labels", "n_prefixes", "root", "max_unary", "hides_root")
    return _copied(*names, corpus=False)(header, arrays, path) | {"lexicon": lexicon}


def _vectorizer(header: Header, arrays: Arrays, path: object) -> Content:
    terms = [_term(entry, f"{k}.", arrays, path) for k, entry in enumerate(header["terms"])]
    return {"settings": {"values": header["values"]}, "terms": terms}


def _term(entry: Header, prefix: str, arrays: Arrays, path: object) -> Content:
    names = [name.removeprefix(prefix) for name in arrays if name.startswith(prefix)]
    if "production_start" not in names:
        arrays[f"{prefix}code"] = _without_words(arrays[f"{prefix}code"], path)
    return {
        "path": entry["path"],
        "kernel": _kernel(entry["kernel"]),
        "scale": entry["scale"],
        "norms": [_kernel(text) for text in entry["norms"]],
        "labels": entry["labels"],
        **_named(names, prefix),
    }


def _without_words(code: Any, path: object) -> Any:
    """The code of partial fragments: version 0.1 wrote twice the label, and added 1 for a word."""
    if code.ndim != 1 or len(code) % 2:
        raise InputError("a fragment is cut off")
    out = code.copy()
    out[1::2] //= 2
    if np.any(code[1::2] % 2):
        warn_user(
            f"{path} holds partial trees of Espalier 0.1, which told a word from a node with the same label. Now both "
            "count as one fragment, so features and scores may differ. Fit the model again."
        )
    return out


def _classifier(header: Header, arrays: Arrays, path: object) -> Content:
    vectorizer = {KIND: "FragmentVectorizer", **_vectorizer(header, arrays, path)}
    classes = {"type": header["class_type"], "labels": header["classes"]}
    return {"settings": {}, "vectorizer": vectorizer, "classes": classes, **_named(("weights", "intercepts"))}


def _reranker(header: Header, arrays: Arrays, path: object) -> Content:
    own = {name.removeprefix("state."): {ARRAY: name} for name in arrays if name.startswith("state.")}
    own |= header["state"]
    settings = {_RENAMED.get(name, name): value for name, value in header["settings"].items() if name != "n_threads"}
    chooser = {
        KIND: header["learner"],
        "settings": {**settings, "kernel": _kernel(header["kernel"])},
        "fitted": header.get("fitted", {}),
        "weight": header["score_weight"],
        "support": _candidates(arrays["support"]),
        "coefficients": {ARRAY: "coefficients"},
        **own,
    }
    if "updates" in own:
        chooser["voters"] = _candidates(arrays["items"])
    if "kernel" in own:
        chooser["kernel"] = _kernel(own["kernel"])
    return {"chooser": chooser}


def _candidates(lines: Any) -> Content:
    """Candidates, which version 0.1 wrote as lines of JSON in an array of bytes."""
    if lines.dtype != np.uint8:
        raise InputError("its candidates are not text")
    records = [json.loads(line) for line in lines.tobytes().decode().split("\n") if line]
    return {"form": "items", "items": [_candidate(record) for record in records]}


def _candidate(record: Any) -> Content:
    if "tree" in record:
        return {KIND: "Tree", "brackets": record["tree"]}
    return {KIND: "DependencyTree" if "heads" in record else "TaggedSequence", **record}


def _kernel(text: object) -> Content:
    return {KIND: "KernelText", "text": text}


FORMATS: dict[str, tuple[str, Callable[[Header, Arrays, Any], Content]]] = {
    "espalier.forest": ("Forest", _copied()),
    "espalier.sequences": ("Sequences", _copied("of")),
    "espalier.arcs": ("Arcs", _copied("templates")),
    "espalier.graphs": ("Graphs", _copied("node_labels")),
    "espalier.pcfg": ("PCFG", _grammar),
    "espalier.tagger": ("Tagger", _copied("tags", "words", "suffix", "rare", "smoothing", corpus=False)),
    "espalier.fragments": ("FragmentVectorizer", _vectorizer),
    "espalier.linearized": ("LinearizedTreeClassifier", _classifier),
    "espalier.reranker": ("Reranker", _reranker),
}
