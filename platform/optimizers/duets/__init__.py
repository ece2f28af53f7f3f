"""DUETS: distributed uniform exploration of trimmed sets (Pavlovic, Salgia and Zhao, 2024)."""
