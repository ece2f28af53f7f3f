"""Causal graphs as data, interventions on them, and tasks whose reward is a node of a graph."""
