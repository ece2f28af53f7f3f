"""Measurements that the documentation quotes, each made again by one command."""
