"""Contract tests that authors of plug-ins inherit; they run under pytest and need nothing of it."""

from rolecast.testing.optimizers import OptimizerContract

__all__ = ["OptimizerContract"]
