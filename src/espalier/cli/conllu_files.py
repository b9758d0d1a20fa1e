"""CoNLL-U that commands tag and parse: its text, its columns of tags, and the models that are applied to it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from espalier.cli.options import TagColumn
from espalier.cli.text_lines import TextLines
from espalier.errors import InputError
from espalier.parsing import PerceptronTagger, Tagger
from espalier.storage import load
from espalier.structures.conllu import JOINT
from espalier.structures.conllu_text import N_COLUMNS, UPOS, XPOS, ConlluText
from espalier.structures.dependency import DependencyTree
from espalier.structures.files import read_text
from espalier.structures.sequence import TaggedSequence

AnyTagger = PerceptronTagger | Tagger


def load_tagger(file: Path) -> AnyTagger:
    """Load a tagger of either kind."""
    found = load(file)
    if not isinstance(found, AnyTagger):
        raise InputError(f"{file} holds a {type(found).__name__}, and a tagger is needed: espalier tag fit writes one.")
    return found


def wider(tagger: AnyTagger, k: int) -> AnyTagger:
    """Return a tagger whose beam has room for so many taggings."""
    if isinstance(tagger, PerceptronTagger) and tagger.width < k:
        return replace(tagger, width=k)
    return tagger


def check_tags_of(sentences: Sequence[DependencyTree | TaggedSequence], file: Path) -> None:
    """Refuse words without tags: ``_`` would be learned as one."""
    for number, sentence in enumerate(sentences, 1):
        if "_" in sentence.tags:
            word = sentence.words[list(sentence.tags).index("_")]
            raise InputError(
                f"{file}, sentence {number}: the word {word!r} has no tag. Tag the file first: espalier tag apply."
            )


def read_conllu_text(file: Path, encoding: str) -> ConlluText:
    """Read a file of CoNLL-U, which has one sentence at least."""
    return conllu_text(read_text(file, encoding=encoding), file)


def conllu_text(content: str, file: Path) -> ConlluText:
    """Return what a file of CoNLL-U holds; it is an error if it has no sentence."""
    text = ConlluText.of(content, str(file))
    if not len(text):
        raise InputError(f"{file} contains no sentence.")
    return text


def conllu_of_lines(lines: TextLines, file: Path) -> ConlluText:
    """Return the sentences of a text as CoNLL-U that has nothing but their words; they are named by their lines."""
    sentences = []
    for name, words in zip(lines.names, lines.listed, strict=True):
        rows = [f"{number}\t{word}" + "\t_" * (N_COLUMNS - 2) for number, word in enumerate(words, start=1)]
        sentences.append("\n".join([f"# sent_id = {name}", *rows, "", ""]))
    return ConlluText.of("".join(sentences), str(file))


def tag_column(text: ConlluText, known: Collection[str], chosen: TagColumn | None) -> TagColumn:
    """Return the column that is meant: that which is chosen, or that in which most tags are known to a model."""
    if chosen is not None:
        return chosen
    if any(JOINT in tag for tag in known):
        return "joint"
    tags = set(known)
    upos, xpos = (sum(tag in tags for own in text.column(column) for tag in own) for column in (UPOS, XPOS))
    return "xpos" if xpos > upos else "upos"
