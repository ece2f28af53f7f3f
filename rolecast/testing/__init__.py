"""Contract tests that authors of plug-ins inherit; they run under pytest and need nothing of it."""

from rolecast.testing.optimizers import OptimizerContract
from rolecast.testing.policies import PolicyContract
from rolecast.testing.tasks import TaskContract

__all__ = ["OptimizerContract", "PolicyContract", "TaskContract"]
