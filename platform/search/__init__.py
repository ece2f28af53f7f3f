"""The search: loop, seeds, budget, history and run folder."""
