"""Support vector machines over any kernel, and a grid search that computes each kernel's matrix once."""

from espalier.svm.classification import KernelSVC
from espalier.svm.estimator import MatrixRows
from espalier.svm.grid_search import KernelGridSearch
from espalier.svm.regression import KernelSVR

__all__ = ["KernelGridSearch", "KernelSVC", "KernelSVR", "MatrixRows"]
