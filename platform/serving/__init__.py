"""The policy of a run as a service on Ray Serve."""
