"""Sub feature trees of dependency trees: connected arcs, each with one of its atoms (Qian and Liu 2015, section 5).

The children that a subtree keeps are neighbours. An atom is what a template says about an arc, and its code is exact:
the template, the length and direction, and the numbers of words and tags.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from espalier import _core
from espalier.corpus.arc_features import DIRECTIONS, FARTHEST, LENGTHS
from espalier.corpus.arc_templates import BETWEEN, DIRECTION, LENGTH, LOOKS, OWN, RELATION, parts_of_template
from espalier.errors import InputError
from espalier.jobs.schedule import Schedule
from espalier.kernels.inputs import Inputs
from espalier.spaces.grown import (
    ARCS,
    Atoms,
    GrownSpace,
    Integers,
    Locate,
    Path,
    Places,
    check_atoms,
    check_candidates,
    check_numbers,
)
from espalier.spaces.marked_words import marked_words
from espalier.storage import require
from espalier.structures.dependency import DependencyTree, dependents
from espalier.structures.interop import as_dependency_tree

_LISTS = ("words", "tags", "relations")
_PARTS = (*LOOKS, BETWEEN)  # in the order of the core
_WORD_BITS, _TAG_BITS = 26, 13
_FIRST = ("", "ROOT")  # texts that every list has: that of what is outside of a sentence, and that of ROOT
_OUTSIDE = 1  # the number of the first of them
_UNKNOWN = 0  # the number of a text that training has not met; others count from 1


class ArcSpace(GrownSpace):
    """The subtrees that a ``DependencySubtree`` counts."""

    kind: ClassVar = ARCS
    what: ClassVar = "subtree"

    def __init__(self, kernel: Any) -> None:
        super().__init__(kernel)
        if not kernel.contiguous:
            raise InputError(
                f"Features of {kernel!r} cannot be selected: children of a subtree must be neighbours. Leave out "
                "contiguous=False."
            )
        self._tells_relations = any(RELATION in parts_of_template(name) for name in kernel.features)
        self.templates = [_native_template(name) for name in kernel.features]
        if len(self.templates) > 256:
            raise InputError(f"Features are selected from at most 256 templates, got {len(self.templates)}.")

    @property
    def largest_order(self) -> int | None:
        limit: int | None = self.kernel.max_arcs
        return limit

    def learned(self, inputs: Inputs, bounds: Integers, threshold: float, schedule: Schedule) -> Atoms:
        trees = self._trees(inputs)
        texts = {
            name: (*_FIRST, *sorted(set(chain.from_iterable(getattr(tree, name) for tree in trees)) - {*_FIRST}))
            for name in _LISTS
        }
        if len(texts["tags"]) >= 1 << _TAG_BITS:
            raise InputError(f"Features are selected among fewer than {1 << _TAG_BITS:,} tags.")
        arrays = self._arrays(trees, bounds, Atoms(np.empty(0, np.uint64), texts))
        templates, root = self.templates, self.kernel.root
        codes = _core.frequent_codes(arrays, templates, root, threshold, schedule.n_threads, schedule.tell)
        check_atoms(codes, threshold, "Use a larger C or fewer templates.")
        return Atoms(codes, texts)

    def graphs(self, inputs: Inputs, bounds: Integers, atoms: Atoms, schedule: Schedule) -> _core.ArcUnions:
        arrays = self._arrays(self._trees(inputs), bounds, atoms)
        table = _core.AtomTable(atoms.codes)
        return _core.ArcUnions(arrays, self.templates, self.kernel.root, table, schedule.n_threads, schedule.tell)

    def templates_of(self, atoms: Atoms) -> Integers:
        """By atom the number of its template."""
        return (atoms.codes >> np.uint64(56)).astype(np.int64)

    def write(self, atoms: Atoms, path: Path) -> str:
        """A subtree: its arcs, each by its template and texts; those below an arc are in brackets behind it."""
        pieces: list[str] = []
        depth = 0
        for place, atom in path:
            own = max(place, 1)
            pieces.append(")" * (depth - own) + " " * (depth > 0) + "(" * (own - depth - (depth == 0)))
            pieces.append(self._arc(atoms, atom))
            depth = own
        return "".join(pieces) + ")" * (depth - 1)

    def locator(self, atoms: Atoms, item: Any) -> Locate:
        """As for every space; the place of an arc is the number of its modifier, counted from 1."""
        tree = as_dependency_tree(item)
        children = dependents(tree.heads)
        following = {token: after for siblings in children for token, after in pairwise(siblings)}
        with_atom = self.arcs_with(atoms, tree)

        def locate(path: Path) -> list[Places]:
            found: list[Places] = [(token,) for token in sorted(with_atom.get(path[0][1], ()))]
            last = [0]  # by depth, down to the last arc: which arc of the path is there
            for number, (depth, atom) in enumerate(path[1:], 1):
                having = with_atom.get(atom, set())
                if depth > len(last):
                    # It is the first arc below the last one: any child may be.
                    ways = [(taken, children[taken[last[-1]]]) for taken in found]
                else:
                    ways = [(taken, [following.get(taken[last[depth - 1]], 0)]) for taken in found]
                found = [(*taken, token) for taken, tokens in ways for token in tokens if token in having]
                last[depth - 1 :] = [number]
            return found

        return locate

    def arcs_with(self, atoms: Atoms, tree: DependencyTree) -> dict[int, set[int]]:
        """By atom the modifiers of the arcs that have it."""
        found: dict[int, set[int]] = {}
        for token, codes in self._codes(tree, atoms):
            for atom in atoms.numbers(np.array(codes, np.uint64)).tolist():
                found.setdefault(atom, set()).add(token)
        return found

    def shown(self, item: Any, places: Places) -> str:
        """The sentence, with the words that the arcs connect marked."""
        tree = as_dependency_tree(item)
        tokens = {*places, *(tree.heads[token - 1] for token in places)}
        return marked_words(tree.words, {token - 1 for token in tokens if token})

    def _codes(self, tree: DependencyTree, atoms: Atoms) -> Iterator[tuple[int, list[int]]]:
        """The modifier of each arc that counts, and the codes of the arc, as the core makes them."""
        told = {}
        for name in _LISTS:
            ids = atoms.ids(name)
            told[name] = [ids.get(text, _UNKNOWN) for text in ("ROOT", *getattr(tree, name))]
        for token, head in enumerate(tree.heads, 1):
            if head == 0 and not self.kernel.root:
                continue
            length = 1 + bisect_left(FARTHEST, abs(head - token))
            between = sorted({*told["tags"][min(head, token) + 1 : max(head, token)]} - {_UNKNOWN})
            codes = []
            for template, name in enumerate(self.kernel.features):
                made, shift = [template << 56], 0
                for part in parts_of_template(name):
                    if part in (LENGTH, DIRECTION):
                        bits = length << 53 if part == LENGTH else int(head < token) << 52
                        made = [code | bits for code in made]
                        continue
                    numbers = between if part == BETWEEN else _looked_up(part, told, head, token)
                    made = [code | number << shift for code in made for number in numbers]
                    shift += _WORD_BITS if _is_word(part) else _TAG_BITS
                codes += made
            yield token, codes

    def _check_codes(self, atoms: Atoms) -> None:
        for name in _LISTS:
            require(name in atoms.texts, f"it lacks {name}")
        codes = atoms.codes
        template = codes >> np.uint64(56)
        require((template < len(self.templates)).all(), "an atom is of a template that is not there")
        for number, name in enumerate(self.kernel.features):
            own, shift = codes[template == number], 0
            for part in parts_of_template(name):
                if part == LENGTH:
                    length = own >> np.uint64(53) & np.uint64(7)
                    require(((length > 0) & (length <= len(LENGTHS))).all(), "an atom has no length")
                elif part != DIRECTION:
                    bits = _WORD_BITS if _is_word(part) else _TAG_BITS
                    told = own >> np.uint64(shift) & np.uint64((1 << bits) - 1)
                    check_numbers(told, atoms, _list_of(part))
                    shift += bits

    def _arc(self, atoms: Atoms, atom: int) -> str:
        """One atom: the template, then what it says."""
        code = int(atoms.codes[atom])
        name = self.kernel.features[code >> 56]
        told, shift = [], 0
        for part in parts_of_template(name):
            if part == LENGTH:
                told.append(LENGTHS[(code >> 53 & 7) - 1])
            elif part == DIRECTION:
                told.append(DIRECTIONS[code >> 52 & 1])
            else:
                bits = _WORD_BITS if _is_word(part) else _TAG_BITS
                told.append(atoms.texts[_list_of(part)][(code >> shift & ((1 << bits) - 1)) - 1])
                shift += bits
        return f"[{name}: {' '.join(text or '-' for text in told)}]"

    def _trees(self, inputs: Inputs) -> list[DependencyTree]:
        found = []
        for row, item in enumerate(inputs.items(self.kernel.on)):
            try:
                found.append(as_dependency_tree(item))
            except (TypeError, InputError) as error:
                raise InputError(f"Row {row}: {error}") from None
        return found

    def _arrays(self, trees: Sequence[DependencyTree], bounds: Integers, atoms: Atoms) -> dict[str, NDArray[Any]]:
        """The sentences as the core reads them."""
        check_candidates(bounds)
        first = [trees[row] for row in bounds[:-1].tolist()]
        taggings: list[dict[tuple[str, ...], int]] = [{} for _ in first]  # those of each sentence, with their numbers
        tagging = np.empty(len(trees), np.int32)  # by candidate
        for row, example in enumerate(np.repeat(np.arange(len(first)), np.diff(bounds)).tolist()):
            own = trees[row]
            if own.words != first[example].words:
                raise InputError(
                    f"Row {row} must have the words of row {bounds[example]}: both are candidates of one sentence, and "
                    "features are selected by the arcs in which candidates differ."
                )
            tagging[row] = taggings[example].setdefault(tuple(own.tags), len(taggings[example]))
        sizes = np.fromiter((len(tree) + 1 for tree in first), np.int64, len(first))
        words = chain.from_iterable(("ROOT", *tree.words) for tree in first)
        tags = chain.from_iterable(("ROOT", *tags) for own in taggings for tags in own)
        tag_sizes = sizes * np.fromiter(map(len, taggings), np.int64, len(first))
        heads = np.fromiter(chain.from_iterable(tree.heads for tree in trees), np.int32)
        relations = np.empty(0, np.int32)
        if self._tells_relations:
            texts = chain.from_iterable(tree.relations for tree in trees)
            relations = _numbers(texts, atoms.ids("relations"), len(heads))
        return {
            "start": np.concatenate([[0], np.cumsum(sizes)]),
            "word": _numbers(words, atoms.ids("words"), int(sizes.sum())),
            "candidate_start": np.asarray(bounds, np.int64),
            "tag_start": np.concatenate([[0], np.cumsum(tag_sizes)]),
            "tag": _numbers(tags, atoms.ids("tags"), int(tag_sizes.sum())),
            "tagging": tagging,
            "head": heads,
            "relation": relations,
        }


def _numbers(texts: Iterable[str], ids: Mapping[str, int], n: int) -> NDArray[np.int32]:
    return np.fromiter((ids.get(text, _UNKNOWN) for text in texts), np.int32, n)


def _looked_up(part: str, told: dict[str, list[int]], head: int, token: int) -> list[int]:
    """The number of what a part of a template looks at; none for a text that training has not met."""
    is_of_head, name, steps = LOOKS[part]
    at = (head if is_of_head else token) + steps
    number = told[name][at] if 0 <= at < len(told[name]) else _OUTSIDE
    return [number] if number != _UNKNOWN else []


def _list_of(part: str) -> str:
    """The name of the list whose texts a part of a template tells."""
    return "tags" if part == BETWEEN else LOOKS[part][1]


def _is_word(part: str) -> bool:
    """Whether a part of a template tells a word, not a tag."""
    return part in LOOKS and LOOKS[part][1] == "words"


def _native_template(name: str) -> tuple[list[int], bool, bool]:
    """A template as the core reads it: the numbers of its parts, and whether it tells length and direction."""
    parts = parts_of_template(name)
    if OWN in parts:
        raise InputError(
            f"Features are selected from words, tags, relations, lengths and directions. Leave {OWN!r} out."
        )
    looked = [part for part in parts if part not in (LENGTH, DIRECTION)]
    bits = sum(_WORD_BITS if _is_word(part) else _TAG_BITS for part in looked)
    if bits > 52:
        raise InputError(
            f"The template {name!r} tells too much of an arc for selection: at most two words, a word and two tags, or "
            "four tags, beside length and direction."
        )
    return [_PARTS.index(part) for part in looked], LENGTH in parts, DIRECTION in parts
