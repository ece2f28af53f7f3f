"""Bayesian optimisation in a trust region, with a Gaussian process of the latest returns."""
