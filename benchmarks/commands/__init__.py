"""The commands of `rolecast bench`."""
