"""A comparison in one seed: the real trials, their folders and their driver, and their faults."""
