"""Vectorizers and classifiers on disk: one safetensors file, with kernels as text in a JSON header.

No code is ever loaded, and nothing is made of a file before it is known to be sound.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.array_files import Arrays, load_arrays, save_arrays
from espalier.errors import InputError
from espalier.fragments.linearized import LinearizedTreeClassifier
from espalier.fragments.vectorizer import FragmentVectorizer, TermFeatures
from espalier.kernels.base import Kernel
from espalier.kernels.expressions import parse_kernel, saved_kernel
from espalier.kernels.hyperparameters import Learned, PerDimension, PerLabel
from espalier.spaces.code_checks import Checks
from espalier.spaces.terms import Term, is_listable

VECTORIZER, CLASSIFIER = "espalier.fragments", "espalier.linearized"
READERS = {VECTORIZER: "FragmentVectorizer.load", CLASSIFIER: "LinearizedTreeClassifier.load"}
VERSION = 1
# Characters of the name of a class: numpy gives every prediction the room of the longest.
LONGEST_CLASS = 1_000
# How numpy holds the classes, and what each of them is.
CLASS_TYPES: dict[str, type[Any]] = {
    "str": str,
    "object": str,
    "bool": bool,
    **{f"{sign}int{bits}": int for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


def save_vectorizer(vectorizer: FragmentVectorizer, path: str | Path) -> None:
    """Write the fragments of each tree kernel, and how they are counted."""
    arrays, header = _written(vectorizer)
    save_arrays(path, arrays, {"format": VECTORIZER, "version": VERSION, **header})


def load_vectorizer(path: str | Path) -> FragmentVectorizer:
    """Read a vectorizer; a file that is damaged, foreign or of another version is an error that says so."""
    arrays, header = load_arrays(path, "vectorizer", VECTORIZER, VERSION, READERS)
    with Checks(path).header():
        return _vectorizer(path, arrays, header)


def save_classifier(classifier: LinearizedTreeClassifier, path: str | Path) -> None:
    """Write the vectorizer, the classes, and the weights of the linear model."""
    if classifier._weights is None:
        linear = classifier.linear_[0] if isinstance(classifier.linear_, list) else classifier.linear_
        raise InputError(
            f"A classifier with {linear!r} cannot be saved: its scores are no plain sums of weights over features. "
            "Use a linear model with coef_ and intercept_, such as LinearSVC, LogisticRegression, RidgeClassifier or "
            "SGDClassifier."
        )
    weights, intercepts = classifier._weights
    if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()):
        raise InputError("A classifier whose weights are not finite cannot be saved: the linear model diverged.")
    arrays, header = _written(classifier.vectorizer_)
    arrays |= {"weights": weights, "intercepts": np.broadcast_to(intercepts, weights.shape[1])}
    classes = {"classes": classifier.classes_.tolist(), "class_type": _class_type(classifier.classes_)}
    save_arrays(path, arrays, {"format": CLASSIFIER, "version": VERSION, **classes, **header})


def load_classifier(path: str | Path) -> LinearizedTreeClassifier:
    """Read a classifier; a file that is damaged, foreign or of another version is an error that says so."""
    arrays, header = load_arrays(path, "classifier", CLASSIFIER, VERSION, READERS)
    check = Checks(path)
    classifier = LinearizedTreeClassifier()
    with check.header():
        classifier.vectorizer_ = _vectorizer(path, arrays, header)
        classifier.classes_ = _classes(check, header["classes"], header["class_type"])
        weights, intercepts = arrays["weights"], arrays["intercepts"]
    check.weights(weights, intercepts, classifier.vectorizer_.n_features_out_, len(classifier.classes_))
    classifier._weights = weights, intercepts
    return classifier


def _written(vectorizer: FragmentVectorizer) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and the header of a vectorizer."""
    arrays: Arrays = {}
    terms = []
    for k, own in enumerate(vectorizer.terms_):
        term = own.term
        arrays |= {f"{k}.{name}": array for name, array in own.fragments.arrays().items()}
        terms.append(
            {
                "path": term.path,
                "kind": term.space.name,
                "kernel": _text(term.kernel),
                "scale": term.scale,
                "norms": [_text(kernel) for kernel in term.norms],
                "labels": list(own.fragments.labels),
            }
        )
    return arrays, {"values": vectorizer.values, "terms": terms}


def _text(kernel: Kernel) -> str:
    """The kernel as text that can be read back."""
    text = repr(_plain(kernel))
    try:
        parse_kernel(text, max_length=None)
    except InputError as error:
        raise InputError(f"Only fragments of Espalier's own kernels can be saved. {error}") from None
    return text


def _plain(kernel: Kernel) -> Kernel:
    """The kernel without the bounds and priors of its hyperparameters: what is learned has its value."""
    changes: dict[str, Any] = {}
    for name, setting in kernel._settings():
        if isinstance(setting, Learned):
            changes[name] = setting.value
        elif isinstance(setting, PerLabel | PerDimension) and isinstance(setting.value, Learned):
            changes[name] = replace(setting, value=setting.value.value)
    children = [_plain(child) for _, child in kernel._children()]
    return replace(kernel, **changes)._with_children(children)


def _vectorizer(path: str | Path, arrays: Arrays, header: dict[str, Any]) -> FragmentVectorizer:
    vectorizer = FragmentVectorizer(values=header["values"])
    vectorizer._check()
    vectorizer.terms_ = [_term(path, arrays, k, entry) for k, entry in enumerate(header["terms"])]
    vectorizer.mined_ = []
    Checks(path).require(vectorizer.n_features_out_ > 0, "it has no fragments")
    return vectorizer


def _term(path: str | Path, arrays: Arrays, k: int, entry: dict[str, Any]) -> TermFeatures:
    kernel = _kernel(path, entry["kernel"])
    check = Checks(path)
    check.require(is_listable(kernel), f"the features of {kernel!r} cannot be listed")
    norms = tuple(_kernel(path, text) for text in entry["norms"])
    labels, scale = entry["labels"], float(entry["scale"])
    check.require(math.isfinite(scale) and scale >= 0, f"a kernel is multiplied by {scale}")
    term = Term(str(entry["path"]), kernel, scale, norms)
    own = {name.removeprefix(f"{k}."): array for name, array in arrays.items() if name.startswith(f"{k}.")}
    return TermFeatures(term, term.space.listing.from_arrays(labels, own, path), {})


def _kernel(path: str | Path, text: str) -> Kernel:
    try:
        return saved_kernel(text)
    except InputError as error:
        raise InputError(f"{path} is damaged: {error}") from None


def _are_short(names: list[str]) -> bool:
    return all(len(name) <= LONGEST_CLASS for name in names)


def _class_type(classes: NDArray[Any]) -> str:
    """Under which name the classes are held."""
    if classes.dtype.kind in "OU" and not _are_short([str(name) for name in classes.tolist()]):
        raise InputError(f"The name of a class has more than {LONGEST_CLASS:,} characters. Train with shorter names.")
    if classes.dtype.name in CLASS_TYPES and classes.dtype != object:
        return classes.dtype.name
    labels = classes.tolist()
    for label in labels:
        if not isinstance(label, str):
            raise InputError(
                f"Classes can be saved where they are strings, integers or booleans, not {label!r} of type "
                f"{type(label).__name__}. Train with such labels."
            )
    return "object" if classes.dtype == object else "str"


def _classes(check: Checks, labels: Any, held: str) -> NDArray[Any]:
    wanted = CLASS_TYPES[held]
    sound = isinstance(labels, list) and len(labels) >= 2 and all(type(label) is wanted for label in labels)
    check.require(sound, f"it has no list of two classes or more of type {held}")
    check.require(len(set(labels)) == len(labels), "a class is listed twice")
    if wanted is str:
        check.require(_are_short(labels), f"the name of a class has more than {LONGEST_CLASS:,} characters")
    classes = np.array(labels, held)
    check.require(classes.tolist() == labels, f"a class is no {held}")
    return classes
