"""Interactions of dimensions, from Hessians of a policy or from returns, and their cliques."""
