"""Vectorizers on disk: one safetensors file, with kernels as text in a JSON header. No code is ever loaded."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.fragments.dictionary import FragmentDictionary
from espalier.fragments.terms import Term
from espalier.fragments.vectorizer import FragmentVectorizer, TermFeatures
from espalier.kernels.expressions import parse_kernel
from espalier.kernels.tree_plan import TreeKernel
from espalier.structures.files import write_bytes

FORMAT = "espalier.fragments"
VERSION = 1
ARRAYS = {"production_start": np.int64, "production_part": np.int32, "start": np.int64, "code": np.int32}


def save_vectorizer(vectorizer: FragmentVectorizer, path: str | Path) -> None:
    """Write the fragments of each tree kernel, and how they are counted."""
    from safetensors.numpy import save

    arrays: dict[str, NDArray[Any]] = {}
    terms = []
    for k, own in enumerate(vectorizer.terms_):
        for name in ARRAYS:
            arrays[f"{k}.{name}"] = np.ascontiguousarray(getattr(own.fragments, name))
        term = own.term
        terms.append(
            {
                "path": term.path,
                "kernel": repr(term.kernel),
                "scale": term.scale,
                "norms": [repr(kernel) for kernel in term.norms],
                "labels": list(own.fragments.labels),
            }
        )
    header = {"format": FORMAT, "version": VERSION, "values": vectorizer.values, "terms": terms}
    write_bytes(path, save(arrays, metadata={"espalier": json.dumps(header, ensure_ascii=False)}))


def load_vectorizer(path: str | Path) -> FragmentVectorizer:
    """Read a vectorizer; a file that is damaged, foreign or of another version is an error that says so."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise InputError(f"{path} is no safetensors file, or is damaged ({error}). Save it again.") from None
    header = _header(path, metadata)
    try:
        values, terms = header["values"], header["terms"]
        found = [_term(path, arrays, k, entry) for k, entry in enumerate(terms)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is damaged: its header lacks or garbles {error}. Save it again.") from None
    vectorizer = FragmentVectorizer(values=values)
    vectorizer._check()
    vectorizer.terms_ = found
    vectorizer.mined_ = []
    return vectorizer


def _header(path: str | Path, metadata: dict[str, str]) -> dict[str, Any]:
    try:
        header = json.loads(metadata.get("espalier", ""))
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(f"{path} is a safetensors file, but no vectorizer that Espalier saved.")
    if header.get("version") != VERSION:
        raise InputError(
            f"{path} was written in version {header.get('version')!r} of the format, and this Espalier reads version "
            f"{VERSION}. Save it again with this version of Espalier."
        )
    return header


def _term(path: str | Path, arrays: dict[str, NDArray[Any]], k: int, entry: dict[str, Any]) -> TermFeatures:
    kernel = parse_kernel(entry["kernel"], max_length=None)
    if not isinstance(kernel, TreeKernel):
        raise InputError(f"{path} is damaged: {kernel!r} is no kernel over trees. Save it again.")
    norms = tuple(parse_kernel(text, max_length=None) for text in entry["norms"])
    labels = entry["labels"]
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise InputError(f"{path} is damaged: it has no list of labels. Save it again.")
    own = {name: arrays[f"{k}.{name}"] for name in ARRAYS}
    _check_arrays(path, own, len(labels))
    fragments = FragmentDictionary(labels, **own)
    return TermFeatures(Term(str(entry["path"]), kernel, float(entry["scale"]), norms), fragments, {})


def _check_arrays(path: str | Path, arrays: dict[str, NDArray[Any]], n_labels: int) -> None:
    """Every invariant that the compiled core trusts: a hostile file must not reach it."""

    def require(condition: Any, what: str) -> None:
        if not condition:
            raise InputError(f"{path} is damaged: {what}. Save it again.")

    for name, kind in ARRAYS.items():
        require(arrays[name].ndim == 1 and arrays[name].dtype == kind, f"{name!r} must be a vector of {kind.__name__}")
    for starts, entries in (("production_start", "production_part"), ("start", "code")):
        start, size = arrays[starts], len(arrays[entries])
        whole = len(start) > 0 and start[0] == 0 and start[-1] == size and bool((np.diff(start) > 0).all())
        require(whole, f"{starts!r} does not cut {entries!r} into parts")
    part, start = arrays["production_part"], arrays["production_start"]
    is_head = np.zeros(len(part), bool)
    is_head[start[:-1]] = True
    alone = np.repeat(np.diff(start) == 1, np.diff(start))
    label = np.where(is_head, np.where(part < 0, -1 - part.astype(np.int64), part), part // 2)
    require(bool(((label >= 0) & (label < n_labels)).all()), "a production names a label that is not listed")
    require(not bool(((part < 0) & ~(is_head & alone)).any()), "a production holds a negative number")
    require(not bool((is_head & alone & (part >= 0)).any()), "a production has no children")
    code, begin = arrays["code"].astype(np.int64), arrays["start"]
    n_productions = len(start) - 1
    require(bool(((code >= -1) & (code < n_productions)).all()), "a fragment names a production that is not listed")
    if not len(code):
        return
    keys = {tuple(part[a:b].tolist()) for a, b in pairwise(start.tolist())}
    require(len(keys) == n_productions, "a production is listed twice")
    # How many nodes still need a decision: 0 after the last, more before.
    n_inner = np.add.reduceat(~is_head & (part % 2 == 0), start[:-1])
    open_nodes = np.cumsum(np.where(code < 0, -1, n_inner[code] - 1))
    before = np.concatenate([[0], open_nodes[begin[1:-1] - 1]])
    open_nodes = 1 + open_nodes - np.repeat(before, np.diff(begin))
    is_last = np.zeros(len(code), bool)
    is_last[begin[1:] - 1] = True
    require(bool(((open_nodes == 0) == is_last).all()) and bool((code[begin[:-1]] >= 0).all()), "a fragment is cut off")
