"""Env steps a second of our tasks beside the same tasks elsewhere."""
