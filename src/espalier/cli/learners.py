"""The learner that the options of ``espalier rerank fit`` describe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from espalier.errors import InputError
from espalier.jobs.memory import parse_memory
from espalier.jobs.progress import Progress
from espalier.kernels.base import Kernel
from espalier.kernels.dependency_subtree import ARC_TEMPLATES, DependencySubtree
from espalier.kernels.expressions import parse_kernel
from espalier.kernels.subset_tree import SubsetTree
from espalier.kernels.tagging import Tagging
from espalier.rerank import FeatureReranker, GPPreference, RankingSVM, VotedPerceptron
from espalier.rerank.chooser import Chooser
from espalier.rerank.training import check_readable
from espalier.selection import KernelSpaceSelector
from espalier.structures.dependency import DependencyTree
from espalier.structures.group import Candidate, Group
from espalier.structures.sequence import TaggedSequence

LearnerName = Literal["perceptron", "svm", "gp", "features"]
Draw = Callable[[Any], object]

_CLASSES: dict[str, type[Chooser]] = {"perceptron": VotedPerceptron, "svm": RankingSVM, "gp": GPPreference}
_FEATURES = ("features",)
# Which options only some learners have: what the command line calls them, and the learners.
_OWN: dict[str, tuple[str, tuple[str, ...]]] = {
    "epochs": ("--epochs", ("perceptron", "features")),
    "updates": ("--updates", ("perceptron",)),
    "C": ("--C", ("svm", "features")),
    "passes": ("--passes", ("svm", "features")),
    "sample": ("--sample", ("perceptron", "svm", "gp")),
    "max_candidates": ("--max-candidates", ("gp",)),
    "max_order": ("--max-order", _FEATURES),
    "loss": ("--loss", _FEATURES),
    "decay": ("--decay", _FEATURES),
    "learning_score_weight": ("--learning-score-weight", _FEATURES),
    "memory": ("--memory", _FEATURES),
    "n_threads": ("--threads", _FEATURES),
}
_OF_SELECTOR = ("C", "max_order", "passes")
_OF_BOTH = ("memory", "n_threads", "random_state")
_SELECTING = 0.5  # the share of the bar that the selection takes


def check_options(learner: LearnerName, kernel: str | None, options: Mapping[str, Any]) -> None:
    """Refuse text that is not a kernel, and options that the learner does not have or whose values are wrong."""
    for name, (flag, owners) in _OWN.items():
        if options.get(name) is not None and learner not in owners:
            raise InputError(f"{flag} belongs to --learner {' or '.join(owners)}, not to {learner}.")
    parse_memory(options.get("memory"))
    made = _learner(learner, SubsetTree() if kernel is None else parse_kernel(kernel), options)
    if isinstance(made, FeatureReranker):
        made.features._checked_space()
    made._check()


def chooser_of(
    learner: LearnerName, kernel: str | None, example: Candidate, draw: Draw, options: Mapping[str, Any]
) -> Chooser | FeatureReranker:
    """Make the learner that the options describe; options that are None keep their defaults."""
    chosen = _default_kernel(learner, example) if kernel is None else parse_kernel(kernel)
    check_readable(chosen, [Group([example])])
    try:
        chosen([example])
    except (TypeError, InputError) as error:
        raise InputError(f"{chosen!r} does not compare these candidates: {error}") from None
    return _learner(learner, chosen, options, draw)


def told_of(fitted: Chooser | FeatureReranker) -> str:
    """Say what was learned."""
    name, weighs = type(fitted).__name__, f"the parser's score weighs {fitted.score_weight_:.3g}"
    if not isinstance(fitted, FeatureReranker):
        learned = getattr(fitted, "kernel_", fitted.kernel)
        return f"{name} over {learned!r}, a sum of {len(fitted.support_):,} candidates; {weighs}"
    orders = sorted(Counter(fitted.features_.order.tolist()).items())
    sizes = ", ".join(f"{n:,} of order {order}" for order, n in orders) or "none"
    kernel = type(fitted.features_.kernel).__name__
    further = "".join(f", the score {key!r} {own:.3g} times as much" for key, own in fitted.score_weights_.items())
    return f"{name} over features of {kernel}: {sizes}; epoch {fitted.epoch_}; {weighs}{further}"


def score_weight_of(text: str | None) -> float | str | None:
    """Read a weight: a number, or a word that the learner knows."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _default_kernel(learner: LearnerName, example: Candidate) -> Kernel:
    if learner == "features" and isinstance(example, DependencyTree):
        return DependencySubtree(ARC_TEMPLATES, root=True)
    defaults: dict[type, Kernel] = {TaggedSequence: Tagging(), DependencyTree: DependencySubtree()}
    chosen = defaults.get(type(example), SubsetTree(decay=0.3))
    return 1.0 * chosen if learner == "gp" else chosen


def _learner(
    learner: LearnerName, kernel: Kernel, options: Mapping[str, Any], draw: Draw | None = None
) -> Chooser | FeatureReranker:
    given = {name: value for name, value in options.items() if value is not None}
    if learner != "features":
        given |= {"max_iterations": given.pop("passes")} if "passes" in given else {}
        return _CLASSES[learner](kernel, progress=draw, **given)
    own = {name: given[name] for name in (*_OF_SELECTOR, *_OF_BOTH) if name in given}
    own |= {"max_passes": own.pop("passes")} if "passes" in own else {}
    rest = {name: value for name, value in given.items() if name not in _OF_SELECTOR}
    selector = KernelSpaceSelector(kernel, progress=_part_of(draw, 0.0, _SELECTING), **own)
    return FeatureReranker(selector, progress=_part_of(draw, _SELECTING, 1.0), **rest)


def _part_of(draw: Draw | None, start: float, end: float) -> Draw | None:
    """Draw a job as the part of a bar."""
    if draw is None:
        return None

    def told(progress: Progress) -> object:
        return draw(replace(progress, fraction=start + (end - start) * progress.fraction))

    return told
