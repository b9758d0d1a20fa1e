"""Joining dictionaries: labels and productions are numbered anew, and a fragment that several have stands once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from espalier.fragments.dictionary import FragmentDictionary


def joined(dictionaries: Sequence[FragmentDictionary]) -> tuple[FragmentDictionary, list[NDArray[np.int64]]]:
    """All fragments of several dictionaries, each once, and where those of each dictionary stand.

    Examples
    --------
    >>> a = FragmentDictionary.from_fragments(["(A a)", "(B b)"])
    >>> b = FragmentDictionary.from_fragments(["(C c)", "(A a)"])
    >>> both, places = joined([a, b])
    >>> both.names(), [place.tolist() for place in places]
    (['(A a)', '(B b)', '(C c)'], [[0, 1], [2, 0]])
    """
    labels: dict[str, int] = {}
    productions: dict[tuple[int, ...], int] = {}
    known: dict[bytes, int] = {}
    codes: list[bytes] = []
    places: list[NDArray[np.int64]] = []
    for dictionary in dictionaries:
        label = np.array([labels.setdefault(name, len(labels)) for name in dictionary.labels], np.int64)
        number = np.empty(len(dictionary.production_start), np.int32)
        number[-1] = -1  # what -1, an unexpanded node, picks
        for p, part in enumerate(dictionary._productions()):
            head = -1 - int(label[-1 - part[0]]) if part[0] < 0 else int(label[part[0]])
            key = (head, *(2 * int(label[child // 2]) + child % 2 for child in part[1:]))
            number[p] = productions.setdefault(key, len(productions))
        data = number[dictionary.code].tobytes()
        bounds = (4 * dictionary.start).tolist()
        place = np.empty(len(dictionary), np.int64)
        for k in range(len(dictionary)):
            code = data[bounds[k] : bounds[k + 1]]
            if code not in known:
                known[code] = len(codes)
                codes.append(code)
            place[k] = known[code]
        places.append(place)
    sizes = [len(code) // 4 for code in codes]
    part_sizes = [len(key) for key in productions]
    whole = FragmentDictionary(
        list(labels),
        np.concatenate([[0], np.cumsum(part_sizes, dtype=np.int64)]),
        np.array([part for key in productions for part in key], np.int32),
        np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
        np.frombuffer(b"".join(codes), np.int32),
    )
    return whole, places
