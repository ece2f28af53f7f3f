"""What a search leaves behind: batches, journal, run folder, and what is measured of them."""
