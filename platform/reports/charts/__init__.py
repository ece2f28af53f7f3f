"""Interactive charts in a report: numbers as JSON, drawn by uPlot in the reader's browser."""
