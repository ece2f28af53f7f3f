"""The main table: every optimiser on every task at every budget."""
