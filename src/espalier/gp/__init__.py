"""Gaussian processes: learners that fit the kernel itself and say how sure they are."""

from espalier.gp.comparison import Comparison, compare
from espalier.gp.learned import LearnedTable
from espalier.gp.mean import ConstantMean, LinearMean
from espalier.gp.optimize import FitProgress, Restart
from espalier.gp.prediction import Prediction
from espalier.gp.priors import Beta, Gamma, HalfNormal, LogNormal, Prior
from espalier.gp.regressor import GPRegressor
from espalier.gp.transforms import BoxCox, Log, SquareRoot, Transform, Warping

__all__ = [
    "Beta",
    "BoxCox",
    "Comparison",
    "ConstantMean",
    "FitProgress",
    "GPRegressor",
    "Gamma",
    "HalfNormal",
    "LearnedTable",
    "LinearMean",
    "Log",
    "LogNormal",
    "Prediction",
    "Prior",
    "Restart",
    "SquareRoot",
    "Transform",
    "Warping",
    "compare",
]
