"""What rolecast is compared with: RLlib algorithms, other optimisers of many dimensions."""
