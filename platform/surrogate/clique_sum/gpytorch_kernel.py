"""Sum of kernels over cliques of dimensions, for any GPyTorch or BoTorch model.

The surrogate of the DSS-GP-UCB paper (section 4.4, Algorithm 4, step 3) as one kernel. It takes one
pass over all pairs and cliques, and the memory of one covariance. GPyTorch's own `AdditiveKernel`
keeps several matrices for each clique.
"""

import math
import operator
from collections.abc import Sequence
from typing import Any

import gpytorch
import torch
from gpytorch.constraints import Interval, Positive
from gpytorch.priors import Prior
from torch import Tensor

from rolecast.core.errors import ConfigError, RequestError
from rolecast.platform.surrogate.clique_sum.autograd import covariances
from rolecast.platform.surrogate.clique_sum.cpu import CliqueLayout
from rolecast.platform.surrogate.clique_sum.torch_sum import torch_clique_sum

ERROR_OWNER = "AdditiveCliqueKernel"


class AdditiveCliqueKernel(gpytorch.kernels.Kernel):  # type: ignore[misc]  # the library has no types
    """Kernel k(x, x') = sum_c clique_weight_c k_c, k_c a Matérn-5/2 (or RBF) of |x_c - x'_c|.

    Distances are Euclidean over the dimensions of a clique, each divided by its lengthscale.
    Cliques may overlap; a dimension in no clique has no effect. Weights begin at 1/M, so
    k(x, x) = 1. Entries in float64 are exact to 1e-12. Entries in float32 are exact to some 1e-6,
    and several times as fast. On the CPU it uses `torch.get_num_threads()` threads and memory for
    N^2 + N D numbers.

    >>> kernel = AdditiveCliqueKernel([(0, 1), (1, 2, 3)], num_dims=4)
    >>> kernel(torch.zeros(5, 4)).to_dense().shape
    torch.Size([5, 5])

    Differs: the paper does not say whether a lengthscale belongs to a dimension or to a clique.
    Here it belongs to a dimension, unless `lengthscale_per_clique`.
    """

    has_lengthscale = True

    def __init__(
        self,
        cliques: Sequence[Sequence[int]],
        num_dims: int,
        nu: float = 2.5,
        *,
        lengthscale_per_clique: bool = False,
        lengthscale_prior: Prior | None = None,
        lengthscale_constraint: Interval | None = None,
        clique_weight_prior: Prior | None = None,
        clique_weight_constraint: Interval | None = None,
        batch_shape: torch.Size | None = None,
        active_dims: tuple[int, ...] | None = None,
    ) -> None:
        """Make a kernel of M cliques; its parameters are `lengthscale` and `clique_weight`.

        Args:
            cliques: dimensions of each, from 0 to num_dims - 1.
            num_dims: D, size of the input (of its active dimensions).
            nu: 2.5, Matérn-5/2; or infinity, the radial basis function.
            lengthscale_per_clique: one lengthscale for each clique and dimension of it, clique
                after clique: [*batch, 1, E], else [*batch, 1, D]. Memory then grows as N E.
            lengthscale_prior: as for any kernel of GPyTorch.
            lengthscale_constraint: likewise; positive by default.
            clique_weight_prior: prior of `clique_weight` [*batch, M].
            clique_weight_constraint: constraint of `clique_weight`; positive by default.
            batch_shape: batch shape of the parameters.
            active_dims: dimensions of the input that the kernel uses.

        Raises:
            ConfigError: cliques, num_dims or nu are not allowed.
        """
        members = checked_cliques(cliques, num_dims)
        if nu not in (2.5, math.inf):
            raise ConfigError(f"{ERROR_OWNER}.nu", nu, "2.5 or infinity")
        super().__init__(
            ard_num_dims=num_dims,
            batch_shape=batch_shape,
            active_dims=active_dims,
            lengthscale_prior=lengthscale_prior,
            lengthscale_constraint=lengthscale_constraint,
        )
        self.cliques = members
        self.nu = nu
        self._entries: Tensor | None = None
        if lengthscale_per_clique:
            self._entries = torch.tensor([one for clique in members for one in clique])
            shape = (*self.batch_shape, 1, len(self._entries))
            self.raw_lengthscale = torch.nn.Parameter(torch.zeros(shape))
            # Each clique has dimensions of its own in the expanded input.
            ends = torch.tensor([len(clique) for clique in members]).cumsum(0).tolist()
            members = tuple(
                tuple(range(end - len(clique), end))
                for end, clique in zip(ends, members, strict=True)
            )
        self._layout = CliqueLayout.of(members)
        self.register_parameter(
            "raw_clique_weight",
            torch.nn.Parameter(torch.zeros(*self.batch_shape, len(members))),
        )
        self.register_constraint("raw_clique_weight", clique_weight_constraint or Positive())
        if clique_weight_prior is not None:
            self.register_prior(
                "clique_weight_prior", clique_weight_prior, _weight_of, _set_weight_of
            )
        initial = torch.full_like(self.raw_clique_weight, 1.0 / len(members))
        if bool(self.raw_clique_weight_constraint.check(initial)):
            self.clique_weight = initial

    @property
    def clique_weight(self) -> Tensor:
        """Variances [*batch, M] of the cliques."""
        weight: Tensor = self.raw_clique_weight_constraint.transform(self.raw_clique_weight)
        return weight

    @clique_weight.setter
    def clique_weight(self, value: Tensor | float) -> None:
        tensor = torch.as_tensor(value).to(self.raw_clique_weight)
        self.initialize(
            raw_clique_weight=self.raw_clique_weight_constraint.inverse_transform(tensor)
        )

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any) -> Tensor:
        """Return [..., N, M], or [..., N] for the diagonal.

        Args:
            x1: [..., N, D], float32 or float64.
            x2: [..., M, D].
            diag: only entries (i, i).
            params: none is known.

        Raises:
            RequestError: an input is not finite, not [..., D], or neither float32 nor float64; or
                `last_dim_is_batch` is set.
        """
        if params.get("last_dim_is_batch"):
            raise RequestError(
                f"{ERROR_OWNER} has no last_dim_is_batch: a clique is not one dimension"
            )
        for name, value in (("x1", x1), ("x2", x2)):
            self._check_input(name, value)
        same = _are_one(x1, x2)
        u1, u2 = self._scaled(x1, x2)
        smooth = self.nu == math.inf
        weights = self.clique_weight.to(u1.dtype)
        common: Any = torch.broadcast_shapes
        leading = common(u1.shape[:-2], u2.shape[:-2], weights.shape[:-1])
        weights = weights.expand(*leading, weights.shape[-1])
        if diag and same:
            return weights.sum(-1, keepdim=True).expand(*leading, u1.shape[-2])
        u1, u2 = (each.expand(*leading, *each.shape[-2:]) for each in (u1, u2))
        if diag:
            # The diagonal as a batch of single pairs.
            shares = weights.unsqueeze(-2).expand(*u1.shape[:-1], weights.shape[-1])
            ours, theirs = u1.unsqueeze(-2), u2.unsqueeze(-2)
            found = torch_clique_sum(ours, theirs, shares, self._layout, smooth=smooth)
            return found.squeeze(-1).squeeze(-1)
        if not all(bool(torch.isfinite(each).all()) for each in (u1, u2, weights)):
            # NaN, as from other kernels of GPyTorch: the model then raises its own error.
            return u1.new_full((*leading, u1.shape[-2], u2.shape[-2]), math.nan)
        return covariances(u1, None if same else u2, weights, self._layout, smooth=smooth)

    def _scaled(self, x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
        """Return both inputs over lengthscales, about a common centre, in one precision."""
        centre = x1.detach().reshape(-1, x1.shape[-1]).mean(0)
        scaled = []
        for each in (x1, x2):
            shifted = each - centre
            if self._entries is not None:
                shifted = shifted[..., self._entries.to(each.device)]
            scaled.append(shifted / self.lengthscale)
        dtype = torch.promote_types(scaled[0].dtype, scaled[1].dtype)
        return scaled[0].to(dtype), scaled[1].to(dtype)

    def _check_input(self, name: str, value: Tensor) -> None:
        if value.dtype not in (torch.float32, torch.float64):
            raise RequestError(
                f"{name} of {ERROR_OWNER} is of type {value.dtype}; expected float32 or float64"
            )
        if value.shape[-1] != self.ard_num_dims:
            raise RequestError(
                f"{name} of {ERROR_OWNER} has {value.shape[-1]} dimensions; "
                f"expected {self.ard_num_dims}"
            )
        wrong = ~torch.isfinite(value.detach())
        if bool(wrong.any()):
            place = tuple(wrong.nonzero()[0].tolist())
            raise RequestError(
                f"{name} of {ERROR_OWNER} is {value[place].item()} at {place}; "
                "expected finite numbers"
            )


def checked_cliques(cliques: Sequence[Sequence[int]], num_dims: int) -> tuple[tuple[int, ...], ...]:
    """Return cliques as tuples of integers.

    Raises:
        ConfigError: there is no clique; one is empty, repeats a dimension, leaves the range 0 to
            num_dims - 1 or occurs twice; or num_dims is no positive integer.
    """
    if type(num_dims) is not int or num_dims < 1:
        raise ConfigError(f"{ERROR_OWNER}.num_dims", num_dims, "an integer >= 1")
    field = f"{ERROR_OWNER}.cliques"
    if not len(cliques):
        raise ConfigError(field, cliques, "at least one clique")
    seen: set[frozenset[int]] = set()
    found = []
    for clique in cliques:
        try:
            members = tuple(operator.index(member) for member in clique)
        except TypeError:
            raise ConfigError(field, clique, "cliques that are sequences of integers") from None
        if not members or len(set(members)) != len(members):
            raise ConfigError(field, members, "cliques of at least one dimension, each once")
        if min(members) < 0 or max(members) >= num_dims:
            raise ConfigError(field, members, f"dimensions from 0 to {num_dims - 1}")
        if frozenset(members) in seen:
            raise ConfigError(
                field, members, "each clique once; its weight says how much it counts"
            )
        seen.add(frozenset(members))
        found.append(members)
    return tuple(found)


def _are_one(x1: Tensor, x2: Tensor) -> bool:
    """Return whether both are the same points, without separate derivatives."""
    if x1 is x2:
        return True
    if x1.requires_grad or x2.requires_grad or x1.shape != x2.shape or x1.dtype != x2.dtype:
        return False
    return torch.equal(x1, x2)


def _weight_of(kernel: AdditiveCliqueKernel) -> Tensor:
    return kernel.clique_weight


def _set_weight_of(kernel: AdditiveCliqueKernel, value: Tensor) -> None:
    kernel.clique_weight = value
