"""Numbers for labels that the data do not have: no kernel value depends on them, so they cannot be learned."""

from __future__ import annotations

from dataclasses import replace

from espalier.errors import warn_user
from espalier.kernels.base import Kernel, Plan
from espalier.kernels.hyperparameters import PerLabel

MOST_NAMED = 5


def bound_to_labels(plan: Plan, kernel: Kernel) -> Kernel:
    """The kernel with a number for each label of a plan's data; warn about numbers of other names, which stay."""
    bound = plan.bind(kernel)
    used = plan.bind(_without_values(kernel)).parameters()
    # If no label has a number of its own even now, the kernel does not show which labels it uses.
    unused = [path for path in bound.parameters() if path not in used and path.split("[")[0] not in used]
    if unused:
        more = f" and {len(unused) - MOST_NAMED:,} more" if len(unused) > MOST_NAMED else ""
        warn_user(
            f"The data have no label for {len(unused):,} of the numbers that values of PerLabel gives: "
            f"{', '.join(unused[:MOST_NAMED])}{more}. No value of the kernel depends on them, so their learned values "
            "mean nothing. If a name is misspelt, write it as the label or the group is written."
        )
    return bound


def _without_values(kernel: Kernel) -> Kernel:
    """The kernel without the numbers that a caller gave by name."""
    settings = {name: setting for name, setting in kernel._settings() if isinstance(setting, PerLabel)}
    changed = replace(kernel, **{name: replace(setting, values=None) for name, setting in settings.items()})
    return changed._with_children([_without_values(child) for _, child in kernel._children()])
