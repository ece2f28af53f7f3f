"""What an epoch costs the server of DUETS: time and memory against its N T_j points."""

import time
import tracemalloc
from typing import Final

import numpy as np

from rolecast.platform.optimizers.duets.domain import Box
from rolecast.platform.optimizers.duets.kernel import StationaryKernel
from rolecast.platform.optimizers.duets.messages import Projection
from rolecast.platform.optimizers.duets.protocol import DuetsProtocol
from rolecast.platform.optimizers.duets.server import Server

SERVER_AGENTS: Final = 10
"""N; the cost depends on N T_j alone, but for the adding of N vectors."""

SERVER_DRAWS: Final = (10, 30, 100, 150, 300, 1000, 3000, 10_000)
"""T_j of the first epoch. Up to N T_j = 1,500 the whole covariance is factored."""

BYTES_PER_MIB: Final = 1 << 20


def server_epoch(protocol: DuetsProtocol) -> int:
    """Let a server do all of a first epoch, with agents that send zeros; return |S|."""
    server = Server(protocol)
    inducing = server.inducing_set()
    silence = np.zeros(len(inducing.points))
    server.aggregate(
        [Projection(protocol.run, 1, agent, silence) for agent in range(protocol.agents)]
    )
    return len(inducing.points)


def server_cost(dimension: int, draws: int, seed: int, lengthscale: float) -> dict[str, float]:
    """Return seconds of one core, the peak of memory in MiB, and |S|, of one epoch."""
    protocol = DuetsProtocol(
        domain=Box.unit(dimension),
        kernel=StationaryKernel("squared_exponential", lengthscale),
        agents=SERVER_AGENTS,
        rounds=draws + 1,
        seed=seed,
        first_epoch=draws,
    )
    start = time.process_time()
    inducing = server_epoch(protocol)
    seconds = time.process_time() - start
    tracemalloc.start()  # NumPy tells it of its arrays; it slows what is timed
    server_epoch(protocol)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"seconds": seconds, "memory_mib": peak / BYTES_PER_MIB, "inducing": inducing}
