"""What causal searches find, and the time of their proposals: `rolecast bench causal`."""
