"""Partial trees: the kernel of Moschitti (2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from espalier import _core
from espalier.corpus.forest import Forest
from espalier.kernels.block_plan import DECAY_BOUNDS
from espalier.kernels.hyperparameters import Hyperparameter, hyperparameter
from espalier.kernels.tree_plan import TreeKernel
from espalier.kernels.wide_nodes import check_widths


@dataclass(frozen=True, repr=False)
class PartialTree(TreeKernel):
    r"""Count the fragments two trees share when a production may be cut (PTK).

    A fragment is any connected piece of a tree: a node may keep some of its children and leave others out. It
    weighs ``depth_decay`` for each node, ``decay`` twice for each node without children in the fragment, and
    ``decay`` once for each child skipped between two that are kept, in either tree. Every node counts, leaves
    too. With decay :math:`\lambda_x` and depth decay :math:`\mu_x` of the common label :math:`x`,

    .. math:: \Delta(u, v) = \mu_x \Bigl(\lambda_x^2 + \sum_{I, J} \lambda_x^{g(I) + g(J)}
        \prod_k \Delta(u_{I_k}, v_{J_k})\Bigr)

    over subsequences :math:`I` and :math:`J` of one length of the children of :math:`u` and :math:`v`, where
    :math:`g` counts skipped children. It is 0 if the labels differ. Only labels are compared: if a leaf and an
    inner node have the same label, the sum is empty, and with a value for each label the leaf has that of ``<leaf>``:
    :math:`\Delta = \sqrt{\mu_\text{leaf} \mu_x} \, \lambda_\text{leaf} \lambda_x`.

    Parameters
    ----------
    decay
        :math:`\lambda`: the weight of a gap, and of ending a fragment. A number, or one per label.
    depth_decay
        :math:`\mu`: the weight of one node. A number, or one per label.
    on
        The column to read if the input is a table.

    Notes
    -----
    The recursion does not sum over lengths of subsequences: a pair of nodes costs at most the product of their numbers
    of children, and less if few children have equal labels. Memory is 8 bytes for each pair of distinct subtrees with
    equal labels, except pre-terminals. Moschitti (2006) weighs a gap by its span; this kernel counts skipped children,
    as KeLP and SVM-Light-TK do (the latter caps subsequences at five; there is no cap here).

    Examples
    --------
    >>> PartialTree(decay=1.0, depth_decay=1.0)(["(NP (D the) (N cat))", "(NP (D a) (N cat))"])
    array([[15., 10.],
           [10., 15.]])

    A word with and without dependents:

    >>> PartialTree(decay=1.0, depth_decay=1.0).value("(cat (the) (old))", "(sat cat)")
    1.0
    """

    _when_too_large: ClassVar = "Use a smaller decay or depth_decay."

    decay: Hyperparameter = hyperparameter(0.4, DECAY_BOUNDS, zero=False)
    depth_decay: Hyperparameter = hyperparameter(0.4, DECAY_BOUNDS, zero=False)
    on: str | None = None

    def feature_space(self) -> str:
        return "partial trees"

    def _native_plan(self, a: Forest, b: Forest | None, *, per_tree: bool) -> Any:
        check_widths("PartialTree", a, b)
        return _core.PartialTreePlan(a.arrays, None if b is None else b.arrays, per_tree)

    def _has_leaf_value(self) -> bool:
        return True
