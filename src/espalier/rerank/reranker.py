"""``Reranker``: a learner that chooses among candidates, with methods to fit, choose, measure, save and load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from espalier.gram.estimator import Estimator
from espalier.gram.forms import DualForm
from espalier.kernels.subset_tree import SubsetTree
from espalier.rerank.chooser import Chooser, Choosing, Floats
from espalier.rerank.features import FeatureReranker
from espalier.rerank.perceptron import VotedPerceptron
from espalier.storage import State
from espalier.structures.group import Group


class Reranker(Choosing, Estimator):
    """Choose the best candidate of each group, after learning from groups in which the right one is known.

    Parameters
    ----------
    chooser
        The learner that chooses: a :class:`VotedPerceptron`, a :class:`RankingSVM`, a :class:`GPPreference` or a
        :class:`FeatureReranker`; a perceptron over ``SubsetTree(decay=0.3)`` if None. It is copied, not changed.

    Attributes
    ----------
    chooser_
        The fitted copy.

    Examples
    --------
    >>> right, wrong = "(S (NP (N cats)) (VP (V sleep)))", "(S (NP (N cats) (V sleep)))"
    >>> reranker = Reranker().fit([Group([wrong, right], gold=right)] * 5)
    >>> chosen = reranker.predict([Group([wrong, right])])
    >>> print(chosen[0])
    (S (NP (N cats)) (VP (V sleep)))
    >>> reranker.score([Group([wrong, right], gold=right)])
    100.0
    """

    def __init__(self, chooser: Chooser | FeatureReranker | None = None) -> None:
        self.chooser = chooser

    def fit(self, groups: Sequence[Group], y: None = None, *, development: Sequence[Group] | None = None) -> Self:
        """Learn from groups with gold trees; the chooser's ``fit`` describes what development groups are for."""
        if self.chooser is not None and not isinstance(self.chooser, Chooser | FeatureReranker):
            raise TypeError(f"chooser must be a learner such as VotedPerceptron(SubsetTree()), got {self.chooser!r}.")
        chooser: Any = VotedPerceptron(SubsetTree(decay=0.3)) if self.chooser is None else clone(self.chooser)
        self.chooser_: Chooser | FeatureReranker = chooser.fit(groups, development=development)
        return self

    @classmethod
    def around(cls, chooser: Chooser | FeatureReranker) -> Self:
        """Return a reranker that chooses as a learner which is fitted already."""
        check_is_fitted(chooser)
        made = cls(chooser)
        made.chooser_ = chooser
        return made

    def decision_function(self, groups: Sequence[Group]) -> list[Floats]:
        """The value of every candidate; the largest is chosen."""
        return self._fitted().decision_function(groups)

    def dual_form(self) -> DualForm:
        """Return the coefficients of the training candidates; a TypeError if the chooser has weights of features."""
        chooser = self._fitted()
        if isinstance(chooser, FeatureReranker):
            raise TypeError(
                "A FeatureReranker has no coefficients of candidates but weights of features: see chooser_.features_."
            )
        return chooser.dual_form()

    def to_state(self) -> dict[str, object]:
        """Return the fitted chooser."""
        return {"chooser": self._fitted()}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the reranker that a file holds; it chooses as before."""
        chooser: Any = state.object("chooser", Chooser, FeatureReranker)
        return cls.around(chooser)

    def trained_on(self) -> dict[str, object]:
        """How many groups and candidates it was fitted on, and what they were."""
        return self._fitted().trained_on()

    def _fitted(self) -> Chooser | FeatureReranker:
        check_is_fitted(self, "chooser_")
        return self.chooser_

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": repr(self)}
