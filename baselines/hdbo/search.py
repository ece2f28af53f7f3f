"""The loop that competitors with one global process share: design, process, proposal, incumbent."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from botorch.models import SingleTaskGP
from gpytorch.kernels import Kernel
from scipy.stats import qmc

from rolecast.baselines.hdbo.record import Record
from rolecast.baselines.hdbo.surrogate import Surrogate, SurrogateConfig, posterior_mean
from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.platform.optimizers.observations import require_batch


@dataclass(frozen=True)
class Beliefs:
    """What a method sees when it proposes; d inputs of the process."""

    model: SingleTaskGP
    inputs: Float
    """[N, d], of the evaluations in the process."""

    means: Float
    """[N], posterior means at the inputs, standardised."""

    best: Float
    """[d], the input of highest posterior mean."""

    pending: Float
    """[K, d], pending candidates."""

    told: int
    """Evaluations so far, those outside the process included."""


class Method(Protocol):
    """How one competitor models and proposes."""

    def kernel(self) -> Kernel | None:
        """Return a fresh kernel; None: BoTorch's default."""

    def design(self, q: int, rng: np.random.Generator) -> Float:
        """Return q points [q, D] of the first design."""

    def inputs(self, points: Float) -> Float:
        """Map points [N, D] to inputs [N, d] of the process."""

    def propose(self, beliefs: Beliefs, q: int, rng: np.random.Generator) -> Float:
        """Return q points [q, D]."""

    def state_dict(self) -> dict[str, Any]:
        """Return its state of draws and memory, as arrays and JSON values."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Replace it."""


class Plain:
    """The parts of a method that works in the cube itself and remembers nothing."""

    def __init__(self, dimension: int) -> None:
        if dimension < 1:
            raise ConfigError("optimizer.dimension", dimension, "an integer >= 1")
        self.dimension = dimension

    def kernel(self) -> Kernel | None:
        """Return None: BoTorch's default."""
        return None

    def design(self, q: int, rng: np.random.Generator) -> Float:
        """Return a Latin hypercube [q, D]."""
        return np.asarray(qmc.LatinHypercube(self.dimension, rng=rng).random(q))

    def inputs(self, points: Float) -> Float:
        """Return the points."""
        return points

    def state_dict(self) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take in nothing."""


class SurrogateSearch:
    """Asks for a design first, then for what the method proposes in view of the process."""

    def __init__(
        self, config: SurrogateConfig, method: Method, *, dimension: int, seed: int, initial: int
    ) -> None:
        self._method, self._initial = method, config.initial or initial
        self._record = Record(dimension, seed)
        self._surrogate = Surrogate(config, method.kernel)

    def ask(self, q: int) -> Float:
        """Return q points [q, D]."""
        count, rng = require_batch(q), self._record.generator()
        asked = len(self._record) + len(self._record.pending)
        if asked < self._initial or not len(self._record):
            return self._record.asked(self._method.design(count, rng), rng)
        beliefs = self._beliefs()
        self._surrogate.commit()
        return self._record.asked(self._method.propose(beliefs, count, rng), rng)

    def forget_pending(self) -> None:
        """Forget candidates that will not be told."""
        self._record.forget_pending()

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Take in evaluations."""
        self._record.told(candidates, returns, stderrs)

    def best(self) -> Float:
        """Return the evaluated point of highest posterior mean."""
        self._record.require_told()
        model, rows, inputs = self._model()
        means = posterior_mean(model, inputs[rows])
        return np.array(self._record.data.candidates[rows[int(np.argmax(means))]])

    def _model(self) -> tuple[SingleTaskGP, Any, Float]:
        data = self._record.data
        inputs = self._method.inputs(data.candidates)
        model, rows = self._surrogate.model(inputs, data.returns, data.stderrs)
        return model, rows, inputs

    def _beliefs(self) -> Beliefs:
        model, rows, inputs = self._model()
        means = posterior_mean(model, inputs[rows])
        return Beliefs(
            model=model,
            inputs=inputs[rows],
            means=means,
            best=inputs[rows[int(np.argmax(means))]],
            pending=self._method.inputs(self._record.pending),
            told=len(self._record),
        )

    def state_dict(self) -> dict[str, Any]:
        """Return points, hyperparameters and what the method remembers."""
        return {
            "record": self._record.state_dict(),
            "surrogate": self._surrogate.state_dict(),
            "method": self._method.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._record.load_state_dict(state["record"])
        self._surrogate.load_state_dict(state["surrogate"])
        self._method.load_state_dict(state["method"])
