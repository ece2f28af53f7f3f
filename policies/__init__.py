"""Compact policies: parameter vector, MLP and role-based (HOM) policies, and the artefact."""
