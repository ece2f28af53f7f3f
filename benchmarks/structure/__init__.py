"""Whether the structure that searches find is stable, and true."""
