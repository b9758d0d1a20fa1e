"""What learners share with scikit-learn: parameters by name, also those of their kernel."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

from espalier.kernels.arguments import arguments_of, with_arguments
from espalier.kernels.base import Kernel

_PREFIX = "kernel__"


class Estimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no annotations
    """An estimator that says which parameters can be set."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``name__inside`` sets one of an estimator that is a parameter itself."""
        own = {**self.get_params(deep=False), **params}
        for name in params:
            outer, inner = name.partition("__")[::2]
            if inner and outer in own and not hasattr(own[outer], "set_params"):
                # In the words of scikit-learn, which would end in an AttributeError.
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self!r}: {outer} is {own[outer]!r:.80}, which has no "
                    f"parameters of its own. Set {outer} itself. Valid parameters are: {sorted(self.get_params())!r}."
                )
        super().set_params(**params)
        return self


class KernelEstimator(Estimator):
    """An estimator with a parameter ``kernel``, whose arguments have names of their own: ``kernel__decay``."""

    kernel: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with ``deep`` also the arguments of the kernel, ``kernel__decay``."""
        params: dict[str, Any] = super().get_params(deep)
        if deep and isinstance(self.kernel, Kernel):
            params |= {_PREFIX + name: value for name, value in arguments_of(self.kernel).items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``kernel__decay=0.2`` puts a kernel with this decay in the place of the present one.

        A number keeps the kind of setting it replaces: ``fixed(0.4)`` becomes ``fixed(0.2)``. Any other argument can be
        set too, such as ``kernel__max_depth``. Inside sums and products names are those of ``kernel.parameters()``:
        ``set_params(**{"kernel__terms[0].decay": 0.2})``.
        """
        inside = {name.removeprefix(_PREFIX): value for name, value in params.items() if name.startswith(_PREFIX)}
        super().set_params(**{name: value for name, value in params.items() if not name.startswith(_PREFIX)})
        if inside:
            if not isinstance(self.kernel, Kernel):
                raise ValueError(
                    f"Invalid parameter {next(iter(inside))!r} for kernel {self.kernel!r}, which is no kernel. Set a "
                    "kernel first, such as kernel=SubsetTree()."
                )
            self.kernel = with_arguments(self.kernel, inside)
        return self
