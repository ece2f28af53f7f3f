"""Ask/tell optimisers of the unit cube, and their registry."""
