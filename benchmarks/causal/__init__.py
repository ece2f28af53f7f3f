"""What causal searches find and how fast they think: `rolecast bench causal`."""
