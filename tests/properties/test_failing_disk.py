"""A disk that fails at any step of writing: the old file stays, nothing lies beside it, and the error names it."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest
from tests.properties.test_corpus_files import CORPORA
from tests.properties.test_fragment_files import TREES
from tests.properties.test_learner_files import GROUPS, fitted

import espalier as es
from espalier.cli.matrix import save_array
from espalier.corpus.forest import Forest
from espalier.fragments import FragmentVectorizer, LinearizedTreeClassifier
from espalier.parsing import PCFG
from espalier.structures import files, write_brackets
from espalier.structures.groups import write_groups

SAVED = {
    "forest": lambda: Forest.from_trees(TREES).save,
    **{name: lambda corpus=corpus: corpus.save for name, (corpus, _) in CORPORA.items()},
    "grammar": lambda: PCFG.from_treebank(TREES).save,
    "tagger": lambda: fitted("tagger").save,
    "reranker": lambda: fitted("perceptron").save,
    "vectorizer": lambda: FragmentVectorizer(es.SubsetTree(0.3), n_fragments=5).fit(TREES, [0, 1, 0, 1]).save,
    "classifier": lambda: LinearizedTreeClassifier(es.SubsetTree(0.3), n_fragments=5).fit(TREES, list("abab")).save,
    "brackets": lambda: lambda path: write_brackets(list(Forest.from_trees(TREES)), path),
    "groups": lambda: lambda path: write_groups([es.Group(group.candidates) for group in GROUPS], path),
    "matrix": lambda: lambda path: save_array(np.eye(3), path),
}
STEPS = {"opening": "open", "writing": "fdopen", "syncing": "fsync", "renaming": "replace"}


class FullStream:
    """An open file that takes a few bytes and no more."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, data):
        self.stream.write(bytes(memoryview(data).cast("B")[:10]))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", SAVED)
def test_a_failed_save_leaves_the_old_file(name, step, tmp_path, monkeypatch):
    save, place = SAVED[name](), tmp_path / "saved.npy"
    save(place)
    place.write_bytes(b"old")
    real = os.fdopen

    def failed(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        failure = (lambda *given: FullStream(real(*given))) if step == "writing" else failed
        patched.setattr(files.os, STEPS[step], failure)
        with pytest.raises(OSError, match="No space left") as caught:
            save(place)
    assert caught.value.filename == str(place)
    assert place.read_bytes() == b"old" and list(tmp_path.iterdir()) == [place]
    save(place)
    assert place.read_bytes() != b"old"
