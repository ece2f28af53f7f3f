"""Optimisers, with and without structure, on functions and on policies."""
