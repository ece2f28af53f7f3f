"""Annealed coordinate ascent on sums of products: a global maximiser of what a clique sum predicts.

Each term of the function is a sum of products of functions of one dimension. So one dimension's
best value, given all others, costs one product of matrices for each term that holds it, whatever D.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.platform.optimizers.dss_gp_ucb.constants import GLOBAL_CONSTANTS


@dataclass(frozen=True, kw_only=True)
class KernelTerms:
    """Terms of a sum kernel: w_c exp(-|x_c - x'_c|^2 / (2 l_c^2)) over the dimensions of each."""

    cliques: Sequence[Sequence[int]]
    """Dimensions of each term."""

    lengthscales: Float
    """[C]."""

    weights: Float
    """[C], of sum 1."""

    @cached_property
    def holding(self) -> dict[int, list[tuple[int, int]]]:
        """Terms that hold a dimension, each with the dimension's place in it."""
        found: dict[int, list[tuple[int, int]]] = {}
        for term, clique in enumerate(self.cliques):
            for place, dimension in enumerate(clique):
                found.setdefault(int(dimension), []).append((term, place))
        return found


@dataclass(frozen=True, kw_only=True)
class SumOfProducts:
    """R functions, each a sum over terms of kernel products and of waves.

    f_r(x) = sum_c [w_c sum_n A_rn k_c(x, X_n) + Re sum_f B_crf exp(i x_c . omega_cf)].
    """

    terms: KernelTerms
    points: Float
    """X [N, D]."""

    coefficients: Float
    """A [R, N]."""

    frequencies: Sequence[Float]
    """omega: for each term [its dimensions, F]; F may be 0."""

    amplitudes: Sequence[NDArray[np.complex128]]
    """B: for each term [R, F]."""


class TermAscent:
    """Maximisation of R functions at once over the unit cube, one dimension after another."""

    def __init__(self, functions: SumOfProducts) -> None:
        self._functions = functions
        self._grid = np.linspace(0.0, 1.0, GLOBAL_CONSTANTS.grid_values)
        self._tables: dict[tuple[int, float], Float] = {}

    def maximise(
        self, starts: Float, rng: np.random.Generator, *, temperature: float, annealed: bool
    ) -> Float:
        """Return points [R, D] of great value.

        Args:
            starts: [R, D].
            rng: draws values while annealing, and orders dimensions.
            temperature: unit of the temperatures, the deviation of one term.
            annealed: draw values first; else only climb from the starts.
        """
        places = np.rint(starts * (GLOBAL_CONSTANTS.grid_values - 1)).astype(np.int64)
        self._begin(self._grid[places])
        sweeps = GLOBAL_CONSTANTS.annealing_sweeps if annealed else 0
        for heat in temperature * np.geomspace(
            GLOBAL_CONSTANTS.first_temperature, GLOBAL_CONSTANTS.last_temperature, sweeps
        ):
            for dimension in rng.permutation(places.shape[1]):
                line = self._line(dimension) / heat
                line += rng.gumbel(size=line.shape)  # The greatest is then a draw from softmax.
                self._move(dimension, self._grid[line.argmax(1)])
        for sweep in range(GLOBAL_CONSTANTS.greedy_sweeps):
            for dimension in rng.permutation(places.shape[1]):
                line = self._line(dimension)
                refined = sweep == GLOBAL_CONSTANTS.greedy_sweeps - 1
                self._move(dimension, vertex(line) if refined else self._grid[line.argmax(1)])
        return self._places.copy()

    def _begin(self, places: Float) -> None:
        """Store the current points [R, D], and the products of each term there."""
        terms, rows = self._functions.terms, len(places)
        self._places = places.copy()
        self._products = [np.ones((rows, len(self._functions.points))) for _ in terms.cliques]
        self._waves: list[Any] = [np.array(each) for each in self._functions.amplitudes]
        for term, clique in enumerate(terms.cliques):
            for dimension in clique:
                self._products[term] *= self._kernel(term, dimension, places[:, dimension])
            turned = places[:, clique] @ self._functions.frequencies[term]
            self._waves[term] *= np.exp(1j * turned)

    def _line(self, dimension: int) -> Float:
        """Return the value [R, G] of each function along a dimension, up to a constant."""
        functions = self._functions
        line = np.zeros((len(self._places), GLOBAL_CONSTANTS.grid_values))
        for term, place in functions.terms.holding.get(int(dimension), []):
            here = self._places[:, dimension]
            others = self._products[term] / self._kernel(term, dimension, here)
            others *= functions.coefficients
            weight = functions.terms.weights[term]
            line += weight * (others @ self._table(term, dimension).T)
            frequencies = functions.frequencies[term][place]
            if len(frequencies):
                others = self._waves[term] * np.exp(-1j * np.outer(here, frequencies))
                table = np.exp(1j * np.outer(frequencies, self._grid))
                line += others.real @ table.real - others.imag @ table.imag
        return line

    def _move(self, dimension: int, values: Float) -> None:
        """Set one dimension of the points to values [R]."""
        functions = self._functions
        here = self._places[:, dimension].copy()
        for term, place in functions.terms.holding.get(int(dimension), []):
            self._products[term] *= self._kernel(term, dimension, values) / self._kernel(
                term, dimension, here
            )
            frequencies = functions.frequencies[term][place]
            self._waves[term] *= np.exp(1j * np.outer(values - here, frequencies))
        self._places[:, dimension] = values

    def _table(self, term: int, dimension: int) -> Float:
        """Return the factor [G, N] of a dimension in a term, at the grid's values."""
        lengthscale = float(self._functions.terms.lengthscales[term])
        key = (int(dimension), lengthscale)
        if key not in self._tables:
            shifts = self._grid[:, None] - self._functions.points[:, dimension]
            self._tables[key] = np.exp(-0.5 * np.square(shifts / lengthscale))
        return self._tables[key]

    def _kernel(self, term: int, dimension: int, values: Float) -> Float:
        """Return the factor [R, N] of a dimension in a term, at values [R]."""
        places = values * (GLOBAL_CONSTANTS.grid_values - 1)
        nearest = np.rint(places).astype(np.int64)
        if np.array_equal(self._grid[nearest], values):
            return np.asarray(self._table(term, dimension)[nearest])
        lengthscale = self._functions.terms.lengthscales[term]
        shifts = values[:, None] - self._functions.points[:, dimension]
        return np.asarray(np.exp(-0.5 * np.square(shifts / lengthscale)))


def vertex(line: Float) -> Float:
    """Return the place in [0, 1] of the maximum of each row [R] of values [R, G] on the grid.

    A parabola through the best value and its neighbours; at a bound, the bound itself.
    """
    rows, best = np.arange(len(line)), line.argmax(1)
    inner = np.clip(best, 1, line.shape[1] - 2)
    left, middle, right = (line[rows, inner + shift] for shift in (-1, 0, 1))
    curvature = left - 2.0 * middle + right
    bent = (curvature < 0.0) & (best == inner)
    shift = np.where(bent, 0.5 * (left - right) / np.where(bent, curvature, 1.0), 0.0)
    return np.asarray((best + np.clip(shift, -0.5, 0.5)) / (line.shape[1] - 1))
