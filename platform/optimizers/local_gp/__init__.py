"""Bayesian optimisation in a trust region, by a Gaussian process of the latest returns."""
