"""Rivals of DUETS under the same engine and ledger; departures are in README.md."""
