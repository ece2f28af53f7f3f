"""DSS-GP-UCB: the local search whose surrogate carries structure, and the paper's global one."""
