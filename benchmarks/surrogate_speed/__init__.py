"""Time and memory of the surrogate beside GPyTorch and BoTorch."""
