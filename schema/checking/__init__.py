"""Whether a run keeps its schema and its ledgers, and what can be mended of one that was killed."""
