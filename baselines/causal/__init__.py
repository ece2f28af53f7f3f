"""Rivals of MCBO on causal graphs, each with the same initial design and observations."""
