"""Which prompt tokens were reused, scheduled and repeated."""
