"""Sums of kernels over cliques of dimensions: compiled, on CUDA, in torch, and for GPyTorch."""
