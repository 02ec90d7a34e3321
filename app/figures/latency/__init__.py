"""How long requests took, and how that changes with the load."""
