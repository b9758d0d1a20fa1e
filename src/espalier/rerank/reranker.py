"""``Reranker``: a learner that chooses among candidates, with methods to fit, choose, measure, save and load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from espalier.errors import InputError
from espalier.gram.estimator import Estimator
from espalier.gram.forms import DualForm
from espalier.kernels.subset_tree import SubsetTree
from espalier.rerank.chooser import Chooser
from espalier.rerank.perceptron import VotedPerceptron
from espalier.rerank.quality import chosen_f1, quality
from espalier.rerank.training import checked
from espalier.storage import State
from espalier.structures.group import Candidate, Group

Floats = NDArray[np.float64]


class Reranker(Estimator):
    """Choose the best candidate of each group, after learning from groups in which the right one is known.

    Parameters
    ----------
    chooser
        The learner that chooses: a :class:`VotedPerceptron`, a :class:`RankingSVM` or a :class:`GPPreference`; a
        perceptron over ``SubsetTree(decay=0.3)`` if None. It is copied, not changed.

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

    def __init__(self, chooser: Chooser | None = None) -> None:
        self.chooser = chooser

    def fit(self, groups: Sequence[Group], y: None = None, *, development: Sequence[Group] | None = None) -> Self:
        """Learn from groups with gold trees; the chooser's ``fit`` describes what development groups are for."""
        if self.chooser is not None and not isinstance(self.chooser, Chooser):
            raise TypeError(f"chooser must be a learner such as VotedPerceptron(SubsetTree()), got {self.chooser!r}.")
        chooser = VotedPerceptron(SubsetTree(decay=0.3)) if self.chooser is None else clone(self.chooser)
        self.chooser_ = chooser.fit(groups, development=development)
        return self

    def predict(self, groups: Sequence[Group]) -> list[Candidate]:
        """Return the candidate that is chosen in each group."""
        check_is_fitted(self, "chooser_")
        return self.chooser_.predict(groups)

    def chosen(self, groups: Sequence[Group]) -> NDArray[np.int64]:
        """Return the number of the candidate that is chosen in each group; the first of equals."""
        check_is_fitted(self, "chooser_")
        return self.chooser_.chosen(groups)

    def decision_function(self, groups: Sequence[Group]) -> list[Floats]:
        """The value of every candidate; the largest is chosen."""
        check_is_fitted(self, "chooser_")
        return self.chooser_.decision_function(groups)

    def score(self, groups: Sequence[Group], y: None = None) -> float:
        """Labelled F1 of the chosen trees, in percent; for tags and arcs, how many are right."""
        groups = checked(groups, "measured", gold="to measure by")
        if not groups:
            raise InputError("There are no groups to measure.")
        return 100.0 * chosen_f1([quality(group) for group in groups], self.chosen(groups).tolist())

    def dual_form(self) -> DualForm:
        """Return the coefficients of the training candidates."""
        check_is_fitted(self, "chooser_")
        return self.chooser_.dual_form()

    def to_state(self) -> dict[str, object]:
        """Return the fitted chooser."""
        check_is_fitted(self, "chooser_")
        return {"chooser": self.chooser_}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the reranker that a file holds; it chooses as before."""
        chooser = state.object("chooser", Chooser)
        made = cls(chooser)
        made.chooser_ = chooser
        return made

    def trained_on(self) -> dict[str, object]:
        """How many groups and candidates it was fitted on, and what they were."""
        check_is_fitted(self, "chooser_")
        return self.chooser_.trained_on()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "chooser_")

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": repr(self)}
