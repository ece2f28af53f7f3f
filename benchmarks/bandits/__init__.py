"""Measurements of distributed bandits: the figure of the paper, and growth with T and N."""
