"""Sparse, delayed and malformed rewards, paid in place of the earned ones."""
