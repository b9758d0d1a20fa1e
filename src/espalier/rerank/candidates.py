"""Candidates to learn from and to choose among: the proposals of a parser or a tagger, in groups.

A parser is more certain about sentences that it was trained on, so its proposals for them teach a learner too little
about its mistakes. :func:`jackknifed` parses each sentence with a parser that was not trained on it.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

from espalier.errors import InputError
from espalier.gp.sampling import generator
from espalier.jobs.executor import Executor, run_jobs
from espalier.jobs.progress import Report, Tell, part_of, report_to, told_of
from espalier.parsing.dependency_trees import check_taggings
from espalier.parsing.jackknife import held_out_rows
from espalier.parsing.kbest import Proposer
from espalier.parsing.markov import UntaggedWordError
from espalier.parsing.pcfg import PCFG
from espalier.parsing.perceptron_tagger import PerceptronTagger
from espalier.parsing.tagger import Tagger
from espalier.parsing.treebank import plain
from espalier.rerank.part_files import PartFolder, digest, settings_of
from espalier.rerank.quality import alike
from espalier.structures.dependency import DependencyTree
from espalier.structures.group import Candidate, Group, words_of
from espalier.structures.numbers import finite_number, whole_number
from espalier.structures.sequence import TaggedSequence
from espalier.structures.tree import Tree


def propose(
    parser: Proposer,
    sentences: Iterable[Any],
    k: int = 100,
    *,
    taggings: Sequence[Sequence[tuple[TaggedSequence, float]]] | None = None,
    tag_weight: float | None = None,
    beam: float | None = None,
    n_threads: int | None = None,
    progress: Report | None = None,
) -> list[Group]:
    """Return the candidates that a parser or a tagger proposes for each sentence.

    Parameters
    ----------
    parser
        A :class:`~espalier.parsing.PCFG`, a :class:`~espalier.parsing.DependencyParser`, a
        :class:`~espalier.parsing.Tagger`, or anything else that has a method ``propose``, as
        :class:`~espalier.parsing.Proposer` describes it.
    sentences
        Gold trees, or what converts to them; gold tagged sequences; gold dependency trees, whose tags are given to the
        parser; or lists of words, or of pairs of a word and a tag, whose groups have no gold. The gold trees of groups
        are like parses: without traces, function tags, indices and an outer label; dependency trees without lemmas and
        features.
    k
        How many candidates at most.
    taggings
        For each sentence its best taggings, as ``tagger.tag_all(words, 4)`` returns them: a
        :class:`~espalier.parsing.DependencyParser` then parses all of them, and the best trees of all are candidates,
        each with its tags. Gold trees get the tags of the first tagging.
    tag_weight
        How much the scores of taggings count beside those of trees, as for :meth:`DependencyParser.parse_all
        <espalier.parsing.DependencyParser.parse_all>`; None is the default there.
    beam
        As for :meth:`PCFG.parse_all <espalier.parsing.PCFG.parse_all>`.
    n_threads, progress
        As everywhere.

    Examples
    --------
    >>> trees = ["(S (NP (N cats)) (VP (V sleep)))", "(S (NP (D the) (N dog)) (VP (V saw) (NP (N cats))))"]
    >>> (group,) = propose(PCFG.from_treebank(trees), [["the", "cats", "sleep"]])
    >>> print(group.candidates[group.best])
    (S (NP (D the) (N cats)) (VP (V sleep)))
    """
    if isinstance(sentences, str | Tree | DependencyTree):
        raise TypeError(f"sentences must be a list, got a single sentence, {str(sentences)[:60]!r}. Write [tree].")
    # Lists of words stay as they are.
    given = {row: own if type(own) in (list, tuple) else _gold(row, own) for row, own in enumerate(sentences)}
    told = _by_row(taggings, given)
    weight = _weight(tag_weight, taggings)
    return _proposed(parser, given, k, told, beam=beam, n_threads=n_threads, progress=progress, **weight)


def jackknifed(
    trees: Iterable[object],
    k: int = 100,
    *,
    folds: int = 5,
    documents: Sequence[Hashable] | None = None,
    rows: Iterable[int] | None = None,
    taggings: Sequence[Sequence[tuple[TaggedSequence, float]]] | None = None,
    tag_weight: float | None = None,
    make: Callable[..., Proposer] = PCFG.from_treebank,
    beam: float | None = None,
    n_threads: int | None = None,
    random_state: Any = 0,
    progress: Report | None = None,
    executor: Executor | None = None,
    folder: str | os.PathLike[str] | None = None,
    add_gold: bool = False,
    **grammar_options: object,
) -> list[Group]:
    """Return candidates for each tree's words, proposed by a parser that was made from other trees.

    Parameters
    ----------
    trees
        Gold trees, gold tagged sequences or gold dependency trees, as for :func:`propose`.
    folds
        The sentences are split into this many parts at random, and a parser made from the other parts parses each part.
        Trees with the same words go into one part, so that no parser parses a sentence that it has seen.
    documents
        For each tree, the name or number of its document. The trees of a document then go into one part, and trees with
        the same words only if they are of one document: a parser of new text has not seen its other sentences.
    rows
        Parse only these trees, in this order, if you do not need groups for all; parsers are still made from all trees.
    taggings
        As for :func:`propose`, of all trees, from :func:`~espalier.parsing.jackknifed_taggings`. The trees get the
        tags of the first tagging of each, also as gold trees.
    tag_weight
        As for :func:`propose`.
    make
        Makes a parser, or another proposer, from trees; for dependency trees ``DependencyParser.from_treebank``.
    k, beam, n_threads, progress
        As for :func:`propose`.
    random_state
        A seed for the parts.
    executor
        Makes and runs the parsers elsewhere, such as in :class:`~espalier.jobs.Processes`; ``make`` must then be a
        function of a module.
    folder
        Keep each finished part as a file in this folder. If the call is interrupted, the same call later reads finished
        parts and computes the others; it is an error if other settings or other trees are given. ``make`` must be a
        function of a module and ``random_state`` an integer.
    add_gold
        Whether to add the gold tree as the last candidate if no other has its heads, with the score and the relations
        that the parser gives it, as Qian and Liu (2015) do. Only for dependency trees and for groups to learn from.
    **grammar_options
        Given to ``make``, such as ``markov=(2, 1)``.

    Returns
    -------
    groups
        In the order of the trees, or of ``rows``, each with its gold tree.

    Examples
    --------
    >>> trees = ["(S (NP (N cats)) (VP (V sleep)))", "(S (NP (N dogs)) (VP (V bark)))"]
    >>> [str(group.candidates[0]) for group in jackknifed(trees, folds=2)]
    ['(S (NP (N cats)) (VP (V sleep)))', '(S (NP (N dogs)) (VP (V bark)))']
    """
    golds = [_gold(row, tree) for row, tree in enumerate(trees)]
    told = _by_row(taggings, dict(enumerate(golds)))
    weight = _weight(tag_weight, taggings)
    golds = [_retagged(gold, told[row]) if row in told else gold for row, gold in enumerate(golds)]
    if folder is not None:
        wanted_seed = "an integer of at least 0 if folder is given"
        random_state = whole_number("random_state", random_state, 0, wanted=wanted_seed)
    parts = held_out_rows([words_of(gold) for gold in golds], folds, generator(random_state), documents)
    wanted = [_row(row, len(golds)) for row in (range(len(golds)) if rows is None else rows)]
    jobs = []
    for number, part in enumerate(parts):
        held_out = set(part)
        if asked := [row for row in dict.fromkeys(wanted) if row in held_out]:
            own_taggings = {row: told[row] for row in asked if row in told}
            options = make, grammar_options, k, beam, n_threads, add_gold, weight
            jobs.append(_Fold(number, golds, held_out, asked, own_taggings, *options))
    kept = None
    if folder is not None:
        own = {"k": k, "folds": folds, "beam": beam, "random_state": random_state, "make": make, **grammar_options}
        # Left out where they are not used, so that folders of older versions are read.
        own |= ({"add_gold": add_gold} if add_gold else {}) | weight
        if taggings is not None:
            texts = (repr([(tuple(one.tags), score) for one, score in each]) for each in taggings)
            own |= {"taggings": digest(text.encode() for text in texts)}
        kept = PartFolder(folder, settings_of(golds, documents, None if rows is None else wanted, own), folds)
    groups = _groups_of(jobs, kept, executor, told_of(progress, "candidates"))
    return [groups[row] for row in wanted]


@dataclass(frozen=True, eq=False)
class _Fold:
    """A job: make a parser from the trees that are not held out, and let it propose candidates for some that are."""

    number: int
    golds: Sequence[Candidate]
    held_out: Set[int]
    asked: Sequence[int]
    taggings: Mapping[int, Any]
    make: Callable[..., Proposer]
    grammar_options: Mapping[str, object]
    k: int
    beam: float | None
    n_threads: int | None
    add_gold: bool = False
    weight: Mapping[str, float] = field(default_factory=dict)
    progress: Report | None = None

    @property
    def cost(self) -> float:
        """The number of sentences to be parsed."""
        return float(len(self.asked))

    def __call__(self) -> list[Group]:
        known = [row for row in range(len(self.golds)) if row not in self.held_out]
        try:
            parser = self.make([self.golds[row] for row in known], **self.grammar_options)
        except UntaggedWordError as error:
            raise error.in_list(known) from None
        if self.add_gold and not hasattr(parser, "as_parses"):
            raise TypeError(
                f"add_gold needs a parser with a method as_parses, as DependencyParser has, got {parser!r}."
            )
        options = {"beam": self.beam, "n_threads": self.n_threads, "progress": self.progress, **self.weight}
        groups = _proposed(parser, {row: self.golds[row] for row in self.asked}, self.k, self.taggings, **options)
        return _with_gold(parser, groups) if self.add_gold else groups


def _groups_of(
    jobs: Sequence[_Fold], kept: PartFolder | None, executor: Executor | None, tell: Tell | None
) -> dict[int, Group]:
    """The groups of all jobs by row: read if the part is finished, otherwise computed and kept."""
    groups: dict[int, Group] = {}
    left = []
    for job in jobs:
        found = None if kept is None else kept.read(job.number, [job.golds[row] for row in job.asked])
        if found is None:
            left.append(job)
        else:
            groups.update(zip(job.asked, found, strict=True))
    n_left = sum(len(job.asked) for job in left)
    if tell is not None and groups:
        tell(len(groups) / (len(groups) + n_left))
        tell = part_of(tell, len(groups) / (len(groups) + n_left), 1.0)
    if tell is not None and executor is None:  # jobs elsewhere report nothing before they are done
        ends = [0, *itertools.accumulate(len(job.asked) for job in left)]
        shares = [(start / n_left, end / n_left) for start, end in itertools.pairwise(ends)]
        left = [
            replace(job, progress=report_to(part_of(tell, *share))) for job, share in zip(left, shares, strict=True)
        ]
    for job, found in zip(left, run_jobs(left, executor, tell), strict=True):
        if kept is not None:
            kept.write(job.number, found)
        groups.update(zip(job.asked, found, strict=True))
    return groups


def check_fold_count(
    name: str, folds: int, golds: Iterable[Candidate], documents: Sequence[Hashable] | None = None
) -> None:
    """Raise if there are more folds than different sentences, or than documents if these are given."""
    held_out_rows([words_of(gold) for gold in golds], folds, generator(0), documents, name=name)


def _by_row(taggings: Sequence[Any] | None, sentences: Mapping[int, Any]) -> dict[int, Any]:
    """The taggings of each sentence, if there are any."""
    if taggings is None:
        return {}
    taggings = list(taggings)
    if len(taggings) != len(sentences):
        raise InputError(f"There are {len(sentences):,} sentences, but taggings of {len(taggings):,}.")
    for row, (own, sentence) in enumerate(zip(taggings, sentences.values(), strict=True)):
        check_taggings(row, own)
        words = words_of(sentence) if isinstance(sentence, Candidate) else [_word(one) for one in sentence]
        if list(own[0][0].words) != words:
            raise InputError(f"The taggings of sentence {row} must have its words.")
    return dict(enumerate(taggings))


def _weight(tag_weight: float | None, taggings: object) -> dict[str, float]:
    """The weight of the scores of taggings as an option of the parser, if it is given."""
    if tag_weight is None:
        return {}
    if taggings is None:
        raise ValueError("tag_weight weighs the scores of taggings: give taggings, too.")
    return {"tag_weight": finite_number("tag_weight", tag_weight, zero=True)}


def _word(token: Any) -> str:
    """A word that is given alone or in a pair with its tag."""
    return str(token if isinstance(token, str) else token[0])


def _retagged(gold: Candidate, taggings: Sequence[tuple[TaggedSequence, float]]) -> Candidate:
    """A gold tree with the tags that a tagger prefers."""
    return replace(gold, tags=taggings[0][0].tags) if isinstance(gold, DependencyTree) else gold


def _proposed(
    parser: Proposer, sentences: Mapping[int, Any], k: int, taggings: Mapping[int, Any], **options: Any
) -> list[Group]:
    """Groups of gold trees, gold sequences, lists of words or of pairs, which errors call by their numbers."""
    if not isinstance(parser, Proposer):
        raise TypeError(f"parser must be a PCFG, a Tagger or an object with a method propose, got {parser!r}.")
    if taggings and isinstance(parser, PCFG | Tagger | PerceptronTagger):
        raise TypeError(f"A DependencyParser takes taggings, and {parser!r:.80} does not. Leave taggings out.")
    given = [taggings.get(row, _given(own) if isinstance(own, Candidate) else own) for row, own in sentences.items()]
    proposed = parser.propose(given, k, **options)
    groups = []
    for found, own_words, (row, sentence) in zip(proposed, given, sentences.items(), strict=True):
        if not len(own_words) or not len(found):
            raise InputError(f"No candidates for sentence {row}. A sentence needs at least one word.")
        gold = sentence if isinstance(sentence, Candidate) else None
        if gold is not None and row in taggings:
            gold = _retagged(gold, taggings[row])
        more = getattr(found, "more_scores", {})
        groups.append(Group([own for own, _ in found], [score for _, score in found], gold, more_scores=more))
    return groups


def _with_gold(parser: Proposer, groups: list[Group]) -> list[Group]:
    """The groups with the gold tree as another candidate, as the parser would have found it, where it is missing."""
    missing = [row for row, group in enumerate(groups) if not any(alike(own, group.gold) for own in group.candidates)]
    golds = [groups[row].gold for row in missing]
    found = parser.as_parses(golds)  # type: ignore[attr-defined]  # checked before
    labels = parser.label_scores(golds) if hasattr(parser, "label_scores") else [0.0] * len(golds)
    groups = list(groups)
    for row, (tree, score), label in zip(missing, found, labels, strict=True):
        own = groups[row]
        # A gold tree has the first tagging, which is behind no other.
        more = {name: [*scores, label if name == "labels" else 0.0] for name, scores in own.more_scores.items()}
        scores = [*(own.scores or ()), score]
        candidates = [*own.candidates, tree]
        groups[row] = replace(own, candidates=candidates, scores=scores, more_scores=more, gold_added=True)
    return groups


def _given(gold: Candidate) -> list[Any]:
    """What a parser is told about a sentence: the words; where it needs tags also these, and never the arcs."""
    return list(zip(gold.words, gold.tags, strict=True)) if isinstance(gold, DependencyTree) else words_of(gold)


def _row(row: object, n_trees: int) -> int:
    """The number of a tree; negative numbers count from the end."""
    if isinstance(row, bool) or not isinstance(row, Integral) or not -n_trees <= int(row) < n_trees:
        raise ValueError(f"rows must be numbers of trees, 0 to {n_trees - 1}, got {row!r}.")
    return int(row) % n_trees


def _gold(row: int, sentence: object) -> Candidate:
    if isinstance(sentence, TaggedSequence):
        return sentence
    if isinstance(sentence, DependencyTree):
        # Parses have neither: a learner could tell gold trees by them.
        return replace(sentence, lemmas=None, features=None)
    tree = plain(sentence)
    if tree is None:
        raise InputError(f"Tree {row}, counted from 0, has no words except traces: {str(sentence)[:80]}")
    return tree
