"""Model-based causal Bayesian optimisation: a Gaussian process a node, optimistic rollouts."""
