"""The perceptron tagger from its definitions: features by name, a beam, the largest violation, averages."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction

Feature = Hashable
Weights = dict[Feature, dict[str, float]]  # of each feature, by tag
Sentence = Sequence[tuple[str, str]]
BEFORE, AFTER = "<before>", "<after>"


def word_features(words: Sequence[str], i: int) -> list[Feature]:
    """What a place in a sentence has by its words alone; ``lower`` and the others say what of a word is looked at."""

    def at(place: int, part: str) -> object:
        if not 0 <= place < len(words):
            return BEFORE if place < 0 else AFTER
        return attribute(words[place], part)

    def end(place: int) -> object:
        return at(place, "end 3")

    def lower(place: int) -> object:
        return at(place, "lower")

    first = i == 0
    found: list[Feature] = [
        "bias",
        ("form", at(i, "form")),
        *((f"word {step:+d}", lower(i + step)) for step in (0, -1, 1, -2, 2)),
        ("word and next", lower(i), lower(i + 1)),
        ("word and previous", lower(i), lower(i - 1)),
        ("previous and next", lower(i - 1), lower(i + 1)),
        ("kinds", at(i, "kinds"), first),
        ("shape", at(i, "shape")),
        ("shape at the start", at(i, "shape"), first),
        *((part, at(i, part)) for n in range(1, 5) for part in (f"end {n}", f"begin {n}")),
        ("end of previous", end(i - 1)),
        ("end of next", end(i + 1)),
        ("end and previous", end(i), end(i - 1)),
        ("end and next", end(i), end(i + 1)),
        ("kinds and next", at(i, "kinds"), at(i + 1, "kinds")),
    ]
    return found


def tag_features(words: Sequence[str], i: int, before: str | None, earlier: str | None) -> list[Feature]:
    """What a place has by the two tags before it, which are None before the first word."""
    word = attribute(words[i], "lower")
    after = attribute(words[i + 1], "lower") if i + 1 < len(words) else AFTER
    return [
        ("tag", before),
        ("tags", before, earlier),
        ("tag and word", before, word),
        ("tag and next word", before, after),
        ("tag and kinds", before, attribute(words[i], "kinds")),
        ("tags and word", before, earlier, word),
    ]


def attribute(word: str, part: str) -> object:
    """Something about a word by itself; None where it is too short."""
    lower = word.lower()
    if part == "form":
        return word
    if part == "lower":
        return lower
    if part == "shape":
        signs = ["X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in word]
        return "".join(c for k, c in enumerate(signs) if k < 2 or not c == signs[k - 1] == signs[k - 2])
    if part == "kinds":
        tests = (str.isupper, str.islower, str.isdigit, "-".__eq__)
        return (*(any(test(c) for c in word) for test in tests), word.isalnum(), word[0].isupper())
    which, n = part.split()
    if len(lower) < int(n):
        return None
    return lower[-int(n) :] if which == "end" else lower[: int(n)]


def beams(
    words: Sequence[str], tags: Sequence[str], weights: Weights, width: int
) -> list[list[tuple[float, tuple[str, ...]]]]:
    """The beam after each word, the best first: scores and tags so far. Of equals, those of better beginnings lead."""
    beam: list[tuple[float, tuple[str, ...]]] = [(0.0, ())]
    listed = []
    for i in range(len(words)):
        longer = []
        for rank, (score, so_far) in enumerate(beam):
            for number, tag in enumerate(tags):
                more = score + step(words, i, (*so_far, tag), weights)
                longer.append((-more, rank, number, (*so_far, tag)))
        beam = [(-minus, own) for minus, _, _, own in sorted(longer)[:width]]
        listed.append(beam)
    return listed


def features(words: Sequence[str], i: int, tagging: Sequence[str]) -> list[Feature]:
    """All features of a place in a tagged sentence."""
    before, earlier = (tagging[i - back] if i >= back else None for back in (1, 2))
    return [*word_features(words, i), *tag_features(words, i, before, earlier)]


def step(words: Sequence[str], i: int, tagging: Sequence[str], weights: Weights) -> float:
    """What the tag of a word adds to the score of a tagging."""
    return sum(weights.get(own, {}).get(tagging[i], 0.0) for own in features(words, i, tagging))


def learned(sentences: Sequence[Sentence], *, epochs: int, width: int, seed: int) -> Weights:
    """Averaged weights: after each sentence, they move where the beam's best beats the gold tagging by most."""
    tags = sorted({tag for sentence in sentences for _, tag in sentence})
    weights: Weights = {}
    total: dict[tuple[Feature, str], int] = {}
    moments = 0
    order = list(range(len(sentences)))
    random = mersenne_twister_64(seed)
    for _ in range(epochs):
        for k in range(len(order), 1, -1):
            other = next(random) % k
            order[k - 1], order[other] = order[other], order[k - 1]
        for row in order:
            words, gold = [word for word, _ in sentences[row]], [tag for _, tag in sentences[row]]
            found = beams(words, tags, weights, width)
            so_far = [sum(step(words, j, gold, weights) for j in range(i + 1)) for i in range(len(words))]
            violations = [beam[0][0] - own for beam, own in zip(found, so_far, strict=True)]
            if violations and max(violations) >= 0:
                last = max(i for i, violation in enumerate(violations) if violation == max(violations))
                for tagging, by in ((gold, 1.0), (found[last][0][1], -1.0)):
                    for i in range(last + 1):
                        for feature in features(words, i, tagging):
                            own = weights.setdefault(feature, {})
                            own[tagging[i]] = own.get(tagging[i], 0.0) + by
            moments += 1
            for feature, by_tag in weights.items():
                for tag, weight in by_tag.items():
                    total[feature, tag] = total.get((feature, tag), 0) + int(weight)
    averages: Weights = {}
    for (feature, tag), summed in total.items():
        if weight := on_grid(Fraction(summed, moments)):
            averages.setdefault(feature, {})[tag] = weight
    return averages


def on_grid(value: Fraction) -> float:
    """The nearest multiple of 2 to the power of -14; halves go away from 0."""
    size = math.floor(abs(value) * 2**14 + Fraction(1, 2)) / 2**14
    return size if value > 0 else -size


def mersenne_twister_64(seed: int) -> Iterator[int]:
    """The numbers of ``std::mt19937_64`` (Nishimura and Matsumoto 2000)."""
    n, m, low, word = 312, 156, (1 << 31) - 1, (1 << 64) - 1
    state = [seed & word]
    for k in range(1, n):
        state.append((6364136223846793005 * (state[-1] ^ (state[-1] >> 62)) + k) & word)
    while True:
        for k in range(n):
            joined = (state[k] & ~low & word) | (state[(k + 1) % n] & low)
            state[k] = state[(k + m) % n] ^ (joined >> 1) ^ (0xB5026F5AA96619E9 if joined & 1 else 0)
        for x in state:
            x ^= (x >> 29) & 0x5555555555555555
            x ^= (x << 17) & 0x71D67FFFEDA60000
            x ^= (x << 37) & 0xFFF7EEE000000000 & word
            yield x ^ (x >> 43)
