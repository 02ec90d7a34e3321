"""Which waiting requests may be scanned in a round at all."""
