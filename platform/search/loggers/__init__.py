"""Who is told of searches and trials beside the run folder: Weights & Biases, MLflow, the user."""
