"""The page of many annotators: predictions, and how well their covariances were found."""

from __future__ import annotations

from espalier_experiments.beck2014.learning import PAPER
from espalier_experiments.page import Page, number
from espalier_experiments.selection import mean_of
from espalier_experiments.store import Results

MEASURES = ("log_density", "pearson", "covariances")


def annotators_page(results: Results) -> Page:
    """All that is shown."""
    out = Page(results.path.stem, "Many annotators, few segments each")
    out.aim(
        "Find how alike many annotators are, if each of them annotates only a few segments.",
        "Log density of new answers, correlation with the answers without noise, and with the true covariances.",
        "A model for each annotator, one for all (pooled), feature augmentation (EasyAdapt), and the true weights.",
    )
    out.say(
        f"{PAPER}, section 4.1, expects dozens or hundreds of annotators. These are simulated, over the segments of "
        "the [post-editors](editors.md): two functions of segments are drawn from the process of their kernel (the "
        "mean of those of words, characters and lengths). An annotator's answer is a weighted sum of both (weights "
        "with mean .8 and deviation .3 for the first, 0 and .5 for the second), with a bias of deviation .5 and noise "
        "of a deviation that is log-normal around .4. Segments are drawn for each annotator; "
        f"{results.settings['test']} others are for testing."
    )
    out.say(
        "All models learn a constant, the size of biases, and a noise for each annotator; variances have weak priors. "
        "Weights of `Coregion` have none, except *near one another*: normal around .7 with a deviation of .3. "
        "*covariances* is Pearson's correlation of learned and true covariances of pairs of annotators; pooled and "
        "EasyAdapt have one for all pairs."
    )
    records = list(results)
    rows = []
    for n in sorted({r["annotators"] for r in records}):
        here = [r for r in records if r["annotators"] == n]
        for model in sorted({r["model"] for r in here}, key=_rank):
            own = [r for r in here if r["model"] == model]
            cells = [number(mean_of(own, name), 3) for name in MEASURES]
            rows.append([f"{n} annotators, {own[0]['each']} segments each: {model}", *cells, str(len(own))])
    out.table(["", "log density", "r", "covariances", "draws"], rows)
    return out


def _rank(model: str) -> tuple[bool, bool, str]:
    """Coregion after what it is compared with, and the truth last."""
    return model.startswith("true"), model.startswith("Coregion"), model
