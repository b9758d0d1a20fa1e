"""The names of ``import espalier as es``, each with the room that it lives in.

This list is the only one: type checkers read it, and ``espalier/__init__.py`` loads from it what is used.
"""

from espalier import corpus as corpus
from espalier import errors as errors
from espalier import explanations as explanations
from espalier import fragments as fragments
from espalier import gp as gp
from espalier import jobs as jobs
from espalier import kernels as kernels
from espalier import parsing as parsing
from espalier import rerank as rerank
from espalier import spaces as spaces
from espalier import structures as structures
from espalier import svm as svm
from espalier.corpus import Arcs as Arcs
from espalier.corpus import Forest as Forest
from espalier.corpus import Graphs as Graphs
from espalier.corpus import Sequences as Sequences
from espalier.errors import InputError as InputError
from espalier.explanations import explain as explain
from espalier.explanations import shared_fragments as shared_fragments
from espalier.fragments import FragmentVectorizer as FragmentVectorizer
from espalier.fragments import HashedFragments as HashedFragments
from espalier.fragments import LinearizedTreeClassifier as LinearizedTreeClassifier
from espalier.fragments import mine_fragments as mine_fragments
from espalier.gp import GPRegressor as GPRegressor
from espalier.gp import compare as compare
from espalier.gp.plots import plot_calibration as plot_calibration
from espalier.gp.plots import plot_learned as plot_learned
from espalier.gp.plots import plot_predictions as plot_predictions
from espalier.gp.plots import plot_restarts as plot_restarts
from espalier.gram import gram as gram
from espalier.gram import nearest as nearest
from espalier.kernels import RBF as RBF
from espalier.kernels import BagOfWords as BagOfWords
from espalier.kernels import Constant as Constant
from espalier.kernels import DependencySubtree as DependencySubtree
from espalier.kernels import Embedding as Embedding
from espalier.kernels import Kernel as Kernel
from espalier.kernels import Learned as Learned
from espalier.kernels import Linear as Linear
from espalier.kernels import Matern as Matern
from espalier.kernels import Normalized as Normalized
from espalier.kernels import PartialTree as PartialTree
from espalier.kernels import PerDimension as PerDimension
from espalier.kernels import PerLabel as PerLabel
from espalier.kernels import Polynomial as Polynomial
from espalier.kernels import Precomputed as Precomputed
from espalier.kernels import Radial as Radial
from espalier.kernels import SmoothedPartialTree as SmoothedPartialTree
from espalier.kernels import Spectrum as Spectrum
from espalier.kernels import Subsequence as Subsequence
from espalier.kernels import SubsetTree as SubsetTree
from espalier.kernels import Subtree as Subtree
from espalier.kernels import Tagging as Tagging
from espalier.kernels import WeisfeilerLehman as WeisfeilerLehman
from espalier.kernels import fixed as fixed
from espalier.rerank import FeatureReranker as FeatureReranker
from espalier.rerank import GPPreference as GPPreference
from espalier.rerank import RankingSVM as RankingSVM
from espalier.rerank import Reranker as Reranker
from espalier.rerank import VotedPerceptron as VotedPerceptron
from espalier.selection import KernelSpaceSelector as KernelSpaceSelector
from espalier.storage import load as load
from espalier.structures import DependencyTree as DependencyTree
from espalier.structures import Fragment as Fragment
from espalier.structures import Graph as Graph
from espalier.structures import Group as Group
from espalier.structures import Table as Table
from espalier.structures import TaggedSequence as TaggedSequence
from espalier.structures import Tree as Tree
from espalier.structures import as_tree as as_tree
from espalier.structures import read_brackets as read_brackets
from espalier.structures import read_conllu as read_conllu
from espalier.structures import read_conllu_documents as read_conllu_documents
from espalier.structures import read_groups as read_groups
from espalier.structures import read_klp as read_klp
from espalier.structures import read_table as read_table
from espalier.svm import KernelGridSearch as KernelGridSearch
from espalier.svm import KernelSVC as KernelSVC
from espalier.svm import KernelSVR as KernelSVR

__version__: str
__all__: list[str]
