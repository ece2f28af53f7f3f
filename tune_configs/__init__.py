"""Experiments as data: one frozen dataclass value each."""
