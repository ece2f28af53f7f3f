"""COMIX: monotonically mixed Q-learning with continuous actions (Peng et al. 2020)."""
