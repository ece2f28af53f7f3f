"""Joins a task and a policy to returns: the one way anything here evaluates a policy."""
