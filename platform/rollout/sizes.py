"""Sizes of rollouts, in one table: how many episodes run at once, and how batches are cut.

None of them changes a return: it depends on weights and seed alone.
"""

from typing import Final

# Scripts play as many at once, in a room below this one.
from rolecast.core.types import BATCHED_LANES as BATCHED_LANES
from rolecast.core.types import COMPILED_LANES as COMPILED_LANES

KEPT_STEPS: Final = 2**20
"""Steps of a compiled simulator whose rewards are kept until they are paid: 16 MiB."""

CALL_SECONDS: Final = 0.05
"""Aimed duration of a chunk: long beside a message to an actor, short beside a batch."""

LIGHT_BATCH_S: Final = 0.1
"""Computing time below which a batch of a compiled task stays in the driver's process: messages to
actors would take as long."""

LEAST_EPISODES: Final = 4
"""Least episodes in a chunk of a task that is not compiled, towards the end of a batch; fewer where
these take longer than `CALL_SECONDS`."""

MOST_EPISODES: Final = 64
"""Most episodes in such a chunk: the one at fault is found by playing each alone."""

RECORDED_COMPILED: Final = 64
"""Episodes in a chunk of a compiled task whose observations are recorded."""

RECORDED_BATCHED: Final = 4
"""The same of any other task, all of one candidate. What is recorded depends on these two."""

DIRECT_WORKERS: Final = 64
"""Most rollout actors that a driver gives chunks itself; more of them get dispatchers, where a task
is compiled and the search not asynchronous. A dispatcher has its share of a batch at once and
answers at the end, so it suits episodes that last equally long."""

DISPATCHED_WORKERS: Final = 128
"""Most rollout actors of a dispatcher: a driver pays for each dispatcher in each batch."""
