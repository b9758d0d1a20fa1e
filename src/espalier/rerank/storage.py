"""Rerankers on disk: coefficients as arrays, the candidates they belong to as lines of JSON. No code is ever loaded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus.array_files import load_arrays, save_arrays
from espalier.errors import InputError
from espalier.kernels.expressions import parse_kernel, saved_kernel
from espalier.rerank.chooser import Chooser, State
from espalier.rerank.perceptron import VotedPerceptron
from espalier.rerank.preference import GPPreference
from espalier.rerank.ranking_svm import RankingSVM
from espalier.structures.group import as_candidate
from espalier.structures.groups import candidate_of, candidate_record

if TYPE_CHECKING:
    from espalier.rerank.reranker import Reranker

FORMAT, VERSION = "espalier.reranker", 1
LEARNERS: dict[str, type[Chooser]] = {own.__name__: own for own in (VotedPerceptron, RankingSVM, GPPreference)}
_OTHERS = {"espalier.pcfg": "PCFG.load", "espalier.tagger": "Tagger.load"}
# What is used of a machine is not for a file to say.
_UNSAVED = ("kernel", "progress", "verbose", "n_threads", "memory")
_RENAMED = {"max_passes": "max_iterations"}  # since version 0.1
_FITTED = ("n_mistakes_", "n_passes_", "gap_", "n_groups_", "n_candidates_", "log_marginal_likelihood_")


def save_reranker(reranker: Reranker, path: str | Path) -> None:
    """Write a fitted reranker, whole or not at all."""
    chooser = reranker.chooser_
    name = type(chooser).__name__
    if LEARNERS.get(name) is not type(chooser):
        raise TypeError(f"A {name} cannot be saved; {', '.join(LEARNERS)} can.")
    state = chooser._state()
    header = {
        "format": FORMAT,
        "version": VERSION,
        "learner": name,
        "settings": _settings(chooser),
        "kernel": written_kernel(chooser.kernel),
        "score_weight": chooser.score_weight_,
        "fitted": {key: _plain(getattr(chooser, key)) for key in _FITTED if hasattr(chooser, key)},
        "state": state.header,
    }
    own: dict[str, NDArray[Any]] = {f"state.{key}": value for key, value in state.arrays.items()}
    own |= {"coefficients": chooser.coefficients_, "support": _lines(chooser.support_), "items": _lines(state.items)}
    save_arrays(path, own, header)


def load_reranker(path: str | Path) -> Reranker:
    """Read a reranker; a file that is damaged, foreign or from another version is an error that says so."""
    from espalier.rerank.reranker import Reranker

    arrays, header = load_arrays(path, "reranker", FORMAT, VERSION, _OTHERS)
    try:
        chooser = _chooser(arrays, header)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{path} is damaged: {error}. Save the reranker again.") from None
    reranker = Reranker(chooser)
    reranker.chooser_ = chooser
    return reranker


def _chooser(arrays: dict[str, NDArray[Any]], header: dict[str, Any]) -> Chooser:
    if header["learner"] not in LEARNERS:
        raise InputError(f"it holds a learner {header['learner']!r}, which this Espalier does not have")
    chooser = LEARNERS[header["learner"]](kernel=saved_kernel(header["kernel"]), **_own_settings(header["settings"]))
    chooser._check()
    coefficients, support = arrays["coefficients"], _items(arrays["support"])
    if coefficients.dtype != np.float64 or coefficients.shape != (len(support),):
        raise InputError("every candidate needs one coefficient")
    weight = header["score_weight"]
    if type(weight) is not float or not np.isfinite(weight) or not np.all(np.isfinite(coefficients)):
        raise InputError("a weight is no number")
    own = {key.removeprefix("state."): value for key, value in arrays.items() if key.startswith("state.")}
    chooser._set_state(State(dict(header["state"]), own, _items(arrays["items"])))
    chooser._set_support(support, coefficients)
    chooser.score_weight_ = weight
    for key, value in header.get("fitted", {}).items():
        if key not in _FITTED or not all(type(own) in (int, float) for own in np.ravel(value).tolist()):
            raise InputError(f"its {key} is no number")
        setattr(chooser, key, value)
    return chooser


def written_kernel(kernel: Any) -> str:
    """A kernel as text from which it can be read again, or an error."""
    text = repr(kernel)
    try:
        if parse_kernel(text, max_length=None) == kernel:
            return text
    except InputError:
        pass
    raise InputError(f"This kernel cannot be saved, for its text does not say all of it: {text:.200}.")


def _own_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a learner that a file may hold; those of version 0.1 by their new names, threads dropped."""
    named = {_RENAMED.get(key, key): value for key, value in settings.items()}
    return {key: value for key, value in named.items() if key not in _UNSAVED}


def _settings(chooser: Chooser) -> dict[str, Any]:
    """What the learner was made with; of seeds only numbers can be written."""
    settings = {key: _plain(value) for key, value in chooser.get_params(deep=False).items() if key not in _UNSAVED}
    if not isinstance(settings["random_state"], int):
        settings["random_state"] = None
    return settings


def _plain(setting: Any) -> Any:
    """A number of numpy as one of Python, which JSON holds."""
    return setting.item() if isinstance(setting, np.generic) else setting


def _lines(items: Sequence[Any]) -> NDArray[np.uint8]:
    text = "".join(json.dumps(candidate_record(item), ensure_ascii=False) + "\n" for item in items)
    return np.frombuffer(text.encode(), np.uint8)


def _items(data: NDArray[Any]) -> list[Any]:
    if data.dtype != np.uint8 or data.ndim != 1:
        raise InputError("its candidates are no text")
    lines = data.tobytes().decode().split("\n")
    return [as_candidate(candidate_of(json.loads(line))) for line in lines if line]
