"""What follows a search: export to a device, and the proof that a device does the same."""
