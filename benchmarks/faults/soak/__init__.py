"""Real processes on a real cluster of this machine, killed at random until the time is over."""
