"""The report of a comparison: curves, tables, statistics, and the paper's figures beside ours."""
