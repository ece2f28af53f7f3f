"""G2ANet: agents that attend to each other's observations as they act (Liu et al. 2020)."""
