"""Distributed bandits: several agents maximise one function, and what they send is counted."""
