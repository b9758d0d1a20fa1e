"""Gaussian processes: learners that also learn the kernel, and predict with error bars."""

from espalier.gp.inference import Conditioned, ExactPosterior, LaplacePosterior, exact, laplace
from espalier.gp.latent import LatentObjective, LinearMap, LinearTerm
from espalier.gp.learned import LearnedTable
from espalier.gp.learning import Outcome, learn
from espalier.gp.likelihoods import Gaussian, Likelihood, Observed, ParameterSlopes, Probit, Slopes
from espalier.gp.mean import ConstantMean, LinearMean
from espalier.gp.model_comparison import ModelComparison, compare
from espalier.gp.objective import Objective, kernel_at, kernel_parameters, kernel_slopes
from espalier.gp.optimize import FitProgress, Restart, Settings
from espalier.gp.parameters import Parameter
from espalier.gp.prediction import Prediction
from espalier.gp.priors import Beta, Gamma, HalfNormal, LogNormal, Prior
from espalier.gp.regressor import GPRegressor
from espalier.gp.transforms import BoxCox, Log, SquareRoot, Transform, Warping

__all__ = [
    "Beta",
    "BoxCox",
    "Conditioned",
    "ConstantMean",
    "ExactPosterior",
    "FitProgress",
    "GPRegressor",
    "Gamma",
    "Gaussian",
    "HalfNormal",
    "LaplacePosterior",
    "LatentObjective",
    "LearnedTable",
    "Likelihood",
    "LinearMap",
    "LinearMean",
    "LinearTerm",
    "Log",
    "LogNormal",
    "ModelComparison",
    "Objective",
    "Observed",
    "Outcome",
    "Parameter",
    "ParameterSlopes",
    "Prediction",
    "Prior",
    "Probit",
    "Restart",
    "Settings",
    "Slopes",
    "SquareRoot",
    "Transform",
    "Warping",
    "compare",
    "exact",
    "kernel_at",
    "kernel_parameters",
    "kernel_slopes",
    "laplace",
    "learn",
]
