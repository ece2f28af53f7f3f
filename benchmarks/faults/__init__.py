"""A search and all it stands on in one seed: simulated actors, clock and disk, and their faults."""
