"""How full rounds are, and why their slots stayed empty."""
