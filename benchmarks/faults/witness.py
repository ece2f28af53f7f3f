"""An optimiser that remembers all: one bit of what it was told or asked changes its answers.

Of use to nobody but a test of whoever tells it: a batch that is skipped, repeated, cut or told in
another order shows in the next candidates.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.platform.optimizers.protocol import Proposal

if TYPE_CHECKING:
    from rolecast.policies.protocol import Policy


@dataclass(frozen=True, kw_only=True)
class WitnessConfig:
    """Settings of the witness."""

    design: int = 0
    """Candidates of its initial design."""

    cliques: tuple[tuple[int, ...], ...] = ()
    """Structure that was found at the design."""

    def build(self, *, dimension: int, seed: int) -> "Witness":
        """Return a witness of nothing yet."""
        return Witness(self, dimension, seed)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Return a division of any budget."""
        del budget_episodes
        return Proposal(episodes=2, batch_size=3)

    def initial_design(self, *, dimension: int, seed: int) -> Float | None:
        """Return the initial design."""
        design = np.random.default_rng(seed).random((self.design, dimension))
        return design if self.design else None

    def find_structure(
        self, policy: "Policy", candidates: Float, observations: Float
    ) -> dict[str, Any] | None:
        """Return cliques that depend on all that was met."""
        del policy
        met = hashlib.blake2b(candidates.tobytes() + observations.tobytes()).digest()
        return {"cliques": [[met[0] % candidates.shape[1], met[1] % candidates.shape[1]]]}

    def with_structure(self, structure: Mapping[str, Any]) -> "WitnessConfig":
        """Return the settings with cliques."""
        return replace(self, cliques=tuple(tuple(each) for each in structure["cliques"]))


class Witness:
    """The digest of all that it was told and asked, and candidates drawn from it."""

    def __init__(self, config: WitnessConfig, dimension: int, seed: int) -> None:
        self._dimension = dimension
        self._digest = hashlib.blake2b(repr((config.cliques, dimension, seed)).encode()).digest()
        self._best = np.zeros(dimension)
        self._best_return = float("-inf")
        self._rows = np.zeros(0, dtype=np.int64)

    def pace(self, spent: float) -> None:
        """Remember the share of the budget."""
        self._remember(repr(spent).encode())

    def ask(self, q: int) -> Float:
        """Return candidates [q, D] drawn from the digest; some meet the episodes of another."""
        self._remember(b"ask %d" % q)
        rng = np.random.default_rng(np.frombuffer(self._digest, dtype=np.uint64))
        self._rows = np.minimum(np.arange(q), rng.integers(0, q, size=q))
        return rng.random((q, self._dimension))

    def episode_rows(self) -> NDArray[np.int64]:
        """Return the rows [q] whose episodes are met."""
        return self._rows

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Remember everything."""
        for each in (candidates, returns, stderrs):
            self._remember(b"none" if each is None else np.ascontiguousarray(each).tobytes())
        if returns.max() > self._best_return:
            self._best_return = float(returns.max())
            self._best = np.array(candidates[returns.argmax()])

    def best(self) -> Float:
        """Return the candidate [D] of the best return."""
        return self._best

    def explain(self) -> dict[str, float]:
        """Return a number of the digest."""
        return {"digest": float(self._digest[0])}

    def episodes(self, planned: int) -> int:
        """Return fewer episodes than planned, at times."""
        return 1 + self._digest[1] % planned

    def state_dict(self) -> dict[str, Any]:
        """Return everything."""
        return {
            "digest": self._digest.hex(),
            "best": self._best.copy(),
            "best_return": self._best_return if np.isfinite(self._best_return) else None,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore everything."""
        self._digest = bytes.fromhex(state["digest"])
        self._best = np.array(state["best"])
        self._best_return = float("-inf")
        if state["best_return"] is not None:
            self._best_return = float(state["best_return"])

    def _remember(self, data: bytes) -> None:
        self._digest = hashlib.blake2b(self._digest + data).digest()
