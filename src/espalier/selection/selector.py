"""``KernelSpaceSelector``: the features of a kernel that matter, selected by gradient mining (Qian and Liu 2015)."""

from __future__ import annotations

import os
import tempfile
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from espalier import _core
from espalier.errors import InputError, warn_user
from espalier.gp.sampling import generator
from espalier.gram.class_labels import classes_of, classes_state
from espalier.gram.estimator import KernelEstimator
from espalier.jobs.memory import parse_memory
from espalier.jobs.schedule import Schedule
from espalier.kernels.inputs import Inputs
from espalier.rerank.listed import Cost
from espalier.rerank.training import Target
from espalier.selection.examples import Examples, classified, ranked
from espalier.selection.grown_features import Grown, Problem, scores_of
from espalier.selection.mining import Mining, Steps
from espalier.spaces.feature_tries import compact, parents_of
from espalier.spaces.grown import Atoms, GrownSpace, space_for
from espalier.spaces.selected import SelectedFeatures
from espalier.storage import State, require
from espalier.structures.group import KINDS
from espalier.structures.numbers import check_finite, whole_number

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(eq=False, repr=False)
class KernelSpaceSelector(KernelEstimator):
    r"""Select the features of a kernel that tell right outputs from wrong ones.

    A kernel compares items by very many features, such as all subtrees of dependency trees. The selector minimises

    .. math:: C \lVert w \rVert_1 + \sum_i \max_y \bigl(w \cdot f(x_i, y) + \delta_i(y) - w \cdot f(x_i, y_i)\bigr)

    over weights of all of them, by proximal steps, and looks only at few: a feature can have a weight only if it is
    present in more than C right outputs, or in more than C predicted ones, of examples that are mispredicted. A larger
    feature is present in no more outputs than its parts, so it is looked at only if its parts survive. Features are
    found order by order, and nothing is approximated: the result is that of looking at every feature.

    Parameters
    ----------
    kernel
        Says which features there are: ``DependencySubtree``, ``Polynomial`` (of binary columns), ``SubsetTree``,
        ``Spectrum``, ``Subsequence`` or ``Tagging``. Its decays and weights play no part.
    C
        The penalty of a weight, and how many outputs must have a feature. A larger C selects fewer.
    max_order
        How many atoms a feature may have: arcs, columns, productions or tokens. The kernel may allow fewer:
        ``Polynomial(1)`` has single columns only.
    step
        The size of the first step; None chooses one that would undo a quarter of the loss if that were linear (after
        Polyak).
    steps
        ``"square root"`` divides the step by the square root of the number of the pass; ``"constant"`` does not.
    max_passes, tolerance
        Passes end when the objective changes by less than this share of it, or after so many passes.
    score_weight
        Of groups: the weight of the parser's score in what is predicted while learning.
    cost
        Of groups: what a wrong candidate costs: 1 (``"zero-one"``), or the number of its errors (``"errors"``).
    target
        Of groups: what is right where the gold tree is not a candidate. ``"gold"``: the gold tree, which is added. If
        templates tell relations, use lists of ``jackknifed(add_gold=True)`` then: a gold tree added here has its gold
        relations, by which it could be told from parses. ``"best"``: the candidate that is most like the gold tree.
    pretrain
        An order, or None. A model of features up to this order is learned first, on all but one of ``pretrain_folds``
        parts of the examples, and scores the part that it has not seen. Only what these models get wrong is then
        mined. Without parts, features of low orders may fit all examples and leave nothing to mine.
    counting
        ``"exact"`` counts every candidate. ``"filter"`` first lets candidates pass a spectral Bloom filter of
        ``filter_memory``, and counts only those that may be frequent enough: slower, the same result, less to hold.
    folder
        Where counts go that exceed ``memory``; the folder for temporary files if None.
    random_state
        The seed of the parts of pre-training.
    n_threads, memory, progress, verbose
        As for every learner: see :class:`~espalier.gram.estimator.Learner`. The ``detail`` of a report says the pass
        and the order, how many candidates were counted and how many survived, and the bytes that are held.

    Attributes
    ----------
    features_
        The features that survived the last pass, with their weights: a
        :class:`~espalier.spaces.selected.SelectedFeatures`. ``features_.weighted()`` are those whose weight is not 0.
    history_
        What each pass met and did: objective, mispredicted examples, candidates and survivors by order, seconds, bytes.
    n_mispredicted_
        How many examples were mispredicted in the first pass.
    classes_
        The classes, if it was fitted on these.
    kind_
        What the candidates were, such as ``"dependency trees"``, if it was fitted on groups; None otherwise.

    Notes
    -----
    A feature counts once for an output, however often it occurs in it. The paper prints the difference in the loss and
    the sign of the penalty the other way round, and does not shrink proximally; see ``docs/notation.md``.

    Examples
    --------
    >>> import numpy as np
    >>> from espalier.kernels import Polynomial
    >>> X = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1]] * 5)
    >>> selector = KernelSpaceSelector(Polynomial(2), C=2.0, max_order=2).fit(X, [1, 0, 0, 1] * 5)
    >>> [str(feature) for feature in selector.features_.heaviest(1)]
    ['0 & 1']
    """

    _: KW_ONLY
    C: float = 3.0
    max_order: int = 2
    step: float | None = None
    steps: Steps = "square root"
    max_passes: int = 100
    tolerance: float = 1e-3
    score_weight: float = 1.0
    cost: Cost = "zero-one"
    target: Target = "gold"
    pretrain: int | None = None
    pretrain_folds: int = 5
    counting: Literal["exact", "filter"] = "exact"
    filter_memory: int | str = "1 GiB"
    folder: str | None = None
    random_state: object = 0

    _takes_matrices = True
    _unsaved = ("folder",)  # of one machine

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select features from groups with gold trees, or from items and their classes.

        Parameters
        ----------
        X
            Groups (:class:`~espalier.Group`), each with a gold tree; or items, as the kernel reads them.
        y
            The class of each item; None for groups.

        Raises
        ------
        KeyboardInterrupt
            If it is interrupted; any error of ``progress`` is passed on, too. The selector then keeps what the passes
            before this one have selected; in the first pass, what the orders so far have, if it got through one.
        """
        space = self._checked_space()
        self._check_folder()
        with self._scheduled("selecting features") as schedule:
            if y is None:
                examples = ranked(X, self._checked_kernel(), self.cost, float(self.score_weight), self.target)
            else:
                examples = classified(X, y)
            self._set_width(X)
            atoms = space.learned(examples.inputs, examples.bounds, float(self.C), schedule.between(0.0, 0.02))
            problem = examples.problem(space, atoms, schedule.between(0.02, 0.04))
            if examples.classes is not None:
                self.classes_ = examples.classes
            elif hasattr(self, "classes_"):
                del self.classes_  # from an earlier fit
            problem = self._pretrained(problem, space, atoms, schedule.between(0.04, 0.2))
            mining = self._mining(problem, Grown.empty(space, len(atoms), atoms.top, problem.n_roots, _n(examples)))
            try:
                mining.run(
                    largest_order(space, self.max_order),
                    self.max_passes,
                    float(self.tolerance),
                    schedule.between(0.2, 1.0),
                )
            finally:
                self.history_ = mining.history
                self.n_mispredicted_ = mining.history[0].n_mispredicted if mining.history else 0
                grown, n_examples = mining.grown, len(problem)
                if grown.survives.any() or mining.history:
                    del mining, problem  # they hold as much memory as the features
                    self.kind_ = examples.kind
                    self.features_ = _selected(self.kernel, atoms, grown, examples, schedule.n_threads)
                    self._trained_on = {"rows": n_examples, "features": len(self.features_)}
            schedule.done()
        if not len(self.features_):
            why = f"none is in more than C = {self.C:g} right or predicted outputs. Use a smaller C"
            if not self.n_mispredicted_:
                why = "all examples are right without them"
            warn_user(f"No feature was selected: {why}.")
        return self

    def transform(self, X: Any) -> csr_matrix:
        """One row for each item and one column for each feature that survived: 1 if the item has it, sparse.

        Words and other symbols that the selector has not met are in no feature. A matrix must have as many columns as
        the one on which it was fitted.
        """
        check_is_fitted(self, "features_")
        width = X.shape[1] if len(getattr(X, "shape", ())) == 2 else None
        if width is not None and hasattr(self, "n_features_in_") and width != self.n_features_in_:
            raise InputError(
                f"X has {width} features, but KernelSpaceSelector is expecting {self.n_features_in_} features as "
                "input, as many as it was fitted on."
            )
        with self._scheduled("finding features") as schedule:
            return self.features_.matrix(Inputs.of(X), schedule)

    def fit_transform(self, X: Any, y: Any = None) -> csr_matrix:
        """Select features, and return the matrix of the same items."""
        return self.fit(X, y).transform(X)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """The features as texts, in the order of the columns of :meth:`transform`."""
        check_is_fitted(self, "features_")
        return np.array(self.features_.names_of(), object)

    def to_state(self) -> dict[str, object]:
        """Return the settings, the features, the classes and the number of columns; not the history."""
        check_is_fitted(self, "features_")
        classes = {"classes": classes_state(self.classes_)} if hasattr(self, "classes_") else {}
        width = {"width": self.n_features_in_} if hasattr(self, "n_features_in_") else {}
        kind = {} if self.kind_ is None else {"kind": self.kind_}
        return {**self._declared_state(), "features": self.features_, **classes, **width, **kind}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make the selector that a file holds."""
        selector = cls._of_declared(state)
        selector._checked_space()
        selector.features_ = state.object("features", SelectedFeatures)
        require(selector.features_.kernel == selector.kernel, "its features are of another kernel")
        selector.kind_ = state.text("kind", *KINDS) if "kind" in state else None
        if "classes" in state:
            selector.classes_ = classes_of(state.part("classes"))
        if "width" in state:
            selector.n_features_in_ = state.whole("width")
        return selector

    def _checked_space(self) -> GrownSpace:
        space = space_for(self._checked_kernel())
        self._check_positive("C", "tolerance", zero=True)
        self._check_positive("step", none=True)
        self._check_choice("steps", "square root", "constant")
        self._check_choice("cost", "zero-one", "errors")
        self._check_choice("target", "gold", "best")
        self._check_choice("counting", "exact", "filter")
        wanted = f"an integer from 1 to {_core.MOST_ORDER}"
        whole_number("max_order", self.max_order, 1, _core.MOST_ORDER, wanted=wanted)
        self._check_whole("max_passes")
        if self.pretrain is not None:
            wanted = f"None or an integer from 1 to max_order ({self.max_order})"
            whole_number("pretrain", self.pretrain, 1, self.max_order, wanted=wanted)
            self._check_whole("pretrain_folds", least=2)
        check_finite("score_weight", self.score_weight)
        parse_memory(self.filter_memory)
        return space

    def _check_folder(self) -> None:
        """Refuse a folder in which no file can be written, before hours have passed."""
        if self.folder is None:
            return
        wanted = f"folder must be one in which files can be written, got {self.folder!r}"
        if not os.path.isdir(self.folder):
            raise FileNotFoundError(f"{wanted}, which is no folder. Make it first, or leave it out.")
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise PermissionError(f"{wanted}, which cannot be written in. Give another one, or leave it out.")

    def _mining(self, problem: Problem, grown: Grown, included: NDArray[np.bool_] | None = None) -> Mining:
        return Mining(
            problem,
            grown,
            C=float(self.C),
            step=None if self.step is None else float(self.step),
            steps=self.steps,
            filter_memory=parse_memory(self.filter_memory) if self.counting == "filter" else 0,
            folder=tempfile.gettempdir() if self.folder is None else str(self.folder),
            included=included,
        )

    def _pretrained(self, problem: Problem, space: GrownSpace, atoms: Atoms, schedule: Schedule) -> Problem:
        """The problem with what models of a lower order, which have not seen an example, add to its outputs."""
        if self.pretrain is None:
            return problem
        folds = generator(self.random_state).permutation(len(problem)) % self.pretrain_folds
        base = problem.base.copy()
        of_output = np.repeat(folds, np.diff(problem.start))
        order = largest_order(space, self.pretrain)
        for fold in range(self.pretrain_folds):
            part = schedule.part(fold, self.pretrain_folds).saying(f"part {fold + 1} of {self.pretrain_folds}")
            n_classes = max(1, len(problem.root_of))
            grown = Grown.empty(space, len(atoms), atoms.top, problem.n_roots, n_classes)
            mining = self._mining(problem, grown, folds != fold)
            mining.run(order, self.max_passes, float(self.tolerance), part.between(0.0, 0.9))
            scores = scores_of(grown, problem.graphs, problem.root_of, order, part.between(0.9, 1.0))
            base[of_output == fold] += scores[of_output == fold]
        return Problem(problem.graphs, problem.start, problem.right, base, problem.cost, problem.root_of)


def largest_order(space: GrownSpace, max_order: int) -> int:
    """The largest order up to this one of which the space has features."""
    return max_order if space.largest_order is None else min(max_order, space.largest_order)


def _n(examples: Examples) -> int:
    return 1 if examples.classes is None else len(examples.classes)


def _names(examples: Examples) -> list[str]:
    """What the columns of the weights are."""
    if examples.classes is None:
        return ["choice"]
    return [
        str(name) for name, own in zip(examples.classes.tolist(), examples.root_of.tolist(), strict=True) if own >= 0
    ]


def _selected(kernel: Any, atoms: Atoms, grown: Grown, examples: Examples, n_threads: int) -> SelectedFeatures:
    """The survivors of all classes together, each feature once, in a trie of their own; smaller ones come first."""
    keys = grown.trie.keys()
    trie, place = compact(keys, grown.order, grown.reached(grown.survives, n_threads))
    survivors, names = np.flatnonzero(grown.survives), _names(examples)
    if len(names) == 1:  # each is there once
        survivors = survivors[np.argsort(place[survivors])]
        return SelectedFeatures(kernel, atoms, trie.keys()[1:], place[survivors], grown.weight[survivors, None], names)
    root = np.arange(len(keys))
    for order in range(1, int(grown.order.max(initial=0)) + 1):
        nodes = np.flatnonzero(grown.order == order)
        root[nodes] = root[parents_of(keys[nodes])]
    node, column = np.unique(place[survivors], return_inverse=True)
    weights = np.zeros((len(node), len(names)))
    weights[column.reshape(-1), root[survivors]] = grown.weight[survivors]
    return SelectedFeatures(kernel, atoms, trie.keys()[1:], node, weights, names)
