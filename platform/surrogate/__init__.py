"""Gaussian-process surrogates: kernels, posterior, evidence."""
