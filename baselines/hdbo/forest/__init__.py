"""Bayesian optimisation by a sum over the edges of a forest of dimensions."""
