"""The experiments of Qian and Liu (2015): features selected in kernel spaces rerank a dependency parser.

``run("systems", data=..., out=...)`` computes what is missing and writes a page beside the results; so does the command
``espalier reproduce qian2015 systems``.
"""

from espalier_experiments.papers import Paper

__all__ = ["EXPERIMENTS", "PAPER", "run"]

EXPERIMENTS = {
    "systems": "systems",
    "kernels": "kernels",
    "variants": "variants",
    "thresholds": "thresholds",
    "languages": "languages",
    "taggings": "taggings",
    "public_parser": "public_parser",
}
SUMMARY = "Qian and Liu (2015): features selected in kernel spaces rerank a dependency parser."
PAPER = Paper("qian2015", SUMMARY, EXPERIMENTS, alone=frozenset({"kernels", "thresholds", "taggings"}))

run = PAPER.run
