"""Everything that differs between vLLM versions, behind names that the policies and the recorder share."""
