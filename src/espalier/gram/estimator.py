"""What learners share: the settings of a run, and parameters by name as in scikit-learn, also those of the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from espalier.jobs.bar import reporting
from espalier.jobs.progress import Report
from espalier.jobs.schedule import Schedule
from espalier.kernels.arguments import arguments_of, with_arguments
from espalier.kernels.base import Kernel
from espalier.storage import State, Storable, require
from espalier.structures.numbers import check_choice, finite_number, whole_number

_PREFIX = "kernel__"
# Settings of a machine or a run, which a file does not hold: its reader may have another number of threads.
_UNSAVED = ("n_threads", "memory", "progress", "verbose")


class Estimator(Storable, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no annotations
    """An estimator whose errors list the parameters that can be set."""

    _trained_on: Mapping[str, object] = MappingProxyType({})
    _unsaved: tuple[str, ...] = ()  # parameters that a file does not hold

    def trained_on(self) -> dict[str, object]:
        return dict(self._trained_on)

    def _declared_state(self) -> dict[str, object]:
        """The parameters that a file holds (a seed only if it is a number), and the facts about the training data."""
        left_out = {*_UNSAVED, *self._unsaved}
        settings = {name: value for name, value in self.get_params(deep=False).items() if name not in left_out}
        if "random_state" in settings and not isinstance(settings["random_state"], int | np.integer):
            settings["random_state"] = None
        return {"settings": settings, "trained_on": dict(self._trained_on)}

    @classmethod
    def _of_declared(cls, state: State, **unsaved: object) -> Self:
        """An estimator with the parameters that a file holds, and those that it does not, not fitted yet."""
        settings = state.part("settings").values()
        require(not set(settings) & set(_UNSAVED), "a file may not set threads and memory")
        made = cls(**unsaved, **settings)
        if "trained_on" in state:
            facts: Any = state.json("trained_on")
            require(isinstance(facts, dict), "trained_on is not a JSON object")
            made._trained_on = facts
        return made

    def set_params(self, **params: object) -> Self:
        """Set parameters by name; ``name__inside`` sets one of an estimator that is a parameter itself."""
        own = {**self.get_params(deep=False), **params}
        for name in params:
            outer, inner = name.partition("__")[::2]
            if inner and outer in own and not hasattr(own[outer], "set_params"):
                # Worded as in scikit-learn, which would raise an AttributeError here.
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self!r}: {outer} is {own[outer]!r:.80}, which has no "
                    f"parameters of its own. Set {outer} itself. Valid parameters are: {sorted(self.get_params())!r}."
                )
        super().set_params(**params)
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class Learner(Estimator):
    """An estimator whose fit takes time.

    A learner is a dataclass: its fields are its parameters, and ``fit`` checks them. Some parameters have the same
    names, meanings and defaults in every learner that has them:

    Parameters
    ----------
    max_iterations
        The most steps that learning may take; the default of the method, which each learner names, if None.
    tolerance
        When learning ends; the default of the method, which each learner names, if None.
    random_state
        The seed of all random draws: a number, 0 by default, gives the same model each time; a generator of numpy is
        used as it is; None takes a new seed in each fit.
    n_threads
        How many threads to use; all cores if None. No result depends on it.
    memory
        Bytes (or ``"2 GiB"``) for intermediate results; a quarter of what the process may use if None.
    progress
        A function that is called now and then with a :class:`~espalier.jobs.Progress`. Any exception that it raises
        ends the work and reaches the caller.
    verbose
        Whether to draw a bar on standard error, if that is a terminal.
    """

    n_threads: int | None = None
    memory: int | str | None = None
    progress: Report | None = None
    verbose: bool = False

    @contextmanager
    def _scheduled(self, what: str) -> Iterator[Schedule]:
        """Yield the threads, the memory and the reports of one job, which reports call ``what``."""
        with reporting(what, self.progress, self.verbose) as report:
            yield Schedule.of(self.n_threads, self.memory, report, what=what)

    def _check_whole(self, *names: str, least: int = 1, none: bool = False) -> None:
        """Raise if a parameter is not an integer of at least ``least``; with ``none``, None is allowed, too."""
        for name in names:
            value = getattr(self, name)
            if value is not None or not none:
                whole_number(name, value, least, none=none)

    def _check_positive(self, *names: str, zero: bool = False, none: bool = False) -> None:
        """Raise if a parameter is not positive and finite; ``zero`` also allows 0, ``none`` also None."""
        for name in names:
            value = getattr(self, name)
            if value is not None or not none:
                finite_number(name, value, zero=zero)

    def _check_choice(self, name: str, *allowed: str) -> None:
        """Refuse a parameter that is none of some words."""
        check_choice(name, getattr(self, name), *allowed)


@dataclass(eq=False, repr=False)
class KernelEstimator(Learner):
    """An estimator with a parameter ``kernel``, whose arguments have names of their own: ``kernel__decay``."""

    kernel: Any

    _takes_matrices: ClassVar[bool] = False  # whether rows may be those of a matrix, dense or sparse

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_matrices
        tags.input_tags.string = True
        return tags

    def _checked_kernel(self, default: Kernel | None = None) -> Kernel:
        """Return the kernel, or the default if it is None; raise if it is not a kernel."""
        kernel = default if self.kernel is None else self.kernel
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be a kernel of Espalier such as SubsetTree(), got {kernel!r}.")
        return kernel

    def _set_width(self, data: Any) -> None:
        """Keep the number of features of a matrix under the name of scikit-learn; other inputs have no such number."""
        if (isinstance(data, np.ndarray) and data.ndim == 2) or hasattr(data, "tocsr"):
            self.n_features_in_ = int(data.shape[1])
        elif hasattr(self, "n_features_in_"):
            del self.n_features_in_  # from an earlier fit

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with ``deep`` also the arguments of the kernel, ``kernel__decay``."""
        params: dict[str, object] = super().get_params(deep)
        if deep and isinstance(self.kernel, Kernel):
            params |= {_PREFIX + name: value for name, value in arguments_of(self.kernel).items()}
        return params

    def set_params(self, **params: object) -> Self:
        """Set parameters by name; ``kernel__decay=0.2`` replaces the kernel by one with this decay.

        A number keeps the kind of setting it replaces: ``fixed(0.4)`` becomes ``fixed(0.2)``. Any other argument can be
        set too, such as ``kernel__max_depth``. Inside sums and products names are those of ``kernel.parameters()``:
        ``set_params(**{"kernel__terms[0].decay": 0.2})``.
        """
        inside = {name.removeprefix(_PREFIX): value for name, value in params.items() if name.startswith(_PREFIX)}
        super().set_params(**{name: value for name, value in params.items() if not name.startswith(_PREFIX)})
        if inside:
            if not isinstance(self.kernel, Kernel):
                raise ValueError(
                    f"Invalid parameter {next(iter(inside))!r} for kernel {self.kernel!r}, which is not a kernel. Set "
                    "a kernel first, such as kernel=SubsetTree()."
                )
            self.kernel = with_arguments(self.kernel, inside)
        return self
