"""Plots of what a fitted process learned and how far it can be trusted.

Every function draws into the axes it is given, or into a new figure, and returns what it drew on; to keep a picture,
``axes.figure.savefig("picture.svg")``.
"""

from espalier.gp.plots.labels import plot_thresholds
from espalier.gp.plots.learned import plot_learned
from espalier.gp.plots.predictions import plot_calibration, plot_predictions
from espalier.gp.plots.restarts import plot_restarts
from espalier.gp.plots.tasks import plot_tasks

__all__ = [
    "plot_calibration",
    "plot_learned",
    "plot_predictions",
    "plot_restarts",
    "plot_tasks",
    "plot_thresholds",
]
