"""``Comparison``: why one candidate has a larger value than another, as a table, a plot, a drawing or a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from espalier.explanations.explanation import Explanation, Reason
from espalier.explanations.together import Together
from espalier.structures.group import Candidate, words_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

_TOGETHER = {"end": "runs of tags", "modifiers": "arcs"}  # what features are about
_OF_WORDS = {"end": "runs of tags", "head": "subtrees", "modifiers": "subtrees"}  # what words have shares of


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(Explanation):
    """What decides between two candidates of a group.

    It explains the lead of the winner, its value less that of the loser: ``value`` is ``from_score`` plus the totals of
    both ``trees`` plus ``elsewhere``. A reason with a positive contribution favours the winner: a good fragment that
    the winner has, or a bad one that the loser has.

    Attributes
    ----------
    winner, loser
        The two candidates.
    names
        What they are: their numbers, and whether one was chosen, is gold or is the parser's own choice.
    values
        Their values. If one is a gold tree that is not a candidate, the parser has no score for it, and both values are
        those of the kernel or of the features alone.
    from_score
        The part of the lead from the parser: the weight of its score times the difference of the two scores. If there
        are further scores, it is the part of all of them.
    further_scores
        What each further score of the candidates adds to the lead, by name.
    trees
        The two candidates as trees, with the share of every node in the lead; those of the loser with opposite signs.
        Tags are drawn above their words, and a run of tags counts for its last one; relations are drawn above tags, and
        a subtree of arcs counts for its head, or, of a ``FeatureReranker``, for the modifiers of its arcs in equal
        parts. Empty if no part of the kernel can be shared among nodes.
    together
        Of a ``FeatureReranker`` on dependency trees or tagged sequences: what all features of the same arcs, or of the
        same run of tags, add together, the largest first; drawings and pages list these. Otherwise empty.
    """

    winner: Candidate
    loser: Candidate
    names: tuple[str, str]
    values: tuple[float, float]
    from_score: float
    further_scores: Mapping[str, float] = field(default_factory=dict)
    together: tuple[Together, ...] = ()

    @property
    def shown(self) -> tuple[Reason, ...]:
        """What drawings and pages list: single features only if they are not summed."""
        return self.together or self.reasons

    @property
    def shown_kinds(self) -> str:
        """What these are, in the plural."""
        return _TOGETHER[self.trees[0].split] if self.together else f"{self.kind}s"

    @property
    def named_scores(self) -> dict[str, float]:
        """What the parser's score and each further one add to the lead."""
        parser = self.from_score - sum(self.further_scores.values())
        return {"the parser's score": parser, **{f"the score {k!r}": own for k, own in self.further_scores.items()}}

    @property
    def is_of_words(self) -> bool:
        """Whether words have shares, not nodes of trees."""
        return bool(self.trees) and self.trees[0].split in _OF_WORDS

    def marks_words(self, n: int = 8) -> bool:
        """Whether the drawing marks words by their shares: if none of the first n reasons can be marked in it."""
        from espalier.explanations.comparison_drawing import numbered

        return self.is_of_words and not numbered(self.shown[:n])

    @property
    def kind_of_parts(self) -> str:
        """What makes up the lead apart from the parser's score."""
        return _OF_WORDS.get(self.trees[0].split, f"{self.kind}s") if self.trees else f"{self.kind}s"

    def by_word(self) -> list[tuple[str, float]]:
        """What each word adds to the lead; empty if words have no shares."""
        from espalier.explanations.word_shares import together

        if not self.is_of_words:
            return []
        shares = together(self.trees, (self.winner, self.loser)).tolist()
        return list(zip(words_of(self.winner), shares, strict=True))

    def to_frame(self) -> DataFrame:
        """Return a pandas frame with one row for each fragment, and how often each candidate has it."""
        frame = super().to_frame()
        for name in ("in_winner", "in_loser"):
            frame[name] = [len(getattr(reason, name)) for reason in self]
        return frame

    def to_svg(self, width: int | None = 1700, *, n: int = 8) -> str:
        """Draw both candidates side by side, mark what favours the winner, and draw bars of the first n of ``shown``.

        Fragments of the winner are blue, those of the loser orange; a number at the root of a fragment connects it with
        its bar. What both candidates have is grey. If both do not fit into the width, in pixels, the loser is drawn
        below. If none of the first n can be marked, words with shares are: green for the winner, red for the loser.
        """
        from espalier.explanations.comparison_drawing import comparison_svg

        return comparison_svg(self, width, n)

    def plot(self, ax: Axes | None = None, *, n: int = 15) -> Axes:
        """Draw bars of what fragments add to the lead of the winner."""
        ax = super().plot(ax, n=n)
        ax.set_xlabel("added to the lead of the winner")
        ax.set_title(self.summary, fontsize=10)
        return ax

    @property
    def summary(self) -> str:
        """The lead and what it is made of, in one line."""
        parts = [(name, own) for name, own in self.named_scores.items() if own]
        if self.trees:
            parts.append((self.kind_of_parts, self.of_trees))
        if self.elsewhere:
            parts.append(("other kernels" if self.trees else "the kernel", self.elsewhere))
        told = ", ".join(f"{name} {signed(value)}" for name, value in parts)
        return f"a lead of {signed(self.value or 0.0)}: {told}" if told else f"a lead of {signed(self.value or 0.0)}"

    @property
    def of_trees(self) -> float:
        """What all fragments add to the lead, listed or not."""
        return float(sum(own.total for own in self.trees))

    def __repr__(self) -> str:
        return f"<Comparison of {self.names[0]} with {self.names[1]}: {self.summary}; {len(self):,} {self.kind}s>"


def signed(value: float) -> str:
    """A number with its sign, in three digits.

    Examples
    --------
    >>> signed(0.12345), signed(-2.0), signed(0.0)
    ('+0.123', '−2', '0')
    """
    return f"{value:+.3g}".replace("-", "\N{MINUS SIGN}") if value else "0"
