"""Adapters of users' environments: Gymnasium, PettingZoo and Python, as batched tasks."""
