"""What a round costs, and where a difference of cost comes from."""
