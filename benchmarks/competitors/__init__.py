"""Optimisers on functions with published results."""
