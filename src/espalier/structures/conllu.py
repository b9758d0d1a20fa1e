"""CoNLL files: Universal Dependencies' CoNLL-U and the older CoNLL-X of the shared tasks.

The ``conllu`` library splits the files; this module turns its sentences into dependency trees.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, get_args

import conllu
from conllu.exceptions import ParseException

from espalier.errors import InputError
from espalier.structures.dependency import DependencyTree
from espalier.structures.files import Readable, read_text, source_name
from espalier.structures.limits import DEFAULT_LIMITS, ReadLimits, shortened
from espalier.structures.notation import BLANKS
from espalier.structures.numbers import check_choice

TagColumn = Literal["upos", "xpos", "joint"]
JOINT = "|"  # between the two parts of a joint tag

_HEAD = re.compile(r"-?[0-9]+")  # numbers out of range are reported with their words


def _id(line: list[str], i: int) -> Any:
    try:
        return conllu.parser.parse_id_value(line[i])
    except ParseException:
        raise InputError(
            f"{shortened(line[i])!r} is not a valid ID: a number, a range such as 1-2, or an empty node such as 1.1."
        ) from None


def _head(line: list[str], i: int) -> int | None:
    if line[i] != "_" and not _HEAD.fullmatch(line[i]):
        raise InputError(
            f"{shortened(line[i])!r}, in the line of {shortened(line[1])!r}, is no head: a number, or _ where it is "
            "not known."
        )
    return None if line[i] == "_" else int(line[i])


# Only what a DependencyTree keeps is parsed; DEPS and MISC differ between the formats.
_FIELDS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel")
_FIELD_PARSERS: dict[str, Callable[[list[str], int], Any]] = {
    "id": _id,
    "head": _head,
    "xpos": lambda line, i: line[i],
    "feats": lambda line, i: () if line[i] == "_" else tuple(line[i].split("|")),
}
# An id, which may be a range or that of an empty node, and nine more columns.
_LONG_NUMBER = re.compile(r"(?P<id>(?:\d+[-.])?\d{19,})|[^#\t\n][^\t\n]*(\t[^\t\n]*){5}\t(?P<head>\d{19,})")
_WORD_LINE = re.compile(r"\d+([-.]\d+)?(\t[^\t\n]*){9}")


def is_conllu(text: str) -> bool:
    """Say whether a text looks like CoNLL: ten columns and a number in the first line that is not a comment."""
    for line in io.StringIO(text, newline=None):
        if line.strip(BLANKS) and not line.startswith("#"):
            return _WORD_LINE.fullmatch(line.rstrip("\n")) is not None
    return False


def read_conllu(
    path: Readable,
    *,
    tags: TagColumn = "upos",
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> list[DependencyTree]:
    r"""Read the basic dependency tree of every sentence of a CoNLL-U or CoNLL-X file.

    Words are the syntactic words. Ranges of multiword tokens (``3-4``) repeat the words that follow
    them, and empty nodes (``8.1``) belong to the enhanced graph; neither is part of the basic tree,
    so both are skipped, as are comments and the columns DEPS and MISC. The FEATS column becomes
    ``features``. Arcs may cross and there may be several roots. A tag that the file omits is ``_``, as it is
    written there. If a sentence has no lemma at all, ``lemmas`` is None.

    Parameters
    ----------
    path
        A path or an open file, plain or compressed with gzip.
    tags
        Which column gives the tags: the fourth (``"upos"``; in CoNLL-X the coarse tag), the
        fifth (``"xpos"``; in CoNLL-X the fine tag), or both (``"joint"``), written ``NOUN|NNS``; a word
        without the second has the first alone.
    encoding
        How the file is encoded; the Basque data of CoNLL 2007 is ``"latin-1"``.
    limits
        The largest text that is read; see :class:`ReadLimits`.

    Raises
    ------
    InputError
        If a line cannot be read, a head is missing or out of range, heads form a cycle, or
        ``"xpos"`` is asked for and a word has none; names the file and the sentence.

    Examples
    --------
    >>> import io
    >>> lines = ["1 Cats cat NOUN NNS _ 2 nsubj _ _", "2 sleep sleep VERB VBP _ 0 root _ _"]
    >>> text = "\n".join(line.replace(" ", "\t") for line in lines)
    >>> read_conllu(io.StringIO(text), tags="xpos")[0].tags
    ('NNS', 'VBP')
    """
    check_tags(tags)
    text = read_text(path, encoding=encoding, limits=limits)
    return [sentence.tree for sentence in conllu_sentences(text, source_name(path), tags)]


def read_conllu_documents(
    path: Readable,
    *,
    tags: TagColumn = "upos",
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> list[list[DependencyTree]]:
    """Read a CoNLL-U file like :func:`read_conllu`, with the trees of each document in a list of their own.

    A comment ``# newdoc`` begins a document. If the file marks no documents, each sentence is one by itself.
    """
    check_tags(tags)
    text = read_text(path, encoding=encoding, limits=limits)
    return documents_of(conllu_sentences(text, source_name(path), tags))


def check_tags(tags: str) -> None:
    """Refuse a choice of tags that there is not."""
    check_choice("tags", tags, *get_args(TagColumn))


class ConlluSentence(NamedTuple):
    """A sentence of a file: the facts in its comments, its tree, and the text of both."""

    metadata: dict[str, Any]
    tree: DependencyTree
    text: str


def conllu_sentences(text: str, name: str, tags: str) -> list[ConlluSentence]:
    """Every sentence of a text; errors name the file."""
    found: list[ConlluSentence] = []
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for number, block in enumerate(conllu.parse_sentences(io.StringIO(text)), 1):
        try:
            _check_numbers(block)
            sentence = conllu.parse_token_and_metadata(block, fields=_FIELDS, field_parsers=_FIELD_PARSERS)
            words = [token for token in sentence if isinstance(token["id"], int)]
            if len(sentence):
                found.append(ConlluSentence(dict(sentence.metadata), _dependency_tree(words, tags), block))
        except (ParseException, InputError, KeyError) as error:
            reason = str(error)
            if isinstance(error, KeyError):
                reason = f"the column '{str(error.args[0]).strip(chr(39))}' is missing"
            first = block.split("\n", 1)[0]
            line = text.count("\n", 0, text.find(block)) + 1
            raise InputError(f"{name}, sentence {number} from line {line} on ({first[:60]!r}): {reason}") from None
    return found


def documents_of(sentences: Sequence[ConlluSentence]) -> list[list[DependencyTree]]:
    """Return the trees of each document; without marks, each sentence is one by itself."""
    begins = [any(name.split()[:1] == ["newdoc"] for name in sentence.metadata) for sentence in sentences]
    documents: list[list[DependencyTree]] = []
    for sentence, is_first in zip(sentences, begins, strict=True):
        if is_first or not documents or not any(begins):
            documents.append([])
        documents[-1].append(sentence.tree)
    return documents


def _check_numbers(block: str) -> None:
    """Refuse numbers of words and heads that are too long for any sentence, before anything tries to read them."""
    for line in block.split("\n"):
        if (found := _LONG_NUMBER.match(line)) is not None:
            digits = found["id"] or found["head"]
            raise InputError(f"the line {shortened(line)!r} has a number of {len(digits):,} digits.")


def conllu_lines(tree: DependencyTree) -> Iterator[str]:
    """Return a tree's words as CoNLL-U lines; an impossible field is an error.

    Tags stand in the fourth column, and joint tags in the fourth and the fifth.
    """
    for token in range(len(tree)):
        features = "|".join(tree.features[token]) if tree.features is not None else ""
        lemma = tree.lemmas[token] if tree.lemmas is not None else "_"
        own = (tree.words[token], lemma, *tag_columns(tree.tags[token]), features or "_", tree.heads[token])
        line = (str(token + 1), *map(str, own), tree.relations[token], "_", "_")
        if any(not field or "\t" in field or "\n" in field for field in line):
            raise InputError(
                f"Word {token + 1} ({tree.words[token]!r}) has a field that cannot be written in CoNLL-U: {line!r}."
            )
        yield "\t".join(line)


def tag_columns(tag: str) -> tuple[str, str]:
    """Return what stands in the fourth and the fifth column for a tag, which may be a joint one.

    Examples
    --------
    >>> tag_columns("NOUN|NNS"), tag_columns("NOUN")
    (('NOUN', 'NNS'), ('NOUN', '_'))
    """
    upos, _, xpos = tag.partition(JOINT)
    return (upos, xpos) if upos and xpos else (tag, "_")


def _tag(word: Any, tags: str) -> str:
    if tags != "joint":
        return str(word[tags])
    return str(word["upos"]) if word["xpos"] == "_" else f"{word['upos']}{JOINT}{word['xpos']}"


def _dependency_tree(words: list[Any], tags: str) -> DependencyTree:
    if not words:
        raise InputError("It has no word.")
    for number, word in enumerate(words, 1):
        if not word["form"]:
            raise InputError(f"Word {number} is empty; a word that is not known is written _.")
        if word["id"] != number:
            raise InputError(f"Word {number} has the id {word['id']}; ids must count the words from 1.")
        if word["head"] is None:
            raise InputError(f"Word {number} ({word['form']!r}) has no head.")
        if tags == "xpos" and word["xpos"] == "_" and word["form"] != "_":
            raise InputError(f"Word {number} ({word['form']!r}) has no XPOS tag. Pass tags='upos' instead.")
    lemmas = [word["lemma"] for word in words]
    return DependencyTree(
        [word["form"] for word in words],
        [_tag(word, tags) for word in words],
        [word["head"] for word in words],
        [word["deprel"] for word in words],
        lemmas=None if all(lemma == "_" for lemma in lemmas) else lemmas,
        features=[word["feats"] for word in words],
    )
