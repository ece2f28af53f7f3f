"""Sparse, delayed and malformed reward: what a learner is paid in place of what it has earned."""
