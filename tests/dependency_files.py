"""Small dependency trees that are easy to learn, and their CoNLL-U."""

from __future__ import annotations

import random

from espalier import DependencyTree

TAGS = {"the": "DET|DT", "dog": "NOUN|NN", "cats": "NOUN|NNS", "saw": "VERB|VBD", "sleep": "VERB|VBP"}


def verb_between_nouns(rng: random.Random, *, several_roots: bool = False) -> DependencyTree:
    """A verb between nouns, some with an article; or two such sentences in one."""
    words: list[str] = []
    heads: list[int] = []
    verb = 0
    for place in range(2):
        if rng.random() < 0.7:
            words.append("the")
            heads.append(len(words) + 1)
        words.append(rng.choice(["dog", "cats"]))
        heads.append(-1)
        if not place:
            words.append(rng.choice(["saw", "sleep"]))
            verb = len(words)
            heads.append(0)
    heads = [verb if head < 0 else head for head in heads]
    relations = [{"D": "det", "N": "arg", "V": "root"}[TAGS[word][0]] for word in words]
    if several_roots:
        words, heads, relations = [*words, "sleep"], [*heads, 0], [*relations, "root"]
    return DependencyTree(words, [TAGS[word] for word in words], heads, relations)


def conllu(trees: list[DependencyTree], *, documents: int = 0) -> str:
    """Trees as CoNLL-U; a document begins every so many sentences."""
    lines = []
    for row, tree in enumerate(trees):
        if documents and row % documents == 0:
            lines.append(f"# newdoc id = d{row}")
        lines.append(f"# sent_id = s{row + 1}")
        for place, word in enumerate(tree.words):
            upos, xpos = tree.tags[place].split("|")
            arc = (str(tree.heads[place]), tree.relations[place], f"{tree.heads[place]}:x")
            lines.append("\t".join([str(place + 1), word, "_", upos, xpos, "F=G", *arc, "A=B"]))
        lines.append("")
    return "".join(f"{line}\n" for line in lines)
