"""Competitors of the search: Bayesian optimisation in many dimensions, by other authors."""
