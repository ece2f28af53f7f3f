"""The ground floor: what every room stands on, and which knows nothing of the rest."""
