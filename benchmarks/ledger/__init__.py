"""The ledger of the baselines: each where it is known what it should reach."""
