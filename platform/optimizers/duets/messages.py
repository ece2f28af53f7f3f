"""Messages of the paper, the only data that travel."""

from dataclasses import dataclass

from rolecast.core.types import Float


@dataclass(frozen=True)
class InducingSet:
    """Downlink: the inducing points S_j, which the server broadcasts."""

    run: str
    """Name of the run."""

    epoch: int
    """From 1."""

    points: Float
    """S_j [S, d]."""

    @property
    def reals(self) -> int:
        """Real numbers that travel."""
        return self.points.size


@dataclass(frozen=True)
class Projection:
    """Uplink: one agent's values, projected on the inducing points (equation 7)."""

    run: str
    """Name of the run."""

    epoch: int
    """From 1."""

    agent: int
    """Number of the agent, from 0."""

    values: Float
    """v_j^(n) [S]."""

    @property
    def reals(self) -> int:
        """Real numbers that travel."""
        return self.values.size


@dataclass(frozen=True)
class Aggregate:
    """Downlink: the sparse posterior mean of all agents' values (equation 8) and s_max."""

    run: str
    """Name of the run."""

    epoch: int
    """From 1."""

    coefficients: Float
    """Vector [S] in the basis of the inducing features."""

    largest_deviation: float
    """s_max, the greatest posterior standard deviation in the region."""

    @property
    def reals(self) -> int:
        """Real numbers that travel."""
        return self.coefficients.size + 1
